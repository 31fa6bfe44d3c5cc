"""Queries, judgments, pools and selected sentences; installed benchmarks and published figures."""

import sqlalchemy as sa

from pinakes.schema.base import FACETS, key_column, metadata, one_of, optional, reference, required


def _name_query() -> sa.ForeignKeyConstraint:
    """The query that the columns corpus_id and query_id name."""
    names = ["corpus_id", "query_id"]
    named = [f"benchmark_queries.{name}" for name in names]
    return sa.ForeignKeyConstraint(names, named, ondelete="CASCADE")


benchmark_queries = sa.Table(
    "benchmark_queries",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("query_id", "the source's own id of the query", sa.Text),
    reference(
        "paper_id", "papers.paper_id", " where the query is a paper", role="optional", on_delete="SET NULL"
    ),
    optional("text", sa.Text, "the query's text (TREC: title) where it is a text"),
    optional("description", sa.Text, "TREC: description or question"),
    optional("narrative", sa.Text, "TREC: narrative"),
    optional("facet", sa.Text, "facet that the query asks about"),
    optional("field", sa.Text, "field of study that the query belongs to"),
    optional("fold", sa.Text, "fold of the published splits"),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    one_of("facet", FACETS, "benchmark_queries_facet_check"),
    comment="A query: a paper, a text, or a facet of a paper.",
)

judgments = sa.Table(
    "judgments",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("query_id", "benchmark_queries.query_id", sa.Text),
    reference("paper_id", "papers.paper_id", " of the judged paper", on_delete="CASCADE"),
    key_column("assessor", "who judged: adjudicated, ann1, …; 'published' where the source has one", sa.Text),
    key_column("split", "train, dev, test or all", sa.Text),
    required("grade", sa.Integer, "the grade, in the source's scale"),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    _name_query(),
    comment="A grade that an assessor gave to a paper for a query.",
)

pool_sources = sa.Table(
    "pool_sources",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("query_id", "benchmark_queries.query_id", sa.Text),
    reference("paper_id", "papers.paper_id", " of the candidate", on_delete="CASCADE"),
    key_column("source", "method or strategy that put the candidate into the pool", sa.Text),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    _name_query(),
    comment="Which method or strategy put a candidate into a query's pool.",
)

sentence_selections = sa.Table(
    "sentence_selections",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("query_id", "benchmark_queries.query_id, of a query that is a paper", sa.Text),
    key_column("selection", "name of the selection, as its user gave it", sa.Text),
    key_column("position", "sentences.position in the abstract (section 0) of the query's paper", sa.Integer),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    _name_query(),
    comment="Which sentences of its paper's abstract a query asks with, in a selection of a user's.",
)

benchmarks = sa.Table(
    "benchmarks",
    metadata,
    key_column("name", "name of the benchmark and of the database schema with its views", sa.Text),
    required("title", sa.Text, "what it is"),
    required("citation", sa.Text, "the paper or release that defines it"),
    required("licence", sa.Text, "licence as published"),
    required("headline_measure", sa.Text, "the measure that reports lead with"),
    optional("format", sa.Text, "what kind of vector it asks for: CLF, RGN, PRX or SRCH"),
    required("definition_digest", sa.Text, "sha256 over benchmark.toml and the SQL files"),
    comment="Benchmarks whose views stand in this database, as <name>.queries, .candidates, .judgments.",
)

benchmark_corpora = sa.Table(
    "benchmark_corpora",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("corpus", "corpora.name of a corpus that it can read", sa.Text),
    key_column(
        "preference", "the lowest that is loaded is read; 0: as `pinakes use-corpus` says", sa.Integer
    ),
    comment="Which corpora a benchmark can read; chosen_corpora says which one it reads.",
)

suite_figures = sa.Table(
    "suite_figures",
    metadata,
    key_column("suite", "name of the suite, as scirepeval", sa.Text),
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("figure", "number of the figure, from 1; its value is the mean of its rows", sa.Integer),
    key_column("subset", "scores.subset", sa.Text),
    key_column("measure", "scores.measure", sa.Text),
    required("suite_group", sa.Text, "group of the suite that the figure is averaged in"),
    comment="Which scores of a benchmark count in a suite.",
)

suites = sa.Table(
    "suites",
    metadata,
    key_column("name", "name of the suite; no benchmark has it", sa.Text),
    required("title", sa.Text, "what it is"),
    required("citation", sa.Text, "the paper that defines it"),
    required("licence", sa.Text, "licence as published"),
    required("definition_digest", sa.Text, "sha256 over suite.toml"),
    comment="Collections of benchmarks whose figures are averaged.",
)

suite_groups = sa.Table(
    "suite_groups",
    metadata,
    reference("suite", "suites.name", type_=sa.Text),
    key_column("suite_group", "as in suite_figures", sa.Text),
    required("position", sa.Integer, "its place in the suite's tables, from 1"),
    comment="The groups of a suite.",
)

suite_extras = sa.Table(
    "suite_extras",
    metadata,
    reference("suite", "suites.name", type_=sa.Text),
    key_column("benchmark", "as in suite_figures", sa.Text),
    comment="Benchmarks of a suite whose figures count in no average.",
)

published_scores = sa.Table(
    "published_scores",
    metadata,
    key_column("benchmark", "benchmarks.name, or suites.name", sa.Text),
    key_column("system", "the system as the paper names it", sa.Text),
    key_column("subset", "subset of the queries, as in scores.subset; of a suite a group", sa.Text),
    key_column("measure", "measure, as in scores.measure; of a suite Average", sa.Text),
    key_column("source", "paper and table", sa.Text),
    required("value", sa.Double, "the figure on the scale of scores.value"),
    required("printed", sa.Text, "the figure as printed"),
    comment="What a paper reported; join with scores on benchmark, subset and measure.",
)
