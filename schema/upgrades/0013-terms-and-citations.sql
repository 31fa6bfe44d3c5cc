-- Terms and postings of sparse indexes as tables; on Postgres indexes for the mentions of a paper and of a work.

-- name: both
CREATE TABLE term_indexes (
    side_index_id INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    corpus_id INTEGER NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    paper_template TEXT COLLATE "C" NOT NULL,
    counted_in TEXT COLLATE "C" NOT NULL,
    counted_papers BIGINT NOT NULL,
    average_length DOUBLE PRECISION NOT NULL,
    formula TEXT COLLATE "C" NOT NULL,
    k1 DOUBLE PRECISION NOT NULL,
    b DOUBLE PRECISION NOT NULL,
    analysis TEXT COLLATE "C" NOT NULL,
    paper_count BIGINT NOT NULL,
    term_count BIGINT NOT NULL,
    posting_count BIGINT NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    stored_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (side_index_id),
    CONSTRAINT term_indexes_name_key UNIQUE (name)
)

-- name: duckdb
CREATE TABLE indexed_papers (
    side_index_id INTEGER NOT NULL,
    paper_id BIGINT NOT NULL,
    length INTEGER NOT NULL,
    text_digest UUID NOT NULL
)

-- name: postgresql
CREATE TABLE indexed_papers (
    side_index_id INTEGER NOT NULL,
    paper_id BIGINT NOT NULL,
    length INTEGER NOT NULL,
    text_digest UUID NOT NULL,
    PRIMARY KEY (side_index_id, paper_id)
)

-- name: duckdb
CREATE TABLE indexed_terms (
    term_id BIGINT NOT NULL,
    side_index_id INTEGER NOT NULL,
    term TEXT COLLATE "C" NOT NULL,
    document_frequency INTEGER NOT NULL,
    idf DOUBLE PRECISION NOT NULL
)

-- name: postgresql
CREATE TABLE indexed_terms (
    term_id BIGINT NOT NULL,
    side_index_id INTEGER NOT NULL,
    term TEXT COLLATE "C" NOT NULL,
    document_frequency INTEGER NOT NULL,
    idf DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (term_id),
    CONSTRAINT indexed_terms_term_key UNIQUE (side_index_id, term)
)

-- name: duckdb
CREATE TABLE postings (
    term_id BIGINT NOT NULL,
    paper_id BIGINT NOT NULL,
    frequency INTEGER NOT NULL,
    weight DOUBLE PRECISION NOT NULL
)

-- name: postgresql
CREATE TABLE postings (
    term_id BIGINT NOT NULL,
    paper_id BIGINT NOT NULL,
    frequency INTEGER NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (term_id, paper_id)
)

-- name: postgresql
CREATE INDEX postings_paper_index ON postings (paper_id)

-- name: postgresql
CREATE INDEX cited_references_paper_index ON cited_references (paper_id)

-- name: postgresql
CREATE INDEX citations_citing_index ON citations (citing_paper_id)

-- name: postgresql
CREATE INDEX citations_reference_index ON citations (reference_id, citing_paper_id)
