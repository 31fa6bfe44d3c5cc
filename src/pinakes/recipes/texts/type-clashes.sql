-- Which types claimed the same papers while the candidates were constructed?
--
-- A candidate has one type. `construction_clashes` counts the pairs of query and paper that a second one wanted.
SELECT benchmark, source, kept_source, clashes
FROM construction_clashes
ORDER BY benchmark, clashes DESC, source, kept_source
