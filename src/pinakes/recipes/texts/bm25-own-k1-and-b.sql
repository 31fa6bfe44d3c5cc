-- Which papers answer a text best, by BM25 with another k1 and b?
--
-- Frequencies, lengths and idf are enough; `place_before` is the rank with the k1 and b of the stored weights, the
-- same for equal scores.
--
-- {index}: index (synthetic/sparse_bm25/title_abstract)
-- {text}: terms (elector turnout divid societi)
-- {k1}: number = 0.9
-- {b}: number = 0.4
-- {limit}: number = 10
WITH words AS (SELECT UNNEST(STRING_TO_ARRAY('{text}', ' ')) AS term),

asked AS (
    SELECT
        indexed_terms.term_id,
        indexed_terms.side_index_id,
        indexed_terms.idf,
        term_indexes.average_length,
        COUNT(*) AS times
    FROM words
    INNER JOIN indexed_terms ON words.term = indexed_terms.term
    INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
    WHERE term_indexes.name = '{index}'
    GROUP BY
        indexed_terms.term_id, indexed_terms.side_index_id, indexed_terms.idf, term_indexes.average_length
),

tuning AS (SELECT CAST({k1} AS DOUBLE PRECISION) AS k1, CAST({b} AS DOUBLE PRECISION) AS b),

scored AS (
    SELECT
        postings.paper_id,
        SUM(asked.times * postings.weight) AS stored_score,
        SUM(
            asked.times * asked.idf * postings.frequency * (tuning.k1 + 1)
            / (
                postings.frequency
                + tuning.k1 * (1 - tuning.b + tuning.b * indexed_papers.length / asked.average_length)
            )
        ) AS score
    FROM asked
    INNER JOIN postings ON asked.term_id = postings.term_id
    INNER JOIN indexed_papers
        ON asked.side_index_id = indexed_papers.side_index_id
        AND postings.paper_id = indexed_papers.paper_id
    CROSS JOIN tuning
    GROUP BY postings.paper_id
),

placed AS (
    SELECT
        paper_id,
        score,
        RANK() OVER (ORDER BY CAST(score AS REAL) DESC) AS place,
        RANK() OVER (ORDER BY CAST(stored_score AS REAL) DESC) AS place_before
    FROM scored
)

SELECT papers.source_id, papers.title, placed.place_before, CAST(placed.score AS DECIMAL(9, 4)) AS score
FROM placed
INNER JOIN papers ON placed.paper_id = papers.paper_id
WHERE placed.place <= {limit}
ORDER BY placed.place, papers.source_id DESC
LIMIT {limit}
