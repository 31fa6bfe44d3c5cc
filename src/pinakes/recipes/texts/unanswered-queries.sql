-- Did every run answer every query?
--
-- A missing query counts as zero in every mean, so look here before comparing two systems.
SELECT
    run_id,
    benchmark,
    system,
    queries_expected,
    queries_answered,
    queries_expected - queries_answered AS queries_missing,
    candidates_without_text,
    hit_count
FROM runs
ORDER BY benchmark, run_id
