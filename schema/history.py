"""Evaluations as events, the values that they gave, and the state of scores that somebody accepted."""

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, optional, reference, required

evaluations = sa.Table(
    "evaluations",
    metadata,
    key_column("evaluation_id", "ours, rising with time, also where a clock goes back"),
    reference("benchmark", "benchmarks.name", role="required", type_=sa.Text),
    reference("run_id", "runs.run_id", " that was scored; null once it is removed", role="optional"),
    required("run_digest", sa.Text, "digest of all that decides the run's answers, as in runs"),
    required("system", sa.Text, "what answered, as in runs"),
    required("mode", sa.Text, "as in runs"),
    required(
        "line", sa.Text, "sha256 of system, mode and settings: runs of one line are one curve of the history"
    ),
    required("is_newest", sa.Boolean, "whether the run was the newest of its line"),
    required("evaluated_at", sa.DateTime(timezone=True), "when"),
    required("code_version", sa.Text, "version of Pinakes that scored"),
    required("code_digest", sa.Text, "sha256 over the modules that score"),
    required("view_digest", sa.Text, "digest of the benchmark's definition at the time"),
    required("judgments_digest", sa.Text, "of the judgments, labels or clusters that were scored by"),
    required("judgments", sa.BigInteger, "how many of them there were"),
    required(
        "queries_digest", sa.Text, "of the queries with their groups, and of what else scores depend on"
    ),
    required(
        "papers_removed", sa.BigInteger, "papers of the corpus removed until then: ranked ones may be gone"
    ),
    required("measures_digest", sa.Text, "sha256 over the names of the measures"),
    required("dataset_digest", sa.Text, "of the run: its queries, candidates and their texts"),
    optional("encoder_revision", sa.Text, "of the run"),
    required("run_code_version", sa.Text, "version of Pinakes that made the run"),
    comment="Every evaluation of a run: when, and by what.",
)

evaluation_scores = sa.Table(
    "evaluation_scores",
    metadata,
    reference("evaluation_id", "evaluations.evaluation_id"),
    key_column("measure", "as in scores", sa.Text),
    key_column("subset", "as in scores", sa.Text),
    required("value", sa.Double, "as in scores"),
    required("queries_expected", sa.Integer, "as in scores"),
    required("queries_answered", sa.Integer, "as in scores"),
    comment="The values of subsets that an evaluation gave, where they are new or others than before.",
)

accepted_scores = sa.Table(
    "accepted_scores",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("line", "as in evaluations", sa.Text),
    key_column("measure", "as in scores, over all queries", sa.Text),
    required("value", sa.Double, "what `pinakes evaluate --fail-on-drop` compares with"),
    required("queries_expected", sa.Integer, "as in scores"),
    required("queries_answered", sa.Integer, "as in scores"),
    reference("evaluation_id", "evaluations.evaluation_id", " that gave the value", role="required"),
    required("accepted_at", sa.DateTime(timezone=True), "when it was accepted"),
    required("by_itself", sa.Boolean, "whether it is a first value, which nobody accepted"),
    comment="The accepted value of each measure of each line, over all queries.",
)

accepted_query_scores = sa.Table(
    "accepted_query_scores",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("line", "as in evaluations", sa.Text),
    key_column("measure", "as in scores", sa.Text),
    key_column("query_id", "as in scores", sa.Text),
    required("value", sa.Double, "as in scores"),
    info=BULK,
    comment="The accepted values of single queries, for paired tests.",
)

accepted_judgments = sa.Table(
    "accepted_judgments",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("judgments_digest", "as in evaluations", sa.Text),
    key_column("query_id", "the query, or the paper that has a label", sa.Text),
    required("judged", sa.Text, "its judgments: item and value, after each a control code (30 and 31)"),
    info=BULK,
    comment="The judgments that accepted values were computed by, to count what changed.",
)

paper_removals = sa.Table(
    "paper_removals",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    required("papers", sa.BigInteger, "how many"),
    comment="How many papers of a corpus were removed after they were loaded: runs may have ranked them.",
)
