-- Queries and pools drawn from a corpus (Medić and Šnajder 2022, section 3). A pool without a field has the field ''.
-- Random order is that of md5, so that both databases draw alike.

-- name: make_links
-- A paper that cites itself cites nothing by that.
-- In order, since citations are stored nearly so: then Postgres tells links apart in half the time of a hash table.
CREATE {scratch} TABLE sampling_links AS
SELECT citation_links.citing_paper_id, citation_links.cited_paper_id
FROM citation_links
WHERE citation_links.citing_paper_id <> citation_links.cited_paper_id
ORDER BY citation_links.citing_paper_id, citation_links.cited_paper_id

-- name: make_papers
CREATE {scratch} TABLE sampling_papers AS
WITH prefiltered AS (
    {prefiltered_papers}
)
SELECT prefiltered.paper_id, prefiltered.source_id, prefiltered.year
FROM prefiltered
WHERE prefiltered.benchmark = :benchmark AND prefiltered.year <= :year

-- name: make_citing
-- What the papers of the year cite. A cited paper without a word cannot be found.
CREATE {scratch} TABLE sampling_citing AS
SELECT sampling_links.citing_paper_id, sampling_links.cited_paper_id
FROM sampling_links
INNER JOIN sampling_papers ON sampling_links.citing_paper_id = sampling_papers.paper_id
INNER JOIN papers ON sampling_links.cited_paper_id = papers.paper_id
WHERE sampling_papers.year = :year
    AND papers.corpus_id = :corpus_id
    AND (TRIM(COALESCE(papers.title, '')) <> '' OR TRIM(COALESCE(papers.abstract, '')) <> '')

-- name: draw_queries
-- Where there are validation queries, md5 halves the papers, so that no paper is of both folds in two fields. A paper
-- is excluded by the id of one that was merged into it, too.
INSERT INTO sampled_queries (benchmark, query_id, paper_id, field, fold)
WITH citing AS (
    SELECT sampling_citing.citing_paper_id AS paper_id
    FROM sampling_citing
    GROUP BY sampling_citing.citing_paper_id
    HAVING COUNT(*) >= :min_cited
),
fields AS (
    SELECT paper_fields.paper_id, paper_fields.field
    FROM paper_fields
    WHERE paper_fields.assigned_by = CAST(:assigned_by AS TEXT)
    UNION ALL
    SELECT citing.paper_id, '' AS field
    FROM citing
    WHERE CAST(:assigned_by AS TEXT) IS NULL
),
eligible AS (
    SELECT
        papers.paper_id,
        papers.source_id,
        fields.field,
        CASE
            WHEN :validation_count = 0 OR SUBSTR(md5(papers.source_id || ':' || CAST(:fold_key AS TEXT)), 1, 1) < '8'
                THEN 'test'
            ELSE 'validation'
        END AS fold
    FROM citing
    INNER JOIN sampling_papers AS papers ON citing.paper_id = papers.paper_id
    INNER JOIN fields ON citing.paper_id = fields.paper_id
    WHERE NOT EXISTS (
        SELECT 1
        FROM sampling_exclusions
        INNER JOIN papers AS excluded
            ON sampling_exclusions.source_id = excluded.source_id AND excluded.corpus_id = :corpus_id
        LEFT JOIN duplicate_papers ON excluded.paper_id = duplicate_papers.paper_id
        WHERE sampling_exclusions.benchmark = :benchmark
            AND COALESCE(duplicate_papers.kept_paper_id, excluded.paper_id) = papers.paper_id
    )
),
ranked AS (
    SELECT
        eligible.paper_id,
        eligible.source_id,
        eligible.field,
        eligible.fold,
        ROW_NUMBER() OVER (
            PARTITION BY eligible.fold, eligible.field
            ORDER BY CAST(md5(eligible.source_id || ':' || CAST(:query_key AS TEXT)) AS UUID), eligible.paper_id
        ) AS position
    FROM eligible
)
SELECT
    :benchmark,
    ranked.source_id || CASE WHEN ranked.field = '' THEN '' ELSE '_' || REPLACE(ranked.field, ' ', '_') END,
    ranked.paper_id,
    NULLIF(ranked.field, ''),
    ranked.fold
FROM ranked
WHERE ranked.position <= CASE WHEN ranked.fold = 'test' THEN :query_count ELSE :validation_count END

-- name: keep_citations
INSERT INTO sampled_citations (benchmark, query_id, paper_id)
SELECT sampled_queries.benchmark, sampled_queries.query_id, sampling_citing.cited_paper_id
FROM sampled_queries
INNER JOIN sampling_citing ON sampled_queries.paper_id = sampling_citing.citing_paper_id
WHERE sampled_queries.benchmark = :benchmark

