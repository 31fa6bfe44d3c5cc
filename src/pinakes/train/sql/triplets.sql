-- Triplets of a query, a paper that is nearer to it and one that is further, from graded or from linked papers.
-- Random order is that of md5, so that both databases draw alike.

-- name: make_asked
-- Papers that ask, of a corpus.
CREATE {scratch} TABLE drawing_asked AS
SELECT
    papers.paper_key AS query_key,
    CAST(NULL AS INTEGER) AS corpus_id,
    CAST(NULL AS TEXT) AS query_id,
    papers.paper_id,
    CAST(NULL AS TEXT) AS text,
    papers.text_digest,
    papers.side,
    CASE
        WHEN papers.has_text = 0 THEN 'queries without a text'
        WHEN papers.is_held = 1 THEN 'queries asked in a test'
    END AS reason
FROM drawing_papers AS papers
INNER JOIN drawing_askers ON papers.paper_id = drawing_askers.paper_id

-- name: count_asked
SELECT drawing_asked.reason, COUNT(*) AS items
FROM drawing_asked
GROUP BY drawing_asked.reason
ORDER BY drawing_asked.reason

-- name: make_queries
CREATE {scratch} TABLE drawing_queries AS
WITH ranked AS (
    SELECT
        drawing_asked.query_key,
        drawing_asked.corpus_id,
        drawing_asked.query_id,
        drawing_asked.paper_id,
        drawing_asked.text_digest,
        drawing_asked.side,
        ROW_NUMBER() OVER (
            PARTITION BY drawing_asked.side
            ORDER BY CAST(md5(drawing_asked.query_key || ':' || CAST(:seed AS TEXT)) AS UUID), drawing_asked.query_key
        ) AS rank
    FROM drawing_asked
    WHERE drawing_asked.reason IS NULL
)
SELECT
    ranked.query_key,
    ranked.corpus_id,
    ranked.query_id,
    ranked.paper_id,
    ranked.text_digest,
    ranked.side,
    ROW_NUMBER() OVER (ORDER BY ranked.side, ranked.rank) AS number
FROM ranked
WHERE ranked.rank
    <= CASE ranked.side WHEN 'train' THEN CAST(:queries_train AS BIGINT) ELSE CAST(:queries_validation AS BIGINT) END

-- name: count_unasked
-- Queries beyond those that give the greatest number of triplets.
SELECT COUNT(*) AS items
FROM drawing_asked
WHERE drawing_asked.reason IS NULL
    AND drawing_asked.query_key NOT IN (SELECT drawing_queries.query_key FROM drawing_queries)

-- name: make_pool
-- The papers that negatives are dealt from, in random order from 0 on.
CREATE {scratch} TABLE drawing_pool AS
SELECT
    drawing_papers.paper_id,
    drawing_papers.text_digest,
    ROW_NUMBER() OVER (
        ORDER BY
            CAST(md5(drawing_papers.paper_key || ':dealt:' || CAST(:seed AS TEXT)) AS UUID),
            drawing_papers.paper_key
    ) - 1 AS position
FROM drawing_papers
WHERE drawing_papers.has_text = 1 AND drawing_papers.is_held = 0
    AND drawing_papers.in_pool = 1

-- name: make_refused
-- What a query cannot be dealt: what is related to it, and what says the same as it, as itself.
CREATE {scratch} TABLE drawing_refused AS
SELECT drawing_related.number, drawing_pool.paper_id
FROM drawing_related
INNER JOIN drawing_pool ON drawing_related.paper_id = drawing_pool.paper_id
UNION
SELECT drawing_queries.number, drawing_pool.paper_id
FROM drawing_queries
INNER JOIN drawing_pool ON drawing_queries.text_digest = drawing_pool.text_digest

