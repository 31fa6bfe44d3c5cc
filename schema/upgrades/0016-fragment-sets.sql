-- Sets of vectors' fragments on shared storage have a row each, so that SQL can ask for them.

-- name: both
CREATE TABLE fragment_sets (
    fragment_set_id INTEGER NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    benchmark TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    corpus TEXT COLLATE "C" NOT NULL,
    paper_template TEXT COLLATE "C" NOT NULL,
    encoders TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    fragment_count INTEGER NOT NULL,
    row_count BIGINT NOT NULL,
    byte_count BIGINT NOT NULL,
    list_sha256 TEXT COLLATE "C" NOT NULL,
    entered_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (fragment_set_id),
    CONSTRAINT fragment_sets_key UNIQUE (place)
)