-- name: make_fields
-- The fields that have queries, numbered: papers are sorted by a number in half the time that a field's name takes.
-- A set of fields is the bits of a number, 60 fields a word.
CREATE {scratch} TABLE sampling_fields AS
SELECT
    numbered.field,
    numbered.number,
    CAST(FLOOR((numbered.number - 1) / 60.0) AS INTEGER) AS word,
    CAST(1 AS BIGINT) << CAST((numbered.number - 1) % 60 AS INTEGER) AS bit
FROM (
    SELECT named.field, CAST(ROW_NUMBER() OVER (ORDER BY named.field) AS INTEGER) AS number
    FROM (
        SELECT DISTINCT COALESCE(sampled_queries.field, '') AS field
        FROM sampled_queries
        WHERE sampled_queries.benchmark = :benchmark
    ) AS named
) AS numbered

-- name: make_cited
-- With what md5 orders a paper of the field by, but for the key of the order.
CREATE {scratch} TABLE sampling_cited AS
SELECT cited.fold, cited.number, cited.paper_id, papers.source_id || ':' || sampling_fields.field || ':' AS hashed
FROM (
    SELECT DISTINCT sampled_queries.fold, sampling_fields.number, sampled_citations.paper_id
    FROM sampled_queries
    INNER JOIN sampled_citations
        ON sampled_queries.benchmark = sampled_citations.benchmark
        AND sampled_queries.query_id = sampled_citations.query_id
    INNER JOIN sampling_fields ON COALESCE(sampled_queries.field, '') = sampling_fields.field
    WHERE sampled_queries.benchmark = :benchmark
) AS cited
INNER JOIN sampling_fields ON cited.number = sampling_fields.number
INNER JOIN papers ON cited.paper_id = papers.paper_id

-- name: make_sets
-- Each paper's fields that have queries.
CREATE {scratch} TABLE sampling_sets AS
SELECT paper_fields.paper_id, sampling_fields.word, BIT_OR(sampling_fields.bit) AS bits
FROM paper_fields
INNER JOIN sampling_fields ON paper_fields.field = sampling_fields.field
WHERE paper_fields.assigned_by = CAST(:assigned_by AS TEXT)
GROUP BY paper_fields.paper_id, sampling_fields.word

-- name: make_cited_sets
-- The fields of all papers that cite a paper: of sets there are fewer to tell apart than of single fields.
CREATE {scratch} TABLE sampling_cited_sets AS
SELECT sampling_links.cited_paper_id AS paper_id, sampling_sets.word, BIT_OR(sampling_sets.bits) AS bits
FROM sampling_links
INNER JOIN sampling_sets ON sampling_links.citing_paper_id = sampling_sets.paper_id
GROUP BY sampling_links.cited_paper_id, sampling_sets.word

-- name: make_scope
-- The papers that may fill a pool: all, or those that papers of the field cite.
CREATE {scratch} TABLE sampling_scope AS
SELECT sampling_fields.number, sampling_papers.paper_id, sampling_papers.source_id || '::' AS hashed
FROM sampling_papers
CROSS JOIN sampling_fields
WHERE CAST(:assigned_by AS TEXT) IS NULL
UNION ALL
SELECT
    sampling_fields.number,
    sampling_papers.paper_id,
    sampling_papers.source_id || ':' || sampling_fields.field || ':' AS hashed
FROM sampling_cited_sets
INNER JOIN sampling_papers ON sampling_cited_sets.paper_id = sampling_papers.paper_id
INNER JOIN sampling_fields
    ON sampling_cited_sets.word = sampling_fields.word AND (sampling_cited_sets.bits & sampling_fields.bit) <> 0

-- name: make_sizes
CREATE {scratch} TABLE sampling_sizes AS
SELECT sampling_scope.number, COUNT(*) AS papers
FROM sampling_scope
GROUP BY sampling_scope.number

-- name: make_bounds
-- The first two digits of an md5 value up to which a field has more papers than its largest pool, by `spare` standard
-- deviations of their number. `ff` is all.
CREATE {scratch} TABLE sampling_bounds AS
SELECT
    shares.number,
    SUBSTR('0123456789abcdef', 1 + CAST(FLOOR(shares.share / 16.0) AS INTEGER), 1)
    || SUBSTR('0123456789abcdef', 1 + CAST(shares.share % 16 AS INTEGER), 1) AS digits
FROM (
    SELECT
        sampling_sizes.number,
        GREATEST(
            0, LEAST(255, CAST(FLOOR(256.0 * (:largest + :spare * SQRT(:largest)) / sampling_sizes.papers) AS BIGINT))
        ) AS share
    FROM sampling_sizes
) AS shares

-- name: count_short
-- Fields whose bound left too few papers for their largest pool.
SELECT COUNT(*) AS fields
FROM sampling_sizes
LEFT JOIN (
    SELECT sampling_members.number, COUNT(*) AS papers
    FROM sampling_members
    GROUP BY sampling_members.number
) AS members ON sampling_sizes.number = members.number
WHERE sampling_sizes.papers > :largest AND COALESCE(members.papers, 0) < :largest

