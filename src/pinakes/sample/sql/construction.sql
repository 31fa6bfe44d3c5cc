-- MDCR's candidates, constructed anew (Medić and Šnajder 2022, section 4.1). Random order is that of md5 over the
-- sources' own ids, so that both databases draw alike. `construction_offers` has for each query the papers that a
-- type would draw, the first at place 1; `take` gives it those that no earlier type has taken.

-- name: make_queries
-- The test queries, each with the name that it has in the first of its field's pools.
CREATE {scratch} TABLE construction_queries AS
SELECT
    sampled_queries.query_id,
    sampled_queries.paper_id,
    sampled_queries.field,
    pools.pool || '/' || sampled_queries.query_id AS ranked_id
FROM sampled_queries
INNER JOIN pools
    ON sampled_queries.benchmark = pools.benchmark
    AND sampled_queries.fold = pools.fold
    AND sampled_queries.field = pools.field
    AND pools.repeat = 1
WHERE sampled_queries.benchmark = :drawn_from AND sampled_queries.fold = 'test'

-- name: make_cited
CREATE {scratch} TABLE construction_cited AS
SELECT construction_queries.query_id, sampled_citations.paper_id, papers.source_id
FROM construction_queries
INNER JOIN sampled_citations
    ON sampled_citations.benchmark = :drawn_from
    AND construction_queries.query_id = sampled_citations.query_id
INNER JOIN papers ON sampled_citations.paper_id = papers.paper_id

-- name: make_refused
-- What can be no negative: all that the query cites, and the query itself.
CREATE {scratch} TABLE construction_refused AS
SELECT construction_cited.query_id, construction_cited.paper_id
FROM construction_cited
UNION
SELECT construction_queries.query_id, construction_queries.paper_id
FROM construction_queries

-- name: make_papers
-- What can be a negative: what passes the pre-filter and is of no later year than the queries.
CREATE {scratch} TABLE construction_papers AS
WITH prefiltered AS (
    {prefiltered_papers}
)
SELECT prefiltered.paper_id, prefiltered.source_id
FROM prefiltered
INNER JOIN samplings ON prefiltered.benchmark = samplings.benchmark
WHERE prefiltered.benchmark = :benchmark AND prefiltered.year <= samplings.year

-- name: make_links
-- In order, since citations are stored nearly so: then Postgres tells links apart in half the time of a hash table.
CREATE {scratch} TABLE construction_links AS
SELECT citation_links.citing_paper_id, citation_links.cited_paper_id
FROM citation_links
WHERE citation_links.citing_paper_id <> citation_links.cited_paper_id
ORDER BY citation_links.citing_paper_id, citation_links.cited_paper_id

-- name: make_tops
-- The negatives among the best of each run for each query: of its best candidates, cited ones included, or, with
-- `top_of` negatives, the best negatives. The query itself has no place.
CREATE {scratch} TABLE construction_tops AS
SELECT placed.run_id, placed.query_id, placed.paper_id
FROM (
    SELECT
        hits.run_id,
        construction_queries.query_id,
        hits.paper_id,
        construction_refused.paper_id IS NULL AS is_negative,
        ROW_NUMBER() OVER (
            PARTITION BY
                hits.run_id,
                construction_queries.query_id,
                CAST(:top_of AS TEXT) = 'negatives' AND construction_refused.paper_id IS NULL
            ORDER BY hits.rank
        ) AS place
    FROM hits
    INNER JOIN construction_runs ON hits.run_id = construction_runs.run_id
    INNER JOIN construction_queries ON hits.query_id = construction_queries.ranked_id
    LEFT JOIN construction_refused
        ON construction_queries.query_id = construction_refused.query_id
        AND hits.paper_id = construction_refused.paper_id
    WHERE hits.paper_id <> construction_queries.paper_id
) AS placed
WHERE placed.place <= :top AND placed.is_negative

