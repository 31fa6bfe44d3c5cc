"""Corpora, papers, and all that hangs on a paper."""

import sqlalchemy as sa

from pinakes.schema.base import BULK, FACETS, key_column, metadata, one_of, optional, required

corpora = sa.Table(
    "corpora",
    metadata,
    key_column("corpus_id", "ours", sa.Integer),
    required("name", sa.Text, "short name, as commands and benchmarks use it"),
    required("title", sa.Text, "what the collection calls itself"),
    required("version", sa.Text, "release, snapshot date or generator version"),
    required("licence", sa.Text, "licence as published"),
    required("source", sa.Text, "where the collection comes from"),
    sa.UniqueConstraint("name", name="corpora_name_key"),
    comment="One loaded collection of papers.",
)

papers = sa.Table(
    "papers",
    metadata,
    key_column("paper_id", "ours; dense, in load order"),
    required("corpus_id", sa.Integer, "corpora.corpus_id"),
    required("source_id", sa.Text, "the source's own id of the paper"),
    optional("title", sa.Text, "null where the source gives none"),
    optional("abstract", sa.Text, "null where the source gives none"),
    optional("year", sa.Integer, "year of publication"),
    optional("venue", sa.Text, "journal, conference or repository, as the source writes it"),
    optional("citation_count", sa.Integer, "times cited, as the source counts"),
    required("batch_id", sa.BigInteger, "load_batches.batch_id that wrote this row last"),
    sa.UniqueConstraint("corpus_id", "source_id", name="papers_source_key"),
    comment="One paper of one corpus.",
)

paper_identifiers = sa.Table(
    "paper_identifiers",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("scheme", "doi, s2, arxiv, acl, mag, pubmed, pmc, …", sa.Text),
    key_column("identifier", "the id in that scheme, without a prefix", sa.Text),
    info=BULK,
    comment="Ids that a paper carries besides its source_id.",
)

paper_fields = sa.Table(
    "paper_fields",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("assigned_by", "which classification: mag, s2, openalex, synthetic, …", sa.Text),
    key_column("field", "field of study, as that classification names it", sa.Text),
    info=BULK,
    comment="Fields of study of a paper.",
)

authors = sa.Table(
    "authors",
    metadata,
    key_column("author_id", "ours"),
    required("corpus_id", sa.Integer, "corpora.corpus_id"),
    required("source_id", sa.Text, "the source's own id of the author"),
    required("name", sa.Text, "name as the source writes it"),
    sa.UniqueConstraint("corpus_id", "source_id", name="authors_source_key"),
    comment="One author of one corpus.",
)

authorships = sa.Table(
    "authorships",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("position", "1 is the first author", sa.Integer),
    required("author_id", sa.BigInteger, "authors.author_id"),
    optional("block", sa.Text, "the group of like names within which authors are told apart"),
    info=BULK,
    comment="Who wrote a paper, in order.",
)

sections = sa.Table(
    "sections",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("section_number", "1 is the first section of the full text", sa.Integer),
    optional("title", sa.Text, "heading"),
    required("text", sa.Text, "the section's text"),
    info=BULK,
    comment="Full text of a paper, by section.",
)

sentences = sa.Table(
    "sentences",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("section_number", "sections.section_number; 0 is the abstract", sa.Integer),
    key_column("position", "1 is the first sentence of the section", sa.Integer),
    required("text", sa.Text, "the sentence"),
    optional("facet", sa.Text, "background, method, result or other"),
    optional("source_label", sa.Text, "the facet as the source labels it"),
    one_of("facet", FACETS, "sentences_facet_check"),
    info=BULK,
    comment="Sentences of an abstract or a section; each may carry a facet.",
)

paper_variants = sa.Table(
    "paper_variants",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("code", "code of the transformation, as T_ARot", sa.Text),
    optional("title", sa.Text, "title after the transformation"),
    optional("abstract", sa.Text, "abstract after the transformation"),
    info=BULK,
    comment="A derived text of a paper (a textual neighbour).",
)

review_scores = sa.Table(
    "review_scores",
    metadata,
    key_column("paper_id", "papers.paper_id"),
    key_column("review_id", "the source's own id of the review, or its number", sa.Text),
    key_column("aspect", "what was scored: rating, confidence, clarity, …", sa.Text),
    required("score", sa.Double, "the score, on the venue's own scale"),
    info=BULK,
    comment="A number that a reviewer gave a paper.",
)

duplicate_papers = sa.Table(
    "duplicate_papers",
    metadata,
    key_column("paper_id", "papers.paper_id of the duplicate"),
    required("kept_paper_id", sa.BigInteger, "papers.paper_id of the paper that stands for it"),
    required("matched_by", sa.Text, "what the two share: title"),
    comment="Papers merged into another of their corpus; deleting a row undoes its merge.",
)

labels = sa.Table(
    "labels",
    metadata,
    key_column("task", "name of the task that the label belongs to", sa.Text),
    key_column("paper_id", "papers.paper_id"),
    key_column("split", "train, dev, test or all", sa.Text),
    key_column("label", "the class; 'value' where the target is a number", sa.Text),
    optional("value", sa.Double, "the number, where the target is one"),
    required("quality", sa.Text, "gold (by people) or silver (by rule or model)"),
    one_of("quality", ("gold", "silver"), "labels_quality_check"),
    comment="A class label or a number for a paper in a task.",
)
