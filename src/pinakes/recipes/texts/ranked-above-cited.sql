-- Which candidates does a system rank above the papers that the query cites?
--
-- With their types and titles, those first that stand above the most cited papers: the list to read before calling a
-- candidate a negative.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {system}: system (bm25)
-- {limit}: number = 50
WITH ranked AS (
    SELECT
        hits.query_id,
        hits.paper_id,
        hits.rank,
        candidate_types.source,
        COUNT(CASE WHEN candidate_types.source = 'cited' THEN 1 END) OVER (PARTITION BY hits.query_id)
        - COUNT(CASE WHEN candidate_types.source = 'cited' THEN 1 END) OVER (
            PARTITION BY hits.query_id ORDER BY hits.rank
        ) AS cited_below
    FROM hits
    INNER JOIN candidate_types
        ON hits.query_id = candidate_types.query_id
        AND hits.paper_id = candidate_types.paper_id
    WHERE hits.run_id = (SELECT MAX(run_id) FROM runs WHERE benchmark = '{benchmark}' AND system = '{system}')
        AND candidate_types.benchmark = '{benchmark}'
)
SELECT
    ranked.query_id,
    ranked.rank,
    ranked.cited_below,
    ranked.source,
    papers.source_id,
    papers.title
FROM ranked
INNER JOIN papers ON ranked.paper_id = papers.paper_id
WHERE ranked.source <> 'cited' AND ranked.cited_below > 0
ORDER BY ranked.cited_below DESC, ranked.query_id, ranked.rank
LIMIT {limit}
