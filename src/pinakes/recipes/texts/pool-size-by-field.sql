-- In which fields does a larger pool hurt a system most?
--
-- `ratio_to_smallest` is what is left of the mean at the smallest pool; a query counts in every field of its paper. Rows
-- without a field are over all queries.
--
-- {benchmark}: benchmark (large_scale)
-- {measure}: measure = AP
SELECT
    system,
    field,
    pool_size,
    queries,
    CAST(mean AS DECIMAL(6, 4)) AS mean,
    CAST(difference_from_smallest AS DECIMAL(6, 4)) AS change,
    CAST(100 * CAST(ratio_to_smallest AS DECIMAL(20, 12)) AS DECIMAL(6, 2)) AS per_cent_left
FROM pool_size_effect
WHERE benchmark = '{benchmark}'
    AND measure = '{measure}'
    AND pool_size = (SELECT MAX(requested_size) FROM pools WHERE benchmark = '{benchmark}')
ORDER BY per_cent_left, system, COALESCE(field, ''), COALESCE(assigned_by, ''), run_id
