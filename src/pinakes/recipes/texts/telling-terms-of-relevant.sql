-- Which terms tell the papers that are relevant to a query from the others of its pool?
--
-- The pool is the papers that were judged for it; a term counts by its mean weight among those graded above zero, less that among the
-- rest. What stands above and is not in the query is what a better query would say.
--
-- {index}: index (synthetic/sparse_bm25/title_abstract)
-- {benchmark}: benchmark (synthetic)
-- {query}: text (qry-00000001)
-- {limit}: number = 10
WITH judged AS (
    SELECT paper_id, CASE WHEN grade > 0 THEN 1 ELSE 0 END AS is_relevant
    FROM {benchmark}.judgments
    WHERE query_id = '{query}'
),

sizes AS (
    SELECT SUM(is_relevant) AS relevant, COUNT(*) - SUM(is_relevant) AS others
    FROM judged
),

weighed AS (
    SELECT
        indexed_terms.term,
        SUM(judged.is_relevant) AS relevant_papers,
        COUNT(*) - SUM(judged.is_relevant) AS other_papers,
        SUM(judged.is_relevant * postings.weight) AS relevant_weight,
        SUM((1 - judged.is_relevant) * postings.weight) AS other_weight
    FROM judged
    INNER JOIN postings ON judged.paper_id = postings.paper_id
    INNER JOIN indexed_terms ON postings.term_id = indexed_terms.term_id
    INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
    WHERE term_indexes.name = '{index}'
    GROUP BY indexed_terms.term
)

SELECT
    weighed.term,
    CAST(weighed.relevant_papers AS INTEGER) AS relevant_papers,
    CAST(weighed.other_papers AS INTEGER) AS other_papers,
    CAST(
        weighed.relevant_weight / NULLIF(sizes.relevant, 0)
        - COALESCE(weighed.other_weight / NULLIF(sizes.others, 0), 0) AS DECIMAL(9, 4)
    ) AS difference
FROM weighed
CROSS JOIN sizes
WHERE sizes.relevant > 0
ORDER BY difference DESC, weighed.term
LIMIT {limit}
