"""Cited works and the mentions that cite them."""

from typing import Any, Final

import sqlalchemy as sa

from pinakes.schema.base import BULK, index, key_column, metadata, one_of, optional, reference, required

RESOLVED_BY: Final = ("source_id", "identifier", "title")

cited_references = sa.Table(
    "cited_references",
    metadata,
    key_column("reference_id", "ours"),
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer),
    required("reference_key", sa.Text, "what the work is de-duplicated by: the source's id of it"),
    optional("title", sa.Text, "title as cited"),
    optional("abstract", sa.Text, "abstract of the cited work, where known"),
    optional("year", sa.Integer, "year as cited"),
    reference(
        "paper_id",
        "papers.paper_id",
        " where it is a paper that we hold",
        role="optional",
        on_delete="SET NULL",
    ),
    optional("resolved_by", sa.Text, "what told which paper it is: source_id, identifier or title"),
    sa.UniqueConstraint("corpus_id", "reference_key", name="cited_references_key"),
    one_of("resolved_by", RESOLVED_BY, "cited_references_resolved_check"),
    index("cited_references_paper_index", "paper_id"),
    info=BULK,
    comment="One cited work of a corpus, de-duplicated.",
)

reference_identifiers = sa.Table(
    "reference_identifiers",
    metadata,
    reference("reference_id", "cited_references.reference_id"),
    key_column("scheme", "doi, s2, arxiv, acl, mag, pubmed, pmc, …", sa.Text),
    key_column("identifier", "the id in that scheme, without a prefix", sa.Text),
    comment="Ids that a cited work carries.",
)

ambiguous_references = sa.Table(
    "ambiguous_references",
    metadata,
    reference("reference_id", "cited_references.reference_id"),
    reference("paper_id", "papers.paper_id", " of a paper that it may be", on_delete="CASCADE"),
    key_column("matched_by", "what the two share: identifier or title", sa.Text),
    comment="Cited works that could be one of several papers: recorded, never guessed.",
)

duplicate_references = sa.Table(
    "duplicate_references",
    metadata,
    reference("reference_id", "cited_references.reference_id", " of the duplicate"),
    reference(
        "kept_reference_id",
        "cited_references.reference_id",
        " of the one that stands for it",
        role="required",
    ),
    required("matched_by", sa.Text, "what the two share: paper, identifier or title"),
    comment="Cited works merged into another of their corpus; deleting a row undoes its merge.",
)


def _mention_columns() -> list[sa.Column[Any]]:
    return [
        optional("source_reference_id", sa.Text, "the source's own id of the mention or of the reference"),
        optional("context", sa.Text, "the sentence around the mention; null where only the link is known"),
        optional("context_start", sa.Integer, "offset in characters of the mention in the context"),
        optional("context_end", sa.Integer, "offset in characters behind the mention"),
        optional("intents", sa.Text, "why it is cited, in the source's words, sorted, joined by commas"),
        optional("is_influential", sa.Boolean, "whether the source holds the citation for influential"),
        reference("batch_id", "load_batches.batch_id", " of the file that brought this row", role="required"),
    ]


citations = sa.Table(
    "citations",
    metadata,
    key_column("citation_id", "ours"),
    reference(
        "citing_paper_id", "papers.paper_id", " of the paper that cites", role="required", on_delete="CASCADE"
    ),
    reference("reference_id", "cited_references.reference_id", " of what it cites", role="required"),
    *_mention_columns(),
    index("citations_citing_index", "citing_paper_id", "reference_id"),
    index("citations_reference_index", "reference_id", "citing_paper_id"),
    info=BULK,
    comment="One mention of a cited work in a citing paper.",
)

restated_citations = sa.Table(
    "restated_citations",
    metadata,
    reference("citing_paper_id", "papers.paper_id", " of the paper that cites", on_delete="CASCADE"),
    reference("batch_id", "load_batches.batch_id", " that its mentions have in citations"),
    reference(
        "newer_batch_id",
        "load_batches.batch_id",
        " of the file's newer version, which says them unchanged",
        role="required",
    ),
    info=BULK,
    comment="Whose a paper's mentions are where a newer version of their file says them unchanged.",
)

pending_citations = sa.Table(
    "pending_citations",
    metadata,
    key_column("citation_id", "ours; the id that the mention will have in citations"),
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer),
    required(
        "citing_source_id", sa.Text, "the source's id of the paper that cites, which we do not hold yet"
    ),
    reference("reference_id", "cited_references.reference_id", " of what it cites", role="required"),
    *_mention_columns(),
    info=BULK,
    comment="Mentions whose citing paper is not there yet; pinakes resolve moves them into citations.",
)
