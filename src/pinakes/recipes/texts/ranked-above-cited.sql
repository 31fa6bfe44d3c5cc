-- Which candidates does a system rank above the papers that the query cites?
--
-- With their types and titles, those first that stand above the most cited papers: the list to read before calling a
-- candidate a negative.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {system}: system (bm25)
-- {limit}: number = 50
WITH ranked AS (
    SELECT hits.query_id, hits.paper_id, hits.rank, candidate_types.source
    FROM hits
    INNER JOIN candidate_types
        ON hits.query_id = candidate_types.query_id
        AND hits.paper_id = candidate_types.paper_id
    WHERE hits.run_id = (SELECT MAX(run_id) FROM runs WHERE benchmark = '{benchmark}' AND system = '{system}')
        AND candidate_types.benchmark = '{benchmark}'
)
SELECT
    above.query_id,
    above.rank,
    COUNT(*) AS cited_below,
    above.source,
    papers.source_id,
    papers.title
FROM ranked AS above
INNER JOIN ranked AS cited ON above.query_id = cited.query_id AND above.rank < cited.rank
INNER JOIN papers ON above.paper_id = papers.paper_id
WHERE above.source <> 'cited' AND cited.source = 'cited'
GROUP BY above.query_id, above.rank, above.source, papers.source_id, papers.title
ORDER BY cited_below DESC, above.query_id, above.rank
LIMIT {limit}