-- name: make_members
-- One random order for each field: what the fold's queries cite, then what fills the pool. What cannot be in a pool is
-- not sorted.
CREATE {scratch} TABLE sampling_members AS
WITH members AS (
    SELECT sampling_cited.number, sampling_cited.paper_id, sampling_cited.hashed, 0 AS is_drawn
    FROM sampling_cited
    WHERE sampling_cited.fold = :fold
    UNION ALL
    SELECT sampling_scope.number, sampling_scope.paper_id, sampling_scope.hashed, 1 AS is_drawn
    FROM sampling_scope
    INNER JOIN sampling_bounds ON sampling_scope.number = sampling_bounds.number
    WHERE SUBSTR(md5(sampling_scope.hashed || CAST(:member_key AS TEXT)), 1, 2) <= sampling_bounds.digits
        AND NOT EXISTS (
            SELECT 1 FROM sampling_cited
            WHERE sampling_cited.fold = :fold
                AND sampling_cited.number = sampling_scope.number
                AND sampling_cited.paper_id = sampling_scope.paper_id
        )
),
ordered AS (
    SELECT
        members.number,
        members.paper_id,
        members.is_drawn,
        ROW_NUMBER() OVER (
            PARTITION BY members.number
            ORDER BY
                members.is_drawn,
                CAST(md5(members.hashed || CAST(:member_key AS TEXT)) AS UUID),
                members.paper_id
        ) AS position
    FROM members
)
SELECT ordered.number, ordered.position, ordered.paper_id
FROM ordered
WHERE ordered.position <= :largest OR ordered.is_drawn = 0

-- name: keep_members
INSERT INTO pool_members (benchmark, sample, position, paper_id)
SELECT
    :benchmark,
    CASE WHEN sampling_fields.field = '' THEN '' ELSE REPLACE(sampling_fields.field, ' ', '_') || '/' END
    || CAST(:sample AS TEXT),
    sampling_members.position,
    sampling_members.paper_id
FROM sampling_members
INNER JOIN sampling_fields ON sampling_members.number = sampling_fields.number

-- name: count_available
-- For each fold and field that has queries: the papers that its pools may hold, and how many of these are cited.
SELECT
    folds.fold,
    sampling_fields.field,
    folds.queries,
    COALESCE(cited.papers, 0) AS cited,
    COALESCE(cited.papers, 0) + COALESCE(sampling_sizes.papers, 0) - COALESCE(both_ways.papers, 0) AS available
FROM (
    SELECT sampled_queries.fold, COALESCE(sampled_queries.field, '') AS field, COUNT(*) AS queries
    FROM sampled_queries
    WHERE sampled_queries.benchmark = :benchmark
    GROUP BY sampled_queries.fold, COALESCE(sampled_queries.field, '')
) AS folds
INNER JOIN sampling_fields ON folds.field = sampling_fields.field
LEFT JOIN (
    SELECT sampling_cited.fold, sampling_cited.number, COUNT(*) AS papers
    FROM sampling_cited
    GROUP BY sampling_cited.fold, sampling_cited.number
) AS cited ON folds.fold = cited.fold AND sampling_fields.number = cited.number
LEFT JOIN sampling_sizes ON sampling_fields.number = sampling_sizes.number
LEFT JOIN (
    SELECT sampling_cited.fold, sampling_cited.number, COUNT(*) AS papers
    FROM sampling_cited
    INNER JOIN sampling_scope
        ON sampling_cited.number = sampling_scope.number AND sampling_cited.paper_id = sampling_scope.paper_id
    GROUP BY sampling_cited.fold, sampling_cited.number
) AS both_ways ON folds.fold = both_ways.fold AND sampling_fields.number = both_ways.number
ORDER BY folds.fold, sampling_fields.field

-- name: drop_unused_members
DELETE FROM pool_members
WHERE benchmark = :benchmark
    AND sample NOT IN (SELECT pools.sample FROM pools WHERE pools.benchmark = :benchmark)

-- name: count_funnel
-- How many papers each condition of the pre-filter leaves, one after the other.
SELECT
    COUNT(*) AS papers,
    COUNT(papers.year) AS with_year,
    COUNT(CASE WHEN TRIM(papers.title) <> '' THEN papers.year END) AS with_title,
    COUNT(
        CASE
            WHEN TRIM(papers.title) <> '' AND LENGTH(COALESCE(papers.abstract, '')) >= :min_abstract
                THEN papers.year
        END
    ) AS with_abstract
FROM distinct_papers AS papers
WHERE papers.corpus_id = :corpus_id

-- name: count_prefiltered
SELECT COUNT(*) AS papers FROM sampling_papers

-- name: count_excluded
SELECT COUNT(*) AS papers
FROM sampling_exclusions
INNER JOIN papers ON sampling_exclusions.source_id = papers.source_id AND papers.corpus_id = :corpus_id
WHERE sampling_exclusions.benchmark = :benchmark
