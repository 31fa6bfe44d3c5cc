"""Corpora, papers, and the child rows of papers.

Child rows that can be derived from a text (sentences, variants, labels) have a `producer`, and where they
were, a `text_digest`: docs/decisions/0021.
"""

from typing import Any

import sqlalchemy as sa

from pinakes.schema.base import BULK, FACETS, key_column, metadata, one_of, optional, reference, required


def _make_columns() -> list[sa.Column[Any]]:
    """Who made a row, and of which text."""
    producer = sa.Column(
        "producer",
        sa.Text(collation="C"),
        primary_key=True,
        server_default="user",
        comment="who made the row: a loader, a generator with its settings, or user",
    )
    digest = (
        "text_digests.text_digest of the text that it was made of; null where a source or a user says the row"
    )
    return [producer, optional("text_digest", sa.Uuid, digest)]


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
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer),
    required("source_id", sa.Text, "the source's own id of the paper"),
    optional("title", sa.Text, "null where the source gives none"),
    optional("abstract", sa.Text, "null where the source gives none"),
    optional("year", sa.Integer, "year of publication"),
    optional("venue", sa.Text, "journal, conference or repository, as the source writes it"),
    optional("citation_count", sa.Integer, "times cited, as the source counts"),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    sa.UniqueConstraint("corpus_id", "source_id", name="papers_source_key"),
    info=BULK,
    comment="One paper of one corpus.",
)

paper_identifiers = sa.Table(
    "paper_identifiers",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("scheme", "doi, s2, arxiv, acl, mag, pubmed, pmc, …", sa.Text),
    key_column("identifier", "the id in that scheme, without a prefix", sa.Text),
    info=BULK,
    comment="Ids that a paper carries besides its source_id.",
)

paper_fields = sa.Table(
    "paper_fields",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("assigned_by", "which classification: mag, s2, openalex, synthetic, …", sa.Text),
    key_column("field", "field of study, as that classification names it", sa.Text),
    info=BULK,
    comment="Fields of study of a paper.",
)

authors = sa.Table(
    "authors",
    metadata,
    key_column("author_id", "ours"),
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer),
    required("source_id", sa.Text, "the source's own id of the author"),
    required("name", sa.Text, "name as the source writes it"),
    sa.UniqueConstraint("corpus_id", "source_id", name="authors_source_key"),
    info=BULK,
    comment="One author of one corpus.",
)

authorships = sa.Table(
    "authorships",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("position", "1 is the first author", sa.Integer),
    reference("author_id", "authors.author_id", role="required"),
    optional("block", sa.Text, "the group of like names within which authors are distinguished"),
    info=BULK,
    comment="Who wrote a paper, in order.",
)

author_signatures = sa.Table(
    "author_signatures",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("dataset", "the collection that it is of, as aminer; empty: the corpus itself", sa.Text),
    key_column("signature_id", "the source's own id of the signature", sa.Text),
    required("number", sa.Integer, "1 is the first signature of the dataset's file"),
    required("position", sa.Integer, "place among the authors, as in authorships; 1 is the first"),
    optional("first_name", sa.Text, "as the source writes it"),
    optional("middle_name", sa.Text, "as the source writes it"),
    optional("last_name", sa.Text, "as the source writes it"),
    optional("name_suffix", sa.Text, "as Jr."),
    optional("email", sa.Text, "of the author, as on the paper"),
    optional("affiliations", sa.Text, "of the author, as on the paper: one a line"),
    optional("block", sa.Text, "the group of like names within which authors are distinguished"),
    optional("given_block", sa.Text, "the block as the dataset had it before"),
    optional("split", sa.Text, "train, dev or test, where the source says which blocks are for what"),
    optional("cluster", sa.Text, "the source's id of the person; null where it does not know"),
    reference("batch_id", "load_batches.batch_id", " of the file that says this row", role="required"),
    one_of("split", ("train", "dev", "test"), "author_signatures_split_check"),
    info=BULK,
    comment="An author's name on a paper, as collections of author disambiguation have it.",
)

