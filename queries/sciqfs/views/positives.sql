-- The fraction of relevant sentences over the examples of each side (Table 4, left): mean, standard deviation of
-- the sample, quartiles. An example of no sentence has no fraction.
SELECT
    corpus,
    producer,
    mode,
    part,
    COUNT(*) AS examples,
    CAST(SUM(CASE WHEN positives = 0 THEN 1 ELSE 0 END) AS BIGINT) AS without_positive,
    CAST(SUM(CASE WHEN positives = sentences AND sentences > 0 THEN 1 ELSE 0 END) AS BIGINT) AS only_positive,
    AVG(fraction) AS mean,
    STDDEV_SAMP(fraction) AS deviation,
    MIN(fraction) AS lowest,
    PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY fraction) AS first_quartile,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY fraction) AS median,
    PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY fraction) AS third_quartile,
    MAX(fraction) AS highest
FROM sciqfs.example_positives
GROUP BY corpus, producer, mode, part
