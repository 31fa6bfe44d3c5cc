-- How much do the repeats of a pool share?
--
-- Independent draws share the cited papers and what chance gives them: the larger the pool, the more of the corpus. Two samples are
-- compared once: a pool of size n is the first n papers of its sample.
--
-- {benchmark}: benchmark (large_scale)
WITH pairs AS (
    SELECT
        one.requested_size,
        one.field,
        one.repeat,
        other.repeat AS other_repeat,
        one.sample,
        other.sample AS other_sample,
        one.size,
        other.size AS other_size
    FROM pools AS one
    INNER JOIN pools AS other
        ON one.benchmark = other.benchmark
        AND one.fold = other.fold
        AND COALESCE(one.field, '') = COALESCE(other.field, '')
        AND one.requested_size = other.requested_size
        AND one.repeat < other.repeat
    WHERE one.benchmark = '{benchmark}' AND one.fold = 'test'
),
samples AS (
    SELECT DISTINCT sample, other_sample FROM pairs
),
shared AS (
    SELECT samples.sample, samples.other_sample, one.position, other.position AS other_position
    FROM samples
    INNER JOIN pool_members AS one ON samples.sample = one.sample AND one.benchmark = '{benchmark}'
    INNER JOIN pool_members AS other
        ON samples.other_sample = other.sample
        AND other.benchmark = '{benchmark}'
        AND one.paper_id = other.paper_id
)
SELECT
    pairs.requested_size,
    pairs.field,
    pairs.repeat,
    pairs.other_repeat,
    COUNT(*) AS shared,
    CAST(100.0 * COUNT(*) / pairs.requested_size AS DECIMAL(5, 2)) AS per_cent
FROM pairs
INNER JOIN shared
    ON pairs.sample = shared.sample
    AND pairs.other_sample = shared.other_sample
    AND pairs.size >= shared.position
    AND pairs.other_size >= shared.other_position
GROUP BY pairs.requested_size, pairs.field, pairs.repeat, pairs.other_repeat
ORDER BY pairs.requested_size, COALESCE(pairs.field, ''), pairs.repeat, pairs.other_repeat