-- name: compare_runs
-- Each run with the mean Jaccard index of its best negatives and another run's, over the other runs and the
-- queries that both answer. Added up in whole trillionths, since a sum of doubles depends on their order.
WITH sizes AS (
    SELECT construction_tops.run_id, construction_tops.query_id, COUNT(*) AS size
    FROM construction_tops
    GROUP BY construction_tops.run_id, construction_tops.query_id
),
shared AS (
    SELECT one.run_id, other.run_id AS other_run_id, one.query_id, COUNT(*) AS size
    FROM construction_tops AS one
    INNER JOIN construction_tops AS other
        ON one.query_id = other.query_id AND one.paper_id = other.paper_id AND one.run_id < other.run_id
    GROUP BY one.run_id, other.run_id, one.query_id
),
compared AS (
    SELECT
        one.run_id,
        other.run_id AS other_run_id,
        CAST(
            CAST(1000000000000 AS DOUBLE PRECISION) * COALESCE(shared.size, 0)
            / (one.size + other.size - COALESCE(shared.size, 0)) AS BIGINT
        ) AS jaccard
    FROM sizes AS one
    INNER JOIN sizes AS other ON one.query_id = other.query_id AND one.run_id < other.run_id
    LEFT JOIN shared
        ON one.run_id = shared.run_id
        AND other.run_id = shared.other_run_id
        AND one.query_id = shared.query_id
),
both_ways AS (
    SELECT compared.run_id, compared.jaccard FROM compared
    UNION ALL
    SELECT compared.other_run_id AS run_id, compared.jaccard FROM compared
),
means AS (
    SELECT
        both_ways.run_id,
        CAST(SUM(both_ways.jaccard) AS DOUBLE PRECISION)
        / (COUNT(*) * CAST(1000000000000 AS DOUBLE PRECISION)) AS mean_jaccard
    FROM both_ways
    GROUP BY both_ways.run_id
),
answered AS (
    SELECT sizes.run_id, COUNT(*) AS queries FROM sizes GROUP BY sizes.run_id
)
SELECT
    construction_runs.run_id,
    construction_runs.system,
    COALESCE(answered.queries, 0) AS queries,
    means.mean_jaccard
FROM construction_runs
LEFT JOIN answered ON construction_runs.run_id = answered.run_id
LEFT JOIN means ON construction_runs.run_id = means.run_id
ORDER BY
    CASE WHEN means.mean_jaccard IS NULL THEN 1 ELSE 0 END,
    means.mean_jaccard,
    construction_runs.system

-- name: make_neighbours
-- What the cited papers cite and are cited by.
CREATE {scratch} TABLE construction_neighbours AS
WITH cited AS (
    SELECT DISTINCT construction_cited.paper_id FROM construction_cited
)
SELECT cited.paper_id AS cited_paper_id, construction_links.cited_paper_id AS paper_id
FROM cited
INNER JOIN construction_links ON cited.paper_id = construction_links.citing_paper_id
UNION
SELECT cited.paper_id AS cited_paper_id, construction_links.citing_paper_id AS paper_id
FROM cited
INNER JOIN construction_links ON cited.paper_id = construction_links.cited_paper_id

