"""The terms and postings of sparse indexes as tables, where a user asks for them: BM25 is a join over these.

They are of one row of `side_indexes`, are renewed with it, and go with it. A term's id is its own in each
index, so that a posting says by its term which index it is of.
"""

import sqlalchemy as sa

from pinakes.schema.base import BULK, index, key_column, metadata, reference, required

term_indexes = sa.Table(
    "term_indexes",
    metadata,
    reference(
        "side_index_id",
        "side_indexes.side_index_id",
        " of the index that was written down",
        type_=sa.Integer,
        on_delete="CASCADE",
    ),
    required("name", sa.Text, "corpus/system/template, as recipes ask for it"),
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer, on_delete="CASCADE"),
    required("system", sa.Text, "sparse_bm25, or a named baseline that it is"),
    required("paper_template", sa.Text, "text template that papers were read with"),
    required("counted_in", sa.Text, "the corpus that terms are counted in: its own, or that of trained_on"),
    required("counted_papers", sa.BigInteger, "N: papers of the corpus that terms are counted in"),
    required("average_length", sa.Double, "their mean length in terms; 1 where none has a term"),
    required("formula", sa.Text, "whose idf: lucene or okapi"),
    required("k1", sa.Double, "k1 that weights were computed with"),
    required("b", sa.Double, "b that weights were computed with"),
    required("analysis", sa.Text, "JSON object: how a text becomes terms, with the stop words"),
    required("paper_count", sa.BigInteger, "papers that were indexed"),
    required("term_count", sa.BigInteger, "rows of indexed_terms"),
    required("posting_count", sa.BigInteger, "rows of postings when they were written"),
    required("content_digest", sa.Text, "of the index that was written down, as in side_indexes"),
    required("stored_at", sa.DateTime(timezone=True), "when its rows were written"),
    sa.UniqueConstraint("name", name="term_indexes_name_key"),
    comment="A sparse index whose terms and postings are in tables, with what BM25 needs of it.",
)

indexed_papers = sa.Table(
    "indexed_papers",
    metadata,
    reference("side_index_id", "term_indexes.side_index_id", type_=sa.Integer, on_delete="CASCADE"),
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    required("length", sa.Integer, "terms of its text, each as often as it occurs"),
    required("text_digest", sa.Uuid, "text_digests.text_digest of its title and abstract at that time"),
    info=BULK,
    comment="How long each paper of a written-down index is.",
)

indexed_terms = sa.Table(
    "indexed_terms",
    metadata,
    key_column("term_id", "ours; of one index"),
    reference(
        "side_index_id",
        "term_indexes.side_index_id",
        role="required",
        type_=sa.Integer,
        on_delete="CASCADE",
    ),
    required("term", sa.Text, "as the index's analysis makes it of a word: lower case, folded, stemmed"),
    required("document_frequency", sa.Integer, "papers of counted_in that hold it; 0 where none does"),
    required(
        "idf", sa.Double, "inverse document frequency by the index's formula; 0 where no paper holds it"
    ),
    sa.UniqueConstraint("side_index_id", "term", name="indexed_terms_term_key"),
    info=BULK,
    comment="The terms of a written-down index.",
)

postings = sa.Table(
    "postings",
    metadata,
    reference("term_id", "indexed_terms.term_id", on_delete="CASCADE"),
    reference("paper_id", "papers.paper_id", on_delete="CASCADE"),
    required("frequency", sa.Integer, "times that the paper's text has the term"),
    required("weight", sa.Double, "what the term adds to the paper's score, with k1 and b of the index"),
    index(
        "postings_paper_index", "paper_id"
    ),  # what a paper's terms are; a term's papers are found by the key
    info=BULK,
    comment="Which papers hold a term, how often, and what it weighs there: a score is a sum of weights.",
)
