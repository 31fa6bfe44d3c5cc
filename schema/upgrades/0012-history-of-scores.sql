-- Evaluations as events, accepted scores, how many papers of a corpus were removed, and what a run was made with.

-- name: both
ALTER TABLE runs ADD COLUMN made_with TEXT COLLATE "C"

-- name: both
CREATE TABLE evaluations (
    evaluation_id BIGINT NOT NULL,
    benchmark TEXT COLLATE "C" NOT NULL,
    run_id BIGINT,
    run_digest TEXT COLLATE "C" NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL,
    is_newest BOOLEAN NOT NULL,
    evaluated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    code_version TEXT COLLATE "C" NOT NULL,
    code_digest TEXT COLLATE "C" NOT NULL,
    view_digest TEXT COLLATE "C" NOT NULL,
    judgments_digest TEXT COLLATE "C" NOT NULL,
    judgments BIGINT NOT NULL,
    queries_digest TEXT COLLATE "C" NOT NULL,
    papers_removed BIGINT NOT NULL,
    measures_digest TEXT COLLATE "C" NOT NULL,
    dataset_digest TEXT COLLATE "C" NOT NULL,
    encoder_revision TEXT COLLATE "C",
    run_code_version TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (evaluation_id)
)

-- name: both
CREATE TABLE evaluation_scores (
    evaluation_id BIGINT NOT NULL,
    measure TEXT COLLATE "C" NOT NULL,
    subset TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    queries_expected INTEGER NOT NULL,
    queries_answered INTEGER NOT NULL,
    PRIMARY KEY (evaluation_id, measure, subset)
)

-- name: both
CREATE TABLE accepted_scores (
    benchmark TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL,
    measure TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    queries_expected INTEGER NOT NULL,
    queries_answered INTEGER NOT NULL,
    evaluation_id BIGINT NOT NULL,
    accepted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    by_itself BOOLEAN NOT NULL,
    PRIMARY KEY (benchmark, line, measure)
)

-- name: duckdb
CREATE TABLE accepted_query_scores (
    benchmark TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL,
    measure TEXT COLLATE "C" NOT NULL,
    query_id TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL
)

-- name: postgresql
CREATE TABLE accepted_query_scores (
    benchmark TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL,
    measure TEXT COLLATE "C" NOT NULL,
    query_id TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (benchmark, line, measure, query_id)
)

-- name: duckdb
CREATE TABLE accepted_judgments (
    benchmark TEXT COLLATE "C" NOT NULL,
    judgments_digest TEXT COLLATE "C" NOT NULL,
    query_id TEXT COLLATE "C" NOT NULL,
    judged TEXT COLLATE "C" NOT NULL
)

-- name: postgresql
CREATE TABLE accepted_judgments (
    benchmark TEXT COLLATE "C" NOT NULL,
    judgments_digest TEXT COLLATE "C" NOT NULL,
    query_id TEXT COLLATE "C" NOT NULL,
    judged TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (benchmark, judgments_digest, query_id)
)

-- name: both
CREATE TABLE paper_removals (
    corpus_id INTEGER NOT NULL,
    papers BIGINT NOT NULL,
    PRIMARY KEY (corpus_id)
)