sections = sa.Table(
    "sections",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("section_number", "1 is the first section of the full text", sa.Integer),
    optional("title", sa.Text, "heading"),
    required("text", sa.Text, "the section's text"),
    info=BULK,
    comment="Full text of a paper, by section.",
)

sentences = sa.Table(
    "sentences",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("section_number", "sections.section_number; 0 is the abstract", sa.Integer),
    key_column("position", "1 is the first sentence of the section", sa.Integer),
    required("text", sa.Text, "the sentence"),
    optional("facet", sa.Text, "background, method, result or other"),
    optional("source_label", sa.Text, "the facet as the source labels it"),
    *_make_columns(),
    one_of("facet", FACETS, "sentences_facet_check"),
    info=BULK,
    comment="Sentences of an abstract or a section, in one or several splits; each may carry a facet.",
)

distinct_sentences = sa.table(
    "distinct_sentences", *(sa.column(column.name, column.type) for column in sentences.columns)
).alias("sentences")
"""the view of one split of each text, read as `sentences`: what ranks or shows sentences reads this"""

paper_variants = sa.Table(
    "paper_variants",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("code", "code of the transformation, as T_ARot", sa.Text),
    optional("title", sa.Text, "title after the transformation"),
    optional("abstract", sa.Text, "abstract after the transformation"),
    reference("batch_id", "load_batches.batch_id", "; null where no file says the row", role="optional"),
    *_make_columns(),
    info=BULK,
    comment="A derived text of a paper (a textual neighbour).",
)

absent_variants = sa.Table(
    "absent_variants",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("code", "code of the transformation, as T_ADelADJ", sa.Text),
    required("reason", sa.Text, "why the paper has no variant of the code: no adjective, no abstract, …"),
    *_make_columns(),
    info=BULK,
    comment="Variants that a generator was asked for and that a paper does not have, with the reason.",
)

text_analyses = sa.Table(
    "text_analyses",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    required("analysis", sa.Text, "JSON: sentences, tokens, tags and noun phrases of title and abstract"),
    *_make_columns(),
    info=BULK,
    comment="What an analyser found in a paper's title and abstract; variants are made of it.",
)

phrase_statistics = sa.Table(
    "phrase_statistics",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("producer", "whose variants were made with them, as in paper_variants", sa.Text),
    required("top_digest", sa.Text, "sha256 over the more important half of the corpus's noun phrases"),
    required("phrases", sa.Integer, "distinct noun phrases of the abstracts"),
    required("papers", sa.Integer, "papers that they were counted in"),
    comment="The noun phrases of a corpus that its variants T_ADelTopNNPH were made with.",
)

review_scores = sa.Table(
    "review_scores",
    metadata,
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("review_id", "the source's own id of the review, or its number", sa.Text),
    key_column("aspect", "what was scored: rating, confidence, clarity, …", sa.Text),
    required("score", sa.Double, "the score, on the venue's own scale"),
    info=BULK,
    comment="A number that a reviewer gave a paper.",
)

duplicate_papers = sa.Table(
    "duplicate_papers",
    metadata,
    reference("paper_id", "papers.paper_id", " of the duplicate", on_delete="CASCADE"),
    reference(
        "kept_paper_id",
        "papers.paper_id",
        " of the paper that stands for it",
        role="required",
        on_delete="CASCADE",
    ),
    required("matched_by", sa.Text, "what the two share: title"),
    comment="Papers merged into another of their corpus; deleting a row undoes its merge.",
)

labels = sa.Table(
    "labels",
    metadata,
    key_column("task", "name of the task that the label belongs to", sa.Text),
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    key_column("split", "train, dev, test or all", sa.Text),
    key_column("label", "the class; 'value' where the target is a number", sa.Text),
    optional("value", sa.Double, "the number, where the target is one"),
    required("quality", sa.Text, "gold (by people) or silver (by rule or model)"),
    optional(
        "position", sa.BigInteger, "the record of its file that says it, from 1; folds are cut in this order"
    ),
    reference("batch_id", "load_batches.batch_id", "; null where no file says the row", role="optional"),
    *_make_columns(),
    one_of("quality", ("gold", "silver"), "labels_quality_check"),
    info=BULK,
    comment="A class label or a number for a paper in a task.",
)
