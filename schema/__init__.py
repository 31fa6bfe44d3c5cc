"""What the database holds: one truth for DuckDB and Postgres, in SQLAlchemy Core.

Loaders, indexers and runs write them.
"""

from pinakes.schema.base import metadata, next_id
from pinakes.schema.batches import load_batches, load_reports, rejected_rows
from pinakes.schema.benchmarks import (
    benchmark_queries,
    benchmarks,
    judgments,
    pool_sources,
    published_scores,
    sentence_selections,
)
from pinakes.schema.citations import (
    ambiguous_references,
    citations,
    cited_references,
    duplicate_references,
    pending_citations,
    reference_identifiers,
)
from pinakes.schema.create import SCHEMA_VERSION, check_schema, comment_on_view, create_schema
from pinakes.schema.papers import (
    authors,
    authorships,
    corpora,
    distinct_sentences,
    duplicate_papers,
    labels,
    paper_fields,
    paper_identifiers,
    paper_variants,
    papers,
    review_scores,
    sections,
    sentences,
)
from pinakes.schema.runs import hits, runs, scores, tuned_parameters
from pinakes.schema.sampling import (
    constructed_candidates,
    construction_clashes,
    construction_models,
    pool_members,
    pools,
    sampled_citations,
    sampled_queries,
    sampling_exclusions,
    samplings,
)
from pinakes.schema.vectors import encoders, sentence_vectors_table, side_indexes, vectors_table

__all__ = [
    "SCHEMA_VERSION",
    "ambiguous_references",
    "authors",
    "authorships",
    "benchmark_queries",
    "benchmarks",
    "check_schema",
    "citations",
    "cited_references",
    "comment_on_view",
    "constructed_candidates",
    "construction_clashes",
    "construction_models",
    "corpora",
    "create_schema",
    "distinct_sentences",
    "duplicate_papers",
    "duplicate_references",
    "encoders",
    "hits",
    "judgments",
    "labels",
    "load_batches",
    "load_reports",
    "metadata",
    "next_id",
    "paper_fields",
    "paper_identifiers",
    "paper_variants",
    "papers",
    "pending_citations",
    "pool_members",
    "pool_sources",
    "pools",
    "published_scores",
    "reference_identifiers",
    "rejected_rows",
    "review_scores",
    "runs",
    "sampled_citations",
    "sampled_queries",
    "sampling_exclusions",
    "samplings",
    "scores",
    "sections",
    "sentence_selections",
    "sentence_vectors_table",
    "sentences",
    "side_indexes",
    "tuned_parameters",
    "vectors_table",
]
