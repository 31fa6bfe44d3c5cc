"""Examples of query-focused summarisation: a paper, a work that it cites, and the sentences that matter.

An example is what a paper says of a work: the work's abstract is the query, the sentences of the paper's full
text (`sentences`, sections from 1, of the example's splitter) are to be labelled. Source: Ramirez-Orta et
al., ROUGE-SciQFS.
"""

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, one_of, optional, reference, required

EXAMPLE_KEY = ("paper_id", "reference_id", "producer")
"""the columns that name an example"""

_QUERIES = ("reference", "paper", "identifier", "title")


def _example_columns() -> list[sa.Column[object]]:
    return [
        reference("paper_id", "papers.paper_id", " of the paper that cites", on_delete="CASCADE"),
        reference("reference_id", "cited_references.reference_id", " of what it cites"),
        key_column("producer", "what made the examples, with its settings: summaries 1 …", sa.Text),
    ]


summary_examples = sa.Table(
    "summary_examples",
    metadata,
    *_example_columns(),
    required("query", sa.Text, "the abstract of the cited work"),
    required(
        "query_from",
        sa.Text,
        "whose abstract it is: the reference's own; of the paper that it is"
        " resolved to; of a paper with the same identifier or title, of any corpus",
    ),
    required("cited", sa.Text, "the citing contexts, each once, in the order of the mentions, one a line"),
    required("mentions", sa.Integer, "mentions of the work that have a context"),
    required("splitter", sa.Text, "producer of the paper's sentences"),
    required("sentences", sa.Integer, "sentences of the paper's sections, of that splitter"),
    required("text_digest", sa.Uuid, "md5 of the query, the contexts and the sections that it was made of"),
    one_of("query_from", _QUERIES, "summary_examples_query_check"),
    info=BULK,
    comment="What a paper says of a work that it cites: query, and the sentences to be labelled.",
)

absent_examples = sa.Table(
    "absent_examples",
    metadata,
    *_example_columns(),
    required("reason", sa.Text, "why the pair is no example: no abstract of the cited work, no context, …"),
    optional(
        "text_digest", sa.Uuid, "of an example that had too few relevant sentences: as summary_examples"
    ),
    info=BULK,
    comment="Pairs of a paper and a work that it cites which are no example, with the reason.",
)

summary_labellings = sa.Table(
    "summary_labellings",
    metadata,
    *_example_columns(),
    key_column("labeller", "as in summary_labels", sa.Text),
    required("positives", sa.Integer, "sentences that it takes to be relevant; may be 0"),
    info=BULK,
    comment="Which examples a labeller has labelled, and how many sentences it took to be relevant.",
)

summary_labels = sa.Table(
    "summary_labels",
    metadata,
    *_example_columns(),
    key_column("labeller", "what says so, with its settings: citing exact, greedy rouge2 f …", sa.Text),
    key_column("section_number", "sentences.section_number", sa.Integer),
    key_column("position", "sentences.position", sa.Integer),
    optional("step", sa.Integer, "of an augmentation: in which step it was added, from 1"),
    optional(
        "score", sa.Double, "of an alignment: how alike the two are; of a step: the summary's ROUGE behind it"
    ),
    info=BULK,
    comment="Sentences of an example that are relevant, by who says so; the others are not.",
)

summary_augmentations = sa.Table(
    "summary_augmentations",
    metadata,
    *_example_columns(),
    key_column("labeller", "as in summary_labels", sa.Text),
    required("steps", sa.Integer, "sentences added; in the labels are those of the citing sentences too"),
    required(
        "start_score", sa.Double, "what the first step had to exceed: the citing sentences' ROUGE, or 0"
    ),
    required("score", sa.Double, "ROUGE of the summary that is returned"),
    optional(
        "published_score",
        sa.Double,
        "what the published code returns: ROUGE of the last summary that it tried; null where it tried none",
    ),
    info=BULK,
    comment="How the greedy augmentation of an example ended.",
)

summary_splits = sa.Table(
    "summary_splits",
    metadata,
    *_example_columns(),
    key_column("scheme", "by_example, as published; by_paper: a paper is on one side", sa.Text),
    required("part", sa.Text, "train, dev or test"),
    one_of("part", ("train", "dev", "test"), "summary_splits_part_check"),
    info=BULK,
    comment="On which side of a split an example is.",
)

sentence_scores = sa.Table(
    "sentence_scores",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("query_id", "query_id of the benchmark's examples view", sa.Text),
    key_column("section_number", "sentences.section_number", sa.Integer),
    key_column("position", "sentences.position", sa.Integer),
    required("score", sa.Double, "higher is more relevant"),
    info=BULK,
    comment="How relevant a run takes a sentence of an example's paper to be.",
)

trained_models = sa.Table(
    "trained_models",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("trial", "of a random search, from 1", sa.Integer),
    required("settings", sa.Text, "JSON object: the architecture and how it was trained"),
    required("epochs", sa.Integer, "epochs until the best one on dev"),
    required("dev_score", sa.Double, "mean average precision on dev at that epoch"),
    required("chosen", sa.Boolean, "whether it answered the run"),
    info=BULK,
    comment="The models that a run trained to choose from.",
)