-- name: make_walk
-- For each query the cited papers in the order of their overlap similarity: that of the neighbours they share
-- with the query, since what these are divided by is one number a query. The walk ends with a paper that has
-- neighbours enough by itself, whatever the query refuses.
CREATE {scratch} TABLE construction_walk AS
WITH similarity AS (
    SELECT construction_cited.query_id, construction_cited.paper_id, COUNT(*) AS shared
    FROM construction_cited
    INNER JOIN construction_cited AS other ON construction_cited.query_id = other.query_id
    INNER JOIN construction_neighbours
        ON construction_cited.paper_id = construction_neighbours.cited_paper_id
        AND other.paper_id = construction_neighbours.paper_id
    GROUP BY construction_cited.query_id, construction_cited.paper_id
),
usable AS (
    SELECT construction_neighbours.cited_paper_id, COUNT(*) AS papers
    FROM construction_neighbours
    INNER JOIN construction_papers ON construction_neighbours.paper_id = construction_papers.paper_id
    GROUP BY construction_neighbours.cited_paper_id
),
refused AS (
    SELECT construction_refused.query_id, COUNT(*) AS papers
    FROM construction_refused
    GROUP BY construction_refused.query_id
),
ordered AS (
    SELECT
        construction_cited.query_id,
        construction_cited.paper_id,
        CASE WHEN usable.papers - refused.papers >= :offers THEN 1 ELSE 0 END AS is_enough,
        ROW_NUMBER() OVER (
            PARTITION BY construction_cited.query_id
            ORDER BY COALESCE(similarity.shared, 0) DESC, construction_cited.source_id
        ) AS place
    FROM construction_cited
    INNER JOIN usable ON construction_cited.paper_id = usable.cited_paper_id
    INNER JOIN refused ON construction_cited.query_id = refused.query_id
    LEFT JOIN similarity
        ON construction_cited.query_id = similarity.query_id
        AND construction_cited.paper_id = similarity.paper_id
),
ended AS (
    SELECT
        ordered.query_id,
        ordered.paper_id,
        ordered.place,
        SUM(ordered.is_enough) OVER (PARTITION BY ordered.query_id ORDER BY ordered.place) - ordered.is_enough
            AS enough_before
    FROM ordered
)
SELECT ended.query_id, ended.paper_id AS cited_paper_id, ended.place
FROM ended
WHERE ended.enough_before = 0

-- name: make_numbers
-- The papers in the one random order that random candidates are dealt from.
CREATE {scratch} TABLE construction_numbers AS
SELECT
    construction_papers.paper_id,
    construction_papers.source_id,
    ROW_NUMBER() OVER (
        ORDER BY
            CAST(
                md5(construction_papers.source_id || ':' || CAST(:source AS TEXT) || ':' || CAST(:seed AS TEXT))
                AS UUID
            ),
            construction_papers.paper_id
    ) AS number
FROM construction_papers

-- name: make_offers
-- What the block of a type offers (query_id, paper_id, source_id, priority) in the order of priority, then of md5.
-- No negative is cited by its query.
CREATE {scratch} TABLE construction_offers AS
WITH offered AS (
    {offered}
),
ordered AS (
    SELECT
        offered.query_id,
        offered.paper_id,
        ROW_NUMBER() OVER (
            PARTITION BY offered.query_id
            ORDER BY
                offered.priority,
                md5(
                    offered.query_id || ':' || offered.source_id || ':' || CAST(:source AS TEXT) || ':'
                    || CAST(:seed AS TEXT)
                ),
                offered.paper_id
        ) AS place
    FROM offered
    LEFT JOIN construction_refused
        ON offered.query_id = construction_refused.query_id
        AND offered.paper_id = construction_refused.paper_id
    WHERE construction_refused.paper_id IS NULL OR CAST(:source AS TEXT) = 'cited'
)
SELECT ordered.query_id, ordered.paper_id, ordered.place
FROM ordered
WHERE ordered.place <= :offers

-- name: offer_cited
-- Papers without a word are not requested.
SELECT construction_cited.query_id, construction_cited.paper_id, construction_cited.source_id, 0 AS priority
FROM construction_cited
INNER JOIN construction_queries ON construction_cited.query_id = construction_queries.query_id
INNER JOIN papers ON construction_cited.paper_id = papers.paper_id
WHERE construction_cited.paper_id <> construction_queries.paper_id
    AND (TRIM(COALESCE(papers.title, '')) <> '' OR TRIM(COALESCE(papers.abstract, '')) <> '')

-- name: offer_model
SELECT construction_tops.query_id, construction_tops.paper_id, construction_papers.source_id, 0 AS priority
FROM construction_tops
INNER JOIN construction_queries ON construction_tops.query_id = construction_queries.query_id
INNER JOIN construction_papers ON construction_tops.paper_id = construction_papers.paper_id
WHERE construction_tops.run_id = :run_id