-- name: make_dealt
-- The papers go round like cards: a query is dealt those that follow what the last one was dealt, without those that
-- it refuses. So many more are looked at as it refuses, and all papers are asked of equally often.
CREATE {scratch} TABLE drawing_dealt AS
WITH steps AS (
    SELECT drawing_queries.number, drawing_pool.position AS step
    FROM drawing_queries
    CROSS JOIN drawing_pool
    WHERE drawing_pool.position < :dealt
    UNION ALL
    SELECT
        drawing_refused.number,
        :dealt - 1 + ROW_NUMBER() OVER (PARTITION BY drawing_refused.number ORDER BY drawing_refused.paper_id) AS step
    FROM drawing_refused
),
size AS (
    SELECT COUNT(*) AS papers
    FROM drawing_pool
),
spots AS (
    SELECT steps.number, steps.step, ((steps.number - 1) * :dealt + steps.step) % size.papers AS position
    FROM steps
    CROSS JOIN size
    WHERE steps.step < size.papers
),
ranked AS (
    SELECT
        spots.number,
        drawing_pool.paper_id,
        ROW_NUMBER() OVER (PARTITION BY spots.number ORDER BY spots.step) AS rank
    FROM spots
    INNER JOIN drawing_pool ON spots.position = drawing_pool.position
    LEFT JOIN drawing_refused
        ON spots.number = drawing_refused.number AND drawing_pool.paper_id = drawing_refused.paper_id
    WHERE drawing_refused.paper_id IS NULL
)
SELECT ranked.number, ranked.paper_id, ranked.rank
FROM ranked
WHERE ranked.rank <= :dealt

-- name: add_dealt
-- What nobody judged counts as not relevant, as in the scores.
INSERT INTO drawing_graded (number, paper_id, grade)
SELECT drawing_dealt.number, drawing_dealt.paper_id, 0
FROM drawing_dealt

-- name: count_graded
SELECT
    CASE WHEN drawing_papers.has_text = 0 THEN 'judged papers without a text' ELSE 'judged papers asked for in a test' END
        AS reason,
    COUNT(*) AS items
FROM drawing_graded
INNER JOIN drawing_papers ON drawing_graded.paper_id = drawing_papers.paper_id
WHERE drawing_papers.has_text = 0 OR drawing_papers.is_held = 1
GROUP BY
    CASE WHEN drawing_papers.has_text = 0 THEN 'judged papers without a text' ELSE 'judged papers asked for in a test' END
ORDER BY reason

-- name: make_candidates
-- Of each grade as many as a query has triplets.
CREATE {scratch} TABLE drawing_candidates AS
SELECT ranked.number, ranked.query_key, ranked.paper_id, ranked.paper_key, ranked.text_digest, ranked.grade
FROM (
    SELECT
        drawing_queries.number,
        drawing_queries.query_key,
        drawing_papers.paper_id,
        drawing_papers.paper_key,
        drawing_papers.text_digest,
        drawing_graded.grade,
        ROW_NUMBER() OVER (
            PARTITION BY drawing_queries.number, drawing_graded.grade
            ORDER BY
                CAST(
                    md5(drawing_queries.query_key || ':' || drawing_papers.paper_key || ':' || CAST(:seed AS TEXT))
                    AS UUID
                ),
                drawing_papers.paper_key
        ) AS rank
    FROM drawing_graded
    INNER JOIN drawing_queries ON drawing_graded.number = drawing_queries.number
    INNER JOIN drawing_papers ON drawing_graded.paper_id = drawing_papers.paper_id
    WHERE drawing_papers.has_text = 1
        AND drawing_papers.is_held = 0
        AND drawing_papers.text_digest <> drawing_queries.text_digest
) AS ranked
WHERE ranked.rank <= :triplets

-- name: make_graded_triplets
CREATE {scratch} TABLE drawing_triplets AS
SELECT ranked.number, ranked.place, ranked.positive, ranked.negative
FROM (
    SELECT
        nearer.number,
        nearer.paper_id AS positive,
        further.paper_id AS negative,
        ROW_NUMBER() OVER (
            PARTITION BY nearer.number
            ORDER BY
                CAST(
                    md5(
                        nearer.query_key || ':' || nearer.paper_key || ':' || further.paper_key || ':'
                        || CAST(:seed AS TEXT)
                    ) AS UUID
                ),
                nearer.paper_key,
                further.paper_key
        ) AS place
    FROM drawing_candidates AS nearer
    INNER JOIN drawing_candidates AS further
        ON nearer.number = further.number
        AND nearer.grade > further.grade
        AND nearer.text_digest <> further.text_digest
) AS ranked
WHERE ranked.place <= :triplets

