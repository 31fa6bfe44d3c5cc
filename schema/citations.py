"""Cited works and the mentions that cite them."""

import sqlalchemy as sa

from pinakes.schema.base import key_column, metadata, optional, required

cited_references = sa.Table(
    "cited_references",
    metadata,
    key_column("reference_id", "ours"),
    required("corpus_id", sa.Integer, "corpora.corpus_id"),
    required("reference_key", sa.Text, "what the work is de-duplicated by: the source's id of it"),
    optional("title", sa.Text, "title as cited"),
    optional("abstract", sa.Text, "abstract of the cited work, where known"),
    optional("year", sa.Integer, "year as cited"),
    optional("paper_id", sa.BigInteger, "papers.paper_id where it is a paper that we hold"),
    sa.UniqueConstraint("corpus_id", "reference_key", name="cited_references_key"),
    comment="One cited work of a corpus, de-duplicated.",
)

citations = sa.Table(
    "citations",
    metadata,
    key_column("citation_id", "ours"),
    required("citing_paper_id", sa.BigInteger, "papers.paper_id of the paper that cites"),
    required("reference_id", sa.BigInteger, "cited_references.reference_id of what it cites"),
    optional("source_reference_id", sa.Text, "the citing paper's own id of the reference"),
    optional("context", sa.Text, "the sentence around the mention; null where only the link is known"),
    optional("context_start", sa.Integer, "offset in characters of the mention in the context"),
    optional("context_end", sa.Integer, "offset in characters behind the mention"),
    required("batch_id", sa.BigInteger, "load_batches.batch_id that wrote this row"),
    comment="One mention of a cited work in a citing paper.",
)
