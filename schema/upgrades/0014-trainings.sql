-- What encoders are trained on is recorded: a draw, its tasks, what they left out, and the instances.

-- name: both
CREATE TABLE trainings (
    training_id INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    seed BIGINT NOT NULL,
    asked TEXT COLLATE "C" NOT NULL,
    draw_digest TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (training_id),
    CONSTRAINT trainings_name_key UNIQUE (name)
)

-- name: both
CREATE TABLE training_tasks (
    training_id INTEGER NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    position INTEGER NOT NULL,
    format TEXT COLLATE "C" NOT NULL,
    objective TEXT COLLATE "C" NOT NULL,
    class_count INTEGER NOT NULL,
    text_count BIGINT NOT NULL,
    train_count BIGINT NOT NULL,
    validation_count BIGINT NOT NULL,
    PRIMARY KEY (training_id, task)
)

-- name: both
CREATE TABLE training_omissions (
    training_id INTEGER NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    items BIGINT NOT NULL,
    PRIMARY KEY (training_id, task, reason)
)

-- name: duckdb
CREATE TABLE training_instances (
    training_id INTEGER NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    side TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    corpus_id INTEGER,
    query_id TEXT COLLATE "C",
    query_paper_id BIGINT,
    positive_paper_id BIGINT,
    negative_paper_id BIGINT,
    label TEXT COLLATE "C",
    value DOUBLE PRECISION,
    CONSTRAINT training_instances_side_check CHECK (side IN ('train', 'validation'))
)

-- name: postgresql
CREATE TABLE training_instances (
    training_id INTEGER NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    side TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    corpus_id INTEGER,
    query_id TEXT COLLATE "C",
    query_paper_id BIGINT,
    positive_paper_id BIGINT,
    negative_paper_id BIGINT,
    label TEXT COLLATE "C",
    value DOUBLE PRECISION,
    PRIMARY KEY (training_id, task, side, position),
    CONSTRAINT training_instances_side_check CHECK (side IN ('train', 'validation'))
)
