"""What was tried when a system's parameters were tuned on a benchmark's validation queries, and what won."""

import sqlalchemy as sa

from pinakes.schema.base import key_column, metadata, required

tuned_parameters = sa.Table(
    "tuned_parameters",
    metadata,
    key_column("benchmark", "benchmarks.name", sa.Text),
    key_column("system", "system whose parameters these are", sa.Text),
    key_column("parameters", "JSON object of the tuned parameters: k1 and b", sa.Text),
    required("settings", sa.Text, "JSON object of what they were tuned under: analysis, text templates"),
    required("measure", sa.Text, "the measure that the choice was made by"),
    required("value", sa.Double, "its mean over the validation queries; a missing query counts as zero"),
    required("validation", sa.Text, "which queries: split=train, fold=dev, or half of the benchmark's own"),
    required("query_count", sa.Integer, "how many validation queries there were"),
    required("chosen", sa.Boolean, "whether a run takes these parameters when none are given"),
    required("dataset_digest", sa.Text, "digest over the benchmark's queries and candidates at the time"),
    required("tuned_at", sa.DateTime(timezone=True), "when the grid was finished"),
    comment="Every parameter tried by the last tuning of a system on a benchmark; one is chosen.",
)
