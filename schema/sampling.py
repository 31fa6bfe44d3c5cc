"""Benchmarks that are sampled from a corpus: their parameters, queries, pools, and constructed candidates."""

from typing import Final

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, one_of, optional, reference, required

COUNTED: Final = ("made", "received", "either")
"""which citations of a paper the pre-filter counts"""

TOP_OF: Final = ("candidates", "negatives")
"""what the best of a ranking are that a construction draws negatives from"""


def _name_within(table: str, column: str) -> sa.ForeignKeyConstraint:
    """The row of the same benchmark that the column names."""
    return sa.ForeignKeyConstraint(["benchmark", column], [f"{table}.benchmark", f"{table}.{column}"])


samplings = sa.Table(
    "samplings",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    reference(
        "corpus_id",
        "corpora.corpus_id",
        " that queries and candidates are drawn from",
        role="required",
        type_=sa.Integer,
    ),
    required("seed", sa.Text, "which of the possible samples: it goes into every md5 that orders papers"),
    required("year", sa.Integer, "year of the queries; no drawn candidate is of a later one"),
    required("query_count", sa.Integer, "test queries asked for: in all, or for each field"),
    required("validation_count", sa.Integer, "validation queries asked for: in all, or for each field"),
    required("repeats", sa.Integer, "independent pools of each size"),
    required("min_abstract", sa.Integer, "pre-filter: characters that an abstract has at least"),
    required("min_citations", sa.Integer, "pre-filter: citations that a paper has at least"),
    required(
        "counted",
        sa.Text,
        "pre-filter: citations made (papers it cites), received (papers citing it), or either: enough of one",
    ),
    required("min_cited", sa.Integer, "papers that a query cites at least, of those that we hold"),
    optional(
        "assigned_by", sa.Text, "paper_fields.assigned_by of the fields; null where pools are of no field"
    ),
    one_of("counted", COUNTED, "samplings_counted_check"),
    comment="How a benchmark was sampled from a corpus: one row a benchmark.",
)

sampling_exclusions = sa.Table(
    "sampling_exclusions",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("source_id", "papers.source_id of a paper that must not be a query", sa.Text),
    comment="Papers that are no queries, as those that a model was trained on.",
)

sampled_queries = sa.Table(
    "sampled_queries",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("query_id", "the source's id of the paper; with its field where fields are sampled", sa.Text),
    reference("paper_id", "papers.paper_id", " of the query", role="required"),
    optional("field", sa.Text, "field of study that the query was drawn for"),
    required("fold", sa.Text, "test, or validation: for tuning alone"),
    one_of("fold", ("test", "validation"), "sampled_queries_fold_check"),
    comment="The queries of a sampled benchmark.",
)

sampled_citations = sa.Table(
    "sampled_citations",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("query_id", "sampled_queries.query_id", sa.Text),
    reference("paper_id", "papers.paper_id", " of a paper that the query cites"),
    _name_within("sampled_queries", "query_id"),
    comment="What the queries of a sampled benchmark cite: their relevant papers.",
)

pools = sa.Table(
    "pools",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("pool", "name of the pool, without white space, as 200000/1", sa.Text),
    required("sample", sa.Text, "pool_members.sample whose first papers these are"),
    required("requested_size", sa.BigInteger, "papers that the pool should have"),
    required(
        "size", sa.BigInteger, "papers that it has: more where more are cited, fewer where none is left"
    ),
    required("repeat", sa.Integer, "1 is the first of the independent pools of this size"),
    optional("field", sa.Text, "field of study whose queries it serves; null: all queries of the fold"),
    required("fold", sa.Text, "fold of the queries that it serves: test or validation"),
    comment="The candidate pools of a sampled benchmark; pools of one sample are nested.",
)

pool_members = sa.Table(
    "pool_members",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("sample", "one random order of papers", sa.Text),
    key_column("position", "1 is the first; a pool of size n holds positions 1 to n"),
    reference("paper_id", "papers.paper_id", " of the candidate", role="required"),
    _name_within("pools", "sample"),
    info=BULK,
    comment="Papers in the random orders that pools are cut from, those that queries cite first.",
)

constructed_candidates = sa.Table(
    "constructed_candidates",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("query_id", "sampled_queries.query_id", sa.Text),
    reference("paper_id", "papers.paper_id", " of the candidate"),
    required("source", sa.Text, "candidate type: cited, a system's name, graph, most_cited or random"),
    required("position", sa.Integer, "1 is the first candidate of its type for the query"),
    _name_within("sampled_queries", "query_id"),
    comment="The candidates of a constructed benchmark, each with its one type.",
)

construction_models = sa.Table(
    "construction_models",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("run_id", "runs.run_id of the ranking that was looked at"),
    required("system", sa.Text, "runs.system"),
    optional(
        "mean_jaccard",
        sa.Double,
        "mean over the other runs and the queries of the Jaccard index of their best negatives; null where "
        "there is no other run",
    ),
    required("is_chosen", sa.Boolean, "whether negatives were drawn from it"),
    required("top_of", sa.Text, "what its best are counted among: all candidates, or the negatives alone"),
    one_of("top_of", TOP_OF, "construction_models_top_of_check"),
    comment="The rankings that a construction chose its models from.",
)

construction_clashes = sa.Table(
    "construction_clashes",
    metadata,
    reference("benchmark", "samplings.benchmark", type_=sa.Text),
    key_column("source", "the candidate type that was refused", sa.Text),
    key_column("kept_source", "the candidate type that the paper has", sa.Text),
    required("clashes", sa.BigInteger, "(query, paper) pairs that both types would have drawn"),
    comment="How often two candidate types of a construction claimed the same paper for a query.",
)