-- name: make_positives
-- Twice as many as a query has triplets: what they are near to is more than the first of them are.
CREATE {scratch} TABLE drawing_positives AS
SELECT ranked.number, ranked.paper_id, ranked.text_digest, ranked.rank
FROM (
    SELECT
        drawing_queries.number,
        drawing_papers.paper_id,
        drawing_papers.text_digest,
        ROW_NUMBER() OVER (
            PARTITION BY drawing_queries.number
            ORDER BY
                CAST(
                    md5(drawing_queries.query_key || ':' || drawing_papers.paper_key || ':' || CAST(:seed AS TEXT))
                    AS UUID
                ),
                drawing_papers.paper_key
        ) AS rank
    FROM drawing_linked
    INNER JOIN drawing_queries ON drawing_linked.number = drawing_queries.number
    INNER JOIN drawing_papers ON drawing_linked.paper_id = drawing_papers.paper_id
    WHERE drawing_papers.has_text = 1
        AND drawing_papers.is_held = 0
        AND drawing_papers.text_digest <> drawing_queries.text_digest
) AS ranked
WHERE ranked.rank <= 2 * :triplets

-- name: make_negatives
-- The hard ones first, then those that were dealt: of these so many that enough are left where some are hard.
CREATE {scratch} TABLE drawing_negatives AS
WITH hard AS (
    SELECT
        drawing_near.number,
        drawing_papers.paper_id,
        drawing_papers.text_digest,
        ROW_NUMBER() OVER (
            PARTITION BY drawing_near.number
            ORDER BY
                CAST(
                    md5(drawing_queries.query_key || ':' || drawing_papers.paper_key || ':' || CAST(:seed AS TEXT))
                    AS UUID
                ),
                drawing_papers.paper_key
        ) AS rank
    FROM drawing_near
    INNER JOIN drawing_queries ON drawing_near.number = drawing_queries.number
    INNER JOIN drawing_papers ON drawing_near.paper_id = drawing_papers.paper_id
    LEFT JOIN drawing_related
        ON drawing_near.number = drawing_related.number AND drawing_near.paper_id = drawing_related.paper_id
    WHERE drawing_related.paper_id IS NULL
        AND drawing_papers.has_text = 1
        AND drawing_papers.is_held = 0
        AND drawing_papers.text_digest <> drawing_queries.text_digest
),
kept AS (
    SELECT hard.number, hard.paper_id, hard.text_digest, hard.rank, 0 AS is_easy
    FROM hard
    WHERE hard.rank <= :hard
    UNION ALL
    SELECT
        drawing_dealt.number,
        drawing_dealt.paper_id,
        drawing_pool.text_digest,
        ROW_NUMBER() OVER (PARTITION BY drawing_dealt.number ORDER BY drawing_dealt.rank) AS rank,
        1 AS is_easy
    FROM drawing_dealt
    INNER JOIN drawing_pool ON drawing_dealt.paper_id = drawing_pool.paper_id
    LEFT JOIN hard
        ON drawing_dealt.number = hard.number AND drawing_dealt.paper_id = hard.paper_id AND hard.rank <= :hard
    WHERE hard.paper_id IS NULL
)
SELECT
    kept.number,
    kept.paper_id,
    kept.text_digest,
    kept.is_easy,
    ROW_NUMBER() OVER (PARTITION BY kept.number ORDER BY kept.is_easy, kept.rank) AS place
FROM kept
WHERE kept.is_easy = 0 OR kept.rank <= :easy

-- name: make_linked_triplets
-- Where a query has fewer positives than negatives, they go round.
CREATE {scratch} TABLE drawing_triplets AS
WITH kept AS (
    SELECT
        drawing_negatives.number,
        drawing_negatives.paper_id,
        drawing_negatives.text_digest,
        drawing_negatives.place
    FROM drawing_negatives
    WHERE drawing_negatives.place <= :triplets
),
counts AS (
    SELECT drawing_positives.number, COUNT(*) AS positives
    FROM drawing_positives
    GROUP BY drawing_positives.number
)
SELECT
    kept.number,
    kept.place,
    drawing_positives.paper_id AS positive,
    kept.paper_id AS negative
