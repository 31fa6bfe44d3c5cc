-- Which papers answer a text best, by BM25 as a join?
--
-- Over an index that `pinakes index --postings` wrote down. A paper's score is the sum of the weights of the text's terms; `sparse_bm25`
-- gives the same up to the rounding of 32-bit floats. `--recipe` takes any text and writes its terms into the query, as the index
-- makes them of words.
--
-- {index}: index (synthetic/sparse_bm25/title_abstract)
-- {text}: terms (elector turnout divid societi)
-- {limit}: number = 10
WITH words AS (SELECT UNNEST(STRING_TO_ARRAY('{text}', ' ')) AS term),

asked AS (
    SELECT indexed_terms.term_id, COUNT(*) AS times
    FROM words
    INNER JOIN indexed_terms ON words.term = indexed_terms.term
    INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
    WHERE term_indexes.name = '{index}'
    GROUP BY indexed_terms.term_id
),

scored AS (
    SELECT postings.paper_id, COUNT(*) AS terms, SUM(asked.times * postings.weight) AS score
    FROM asked
    INNER JOIN postings ON asked.term_id = postings.term_id
    GROUP BY postings.paper_id
),

placed AS (
    SELECT paper_id, terms, score, RANK() OVER (ORDER BY CAST(score AS REAL) DESC) AS place
    FROM scored
)

SELECT papers.source_id, papers.title, placed.terms, CAST(placed.score AS DECIMAL(9, 4)) AS score
FROM placed
INNER JOIN papers ON placed.paper_id = papers.paper_id
WHERE placed.place <= {limit}
ORDER BY placed.place, papers.source_id DESC
LIMIT {limit}