-- name: offer_graph
SELECT
    construction_walk.query_id,
    construction_papers.paper_id,
    construction_papers.source_id,
    MIN(construction_walk.place) AS priority
FROM construction_walk
INNER JOIN construction_queries ON construction_walk.query_id = construction_queries.query_id
INNER JOIN construction_neighbours
    ON construction_walk.cited_paper_id = construction_neighbours.cited_paper_id
INNER JOIN construction_papers ON construction_neighbours.paper_id = construction_papers.paper_id
GROUP BY construction_walk.query_id, construction_papers.paper_id, construction_papers.source_id

-- name: offer_most_cited
-- Only papers with as many citations as the last that is taken of a field, or more, are put in order.
WITH counts AS (
    SELECT construction_links.cited_paper_id AS paper_id, COUNT(*) AS citations
    FROM construction_links
    GROUP BY construction_links.cited_paper_id
),
counted AS (
    SELECT paper_fields.field, construction_papers.paper_id, construction_papers.source_id, counts.citations
    FROM construction_papers
    INNER JOIN counts ON construction_papers.paper_id = counts.paper_id
    INNER JOIN paper_fields ON construction_papers.paper_id = paper_fields.paper_id
    INNER JOIN samplings
        ON samplings.benchmark = :benchmark AND paper_fields.assigned_by = samplings.assigned_by
),
sizes AS (
    SELECT counted.field, counted.citations, COUNT(*) AS papers
    FROM counted
    GROUP BY counted.field, counted.citations
),
bounds AS (
    SELECT summed.field, MIN(summed.citations) AS citations
    FROM (
        SELECT
            sizes.field,
            sizes.citations,
            SUM(sizes.papers) OVER (PARTITION BY sizes.field ORDER BY sizes.citations DESC) - sizes.papers
                AS papers_above
        FROM sizes
    ) AS summed
    WHERE summed.papers_above < :most_cited
    GROUP BY summed.field
),
ranked AS (
    SELECT
        counted.field,
        counted.paper_id,
        counted.source_id,
        ROW_NUMBER() OVER (
            PARTITION BY counted.field
            ORDER BY counted.citations DESC, counted.source_id
        ) AS place
    FROM counted
    INNER JOIN bounds ON counted.field = bounds.field AND counted.citations >= bounds.citations
)
SELECT construction_queries.query_id, ranked.paper_id, ranked.source_id, 0 AS priority
FROM construction_queries
INNER JOIN ranked ON construction_queries.field = ranked.field AND ranked.place <= :most_cited

-- name: offer_random
-- To hash each query with each paper is out of the question: the papers lie in one random order, and the draws
-- of all queries, in a random order too, take them one after the other.
WITH draws AS (
    SELECT
        construction_queries.query_id,
        counted.draw,
        ROW_NUMBER() OVER (
            ORDER BY
                md5(
                    construction_queries.query_id || ':' || CAST(counted.draw AS TEXT) || ':'
                    || CAST(:source AS TEXT) || ':' || CAST(:seed AS TEXT)
                ),
                construction_queries.query_id,
                counted.draw
        ) AS number
    FROM construction_queries
    CROSS JOIN generate_series(1, CAST(:draws AS INTEGER)) AS counted (draw)
),
counted_papers AS (
    SELECT NULLIF(COUNT(*), 0) AS papers FROM construction_numbers
)
SELECT
    draws.query_id,
    construction_numbers.paper_id,
    construction_numbers.source_id,
    MIN(draws.draw) AS priority
FROM draws
CROSS JOIN counted_papers
INNER JOIN construction_numbers
    ON MOD(draws.number - 1, counted_papers.papers) + 1 = construction_numbers.number
GROUP BY draws.query_id, construction_numbers.paper_id, construction_numbers.source_id

-- name: count_clashes
INSERT INTO construction_clashes (benchmark, source, kept_source, clashes)
SELECT
    constructed_candidates.benchmark,
    CAST(:source AS TEXT),
    constructed_candidates.source,
    COUNT(*)
