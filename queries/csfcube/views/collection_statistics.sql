-- Table 1 of the paper, over all queries and by facet: counts of the release as it is. Paper 8781666, which is
-- in both of its own pools and is no candidate of the benchmark, is counted here, as the paper counts it.
WITH graded AS (
    SELECT
        queries.query_id,
        queries.paper_id,
        queries.facet,
        COUNT(judged_papers.paper_id) AS pool_size,
        COUNT(CASE WHEN judged_papers.grade >= 1 THEN 1 END) AS at_least_1,
        COUNT(CASE WHEN judged_papers.grade >= 2 THEN 1 END) AS at_least_2,
        COUNT(CASE WHEN judged_papers.grade = 1 THEN 1 END) AS exactly_1
    FROM csfcube.queries AS queries
    LEFT JOIN judged_papers
        ON queries.query_id = judged_papers.query_id
        AND judged_papers.corpus = 'csfcube'
        AND judged_papers.assessor = 'adjudicated'
    GROUP BY queries.query_id, queries.paper_id, queries.facet
),

grouped AS (
    SELECT query_id, paper_id, facet, pool_size, at_least_1, at_least_2, exactly_1 FROM graded
    UNION ALL
    SELECT query_id, paper_id, 'all' AS facet, pool_size, at_least_1, at_least_2, exactly_1 FROM graded
),

-- Sums are divided as doubles: the mean of whole numbers is a decimal of 16 digits on Postgres.
counted AS (
    SELECT
        facet,
        CAST(COUNT(*) AS DOUBLE PRECISION) AS queries,
        COUNT(DISTINCT paper_id) AS papers,
        CAST(SUM(pool_size) AS DOUBLE PRECISION) AS pairs,
        MIN(at_least_1) AS min_1,
        MAX(at_least_1) AS max_1,
        CAST(SUM(at_least_1) AS DOUBLE PRECISION) AS sum_1,
        MIN(at_least_2) AS min_2,
        MAX(at_least_2) AS max_2,
        CAST(SUM(at_least_2) AS DOUBLE PRECISION) AS sum_2,
        MIN(exactly_1) AS min_exactly_1,
        MAX(exactly_1) AS max_exactly_1,
        CAST(SUM(exactly_1) AS DOUBLE PRECISION) AS sum_exactly_1
    FROM grouped
    GROUP BY facet
)

SELECT facet, 'query-facet pairs' AS statistic, queries AS value FROM counted
UNION ALL
SELECT facet, 'query papers' AS statistic, CAST(papers AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'mean pool size' AS statistic, pairs / queries AS value FROM counted
UNION ALL
SELECT facet, 'judged pairs' AS statistic, pairs AS value FROM counted
UNION ALL
SELECT facet, 'rated 1 or more, min' AS statistic, CAST(min_1 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated 1 or more, max' AS statistic, CAST(max_1 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated 1 or more, mean' AS statistic, sum_1 / queries AS value FROM counted
UNION ALL
SELECT facet, 'rated 2 or more, min' AS statistic, CAST(min_2 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated 2 or more, max' AS statistic, CAST(max_2 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated 2 or more, mean' AS statistic, sum_2 / queries AS value FROM counted
UNION ALL
SELECT facet, 'rated exactly 1, min' AS statistic, CAST(min_exactly_1 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated exactly 1, max' AS statistic, CAST(max_exactly_1 AS DOUBLE PRECISION) AS value FROM counted
UNION ALL
SELECT facet, 'rated exactly 1, mean' AS statistic, sum_exactly_1 / queries AS value FROM counted