FROM kept
INNER JOIN counts ON kept.number = counts.number
INNER JOIN drawing_positives
    ON kept.number = drawing_positives.number
    AND drawing_positives.rank = (kept.place - 1) % counts.positives + 1
WHERE drawing_positives.text_digest <> kept.text_digest

-- name: count_graded_without
SELECT
    CASE
        WHEN COALESCE(MAX(graded.best), 0) <= 0 THEN 'queries without a paper that is nearer'
        ELSE 'queries without a paper that is further'
    END AS reason,
    COUNT(*) AS items
FROM drawing_queries
LEFT JOIN (
    SELECT drawing_candidates.number, MAX(drawing_candidates.grade) AS best
    FROM drawing_candidates
    GROUP BY drawing_candidates.number
) AS graded ON drawing_queries.number = graded.number
WHERE drawing_queries.number NOT IN (SELECT drawing_triplets.number FROM drawing_triplets)
GROUP BY CASE WHEN COALESCE(graded.best, 0) <= 0 THEN 0 ELSE 1 END
ORDER BY reason

-- name: count_linked_without
SELECT
    CASE
        WHEN drawing_queries.number IN (SELECT drawing_positives.number FROM drawing_positives)
            THEN 'queries without a paper that is further'
        ELSE 'queries without a paper that is nearer'
    END AS reason,
    COUNT(*) AS items
FROM drawing_queries
WHERE drawing_queries.number NOT IN (SELECT drawing_triplets.number FROM drawing_triplets)
GROUP BY
    CASE
        WHEN drawing_queries.number IN (SELECT drawing_positives.number FROM drawing_positives)
            THEN 'queries without a paper that is further'
        ELSE 'queries without a paper that is nearer'
    END
ORDER BY reason

-- name: count_hard
-- Queries that have fewer hard negatives than are asked for.
SELECT COUNT(*) AS items
FROM (
    SELECT drawing_negatives.number
    FROM drawing_negatives
    GROUP BY drawing_negatives.number
    HAVING SUM(CASE drawing_negatives.is_easy WHEN 0 THEN 1 ELSE 0 END) < :hard
) AS few

-- name: make_drawn
CREATE {scratch} TABLE drawing_drawn AS
SELECT
    ranked.side,
    ranked.position,
    ranked.query_key,
    ranked.corpus_id,
    ranked.query_id,
    ranked.paper_id,
    ranked.positive,
    ranked.negative
FROM (
    SELECT
        drawing_queries.side,
        drawing_queries.query_key,
        drawing_queries.corpus_id,
        drawing_queries.query_id,
        drawing_queries.paper_id,
        drawing_triplets.positive,
        drawing_triplets.negative,
        ROW_NUMBER() OVER (
            PARTITION BY drawing_queries.side ORDER BY drawing_queries.number, drawing_triplets.place
        ) AS position
    FROM drawing_triplets
    INNER JOIN drawing_queries ON drawing_triplets.number = drawing_queries.number
) AS ranked
WHERE ranked.position
    <= CASE ranked.side WHEN 'train' THEN CAST(:most_train AS BIGINT) ELSE CAST(:most_validation AS BIGINT) END

-- name: count_triplets
SELECT COUNT(*) AS items
FROM drawing_triplets

-- name: list_drawn
SELECT
    drawing_drawn.side,
    drawing_drawn.position,
    drawing_drawn.query_key,
    drawing_drawn.corpus_id,
    drawing_drawn.query_id,
    drawing_drawn.paper_id,
    drawing_drawn.positive,
    drawing_drawn.negative
FROM drawing_drawn
ORDER BY drawing_drawn.side, drawing_drawn.position

-- name: list_query_texts
SELECT drawing_asked.query_key, drawing_asked.text
FROM drawing_asked
WHERE drawing_asked.text IS NOT NULL
    AND drawing_asked.query_key IN (SELECT drawing_drawn.query_key FROM drawing_drawn)