FROM construction_offers
INNER JOIN constructed_candidates
    ON constructed_candidates.benchmark = :benchmark
    AND construction_offers.query_id = constructed_candidates.query_id
    AND construction_offers.paper_id = constructed_candidates.paper_id
WHERE construction_offers.place <= :wanted
GROUP BY constructed_candidates.benchmark, constructed_candidates.source

-- name: take
INSERT INTO constructed_candidates (benchmark, query_id, paper_id, source, position)
WITH free AS (
    SELECT
        construction_offers.query_id,
        construction_offers.paper_id,
        ROW_NUMBER() OVER (
            PARTITION BY construction_offers.query_id ORDER BY construction_offers.place
        ) AS position
    FROM construction_offers
    LEFT JOIN constructed_candidates
        ON constructed_candidates.benchmark = :benchmark
        AND construction_offers.query_id = constructed_candidates.query_id
        AND construction_offers.paper_id = constructed_candidates.paper_id
    WHERE constructed_candidates.paper_id IS NULL
)
SELECT CAST(:benchmark AS TEXT), free.query_id, free.paper_id, CAST(:source AS TEXT), free.position
FROM free
WHERE free.position <= :wanted

-- name: drop_unanswerable
-- A query that nothing relevant is left of is none.
DELETE FROM construction_queries
WHERE query_id NOT IN (
    SELECT constructed_candidates.query_id
    FROM constructed_candidates
    WHERE constructed_candidates.benchmark = :benchmark AND constructed_candidates.source = 'cited'
)

-- name: keep_queries
-- Those with a negative besides.
INSERT INTO sampled_queries (benchmark, query_id, paper_id, field, fold)
SELECT
    CAST(:benchmark AS TEXT),
    construction_queries.query_id,
    construction_queries.paper_id,
    construction_queries.field,
    'test'
FROM construction_queries
WHERE construction_queries.query_id IN (
    SELECT constructed_candidates.query_id
    FROM constructed_candidates
    WHERE constructed_candidates.benchmark = :benchmark AND constructed_candidates.source <> 'cited'
)

-- name: drop_candidates
DELETE FROM constructed_candidates
WHERE benchmark = :benchmark
    AND query_id NOT IN (
        SELECT sampled_queries.query_id FROM sampled_queries WHERE sampled_queries.benchmark = :benchmark
    )

-- name: keep_citations
INSERT INTO sampled_citations (benchmark, query_id, paper_id)
SELECT sampled_queries.benchmark, construction_cited.query_id, construction_cited.paper_id
FROM sampled_queries
INNER JOIN construction_cited ON sampled_queries.query_id = construction_cited.query_id
WHERE sampled_queries.benchmark = :benchmark

-- name: count_types
-- For each type its candidates, and the queries that have as many as were asked for.
SELECT
    counted.source,
    CAST(SUM(counted.candidates) AS BIGINT) AS candidates,
    COUNT(CASE WHEN counted.candidates >= CASE WHEN counted.source = 'cited' THEN :cited ELSE :negatives END THEN 1 END)
        AS complete
FROM (
    SELECT constructed_candidates.source, constructed_candidates.query_id, COUNT(*) AS candidates
    FROM constructed_candidates
    WHERE constructed_candidates.benchmark = :benchmark
    GROUP BY constructed_candidates.source, constructed_candidates.query_id
) AS counted
GROUP BY counted.source
ORDER BY counted.source

-- name: list_clashes
SELECT construction_clashes.source, construction_clashes.kept_source, construction_clashes.clashes
FROM construction_clashes
WHERE construction_clashes.benchmark = :benchmark
ORDER BY construction_clashes.source, construction_clashes.kept_source

-- name: count_queries
SELECT
    (SELECT COUNT(*) FROM sampled_queries WHERE benchmark = :drawn_from AND fold = 'test') AS sampled,
    (SELECT COUNT(*) FROM sampled_queries WHERE benchmark = :benchmark) AS kept
