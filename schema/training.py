"""What encoders are trained on: a draw of instances of tasks, by its name."""

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, one_of, optional, reference, required

trainings = sa.Table(
    "trainings",
    metadata,
    key_column("training_id", "ours", sa.Integer),
    required("name", sa.Text, "what the draw is called"),
    required("seed", sa.BigInteger, "which of the possible draws: it goes into every md5 that orders papers"),
    required(
        "asked", sa.Text, "JSON object: the tasks, the benchmarks held out, and how many instances of what"
    ),
    required("draw_digest", sa.Text, "sha256 over all texts, classes and instances: alike on both databases"),
    sa.UniqueConstraint("name", name="trainings_name_key"),
    comment="A draw of instances that encoders are trained on.",
)

training_tasks = sa.Table(
    "training_tasks",
    metadata,
    reference("training_id", "trainings.training_id", type_=sa.Integer, on_delete="CASCADE"),
    key_column("task", "a benchmark's name, or KIND:CORPUS, as citations:aan", sa.Text),
    required("position", sa.Integer, "place among the tasks as they were named, from 1"),
    required("format", sa.Text, "CLF, RGN, PRX or SRCH"),
    required("objective", sa.Text, "classes, labels, number or triplets"),
    required("class_count", sa.Integer, "classes or labels; 0 of the other objectives"),
    required("text_count", sa.BigInteger, "distinct texts of papers and queries"),
    required("train_count", sa.BigInteger, "instances to train on, when they were drawn"),
    required("validation_count", sa.BigInteger, "instances that validate, when they were drawn"),
    comment="The tasks of a draw.",
)

training_omissions = sa.Table(
    "training_omissions",
    metadata,
    reference("training_id", "trainings.training_id", type_=sa.Integer, on_delete="CASCADE"),
    key_column("task", "training_tasks.task", sa.Text),
    key_column("reason", "what was left out, and why, in words", sa.Text),
    required("items", sa.BigInteger, "how many papers, queries, triplets or classes"),
    sa.ForeignKeyConstraint(
        ["training_id", "task"], ["training_tasks.training_id", "training_tasks.task"], ondelete="CASCADE"
    ),
    comment="What a task of a draw left out, with the reason.",
)

training_instances = sa.Table(
    "training_instances",
    metadata,
    reference("training_id", "trainings.training_id", type_=sa.Integer, on_delete="CASCADE"),
    key_column("task", "training_tasks.task", sa.Text),
    key_column("side", "train or validation", sa.Text),
    key_column("position", "place in the order in which they were drawn, from 1", sa.BigInteger),
    reference(
        "corpus_id",
        "corpora.corpus_id",
        " of the query's id",
        role="optional",
        type_=sa.Integer,
        on_delete="CASCADE",
    ),
    optional("query_id", sa.Text, "benchmark_queries.query_id; null where a corpus's paper asks"),
    reference(
        "query_paper_id",
        "papers.paper_id",
        " that asks, or that has the label; null where a text asks",
        role="optional",
        on_delete="CASCADE",
    ),
    reference(
        "positive_paper_id", "papers.paper_id", " that is nearer", role="optional", on_delete="CASCADE"
    ),
    reference(
        "negative_paper_id", "papers.paper_id", " that is further", role="optional", on_delete="CASCADE"
    ),
    optional("label", sa.Text, "the class; of several labels a JSON array of them"),
    optional("value", sa.Double, "the number that is trained on"),
    one_of("side", ("train", "validation"), "training_instances_side_check"),
    sa.ForeignKeyConstraint(
        ["training_id", "task"], ["training_tasks.training_id", "training_tasks.task"], ondelete="CASCADE"
    ),
    sa.ForeignKeyConstraint(
        ["corpus_id", "query_id"],
        ["benchmark_queries.corpus_id", "benchmark_queries.query_id"],
        ondelete="CASCADE",
    ),
    info=BULK,
    comment="A labelled paper, or a query with two papers; the row goes with a paper that it names.",
)
