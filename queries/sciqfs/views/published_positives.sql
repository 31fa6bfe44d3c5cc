-- Table 4 of Ramirez-Orta et al. 2025, as printed, in per cent: the fraction of relevant sentences in the training
-- examples, and how often spans of each length come.
WITH published (statistic, length, printed) AS (
    VALUES
    ('mean', CAST(NULL AS INTEGER), '3.90'),
    ('deviation', NULL, '2.00'),
    ('lowest', NULL, '0.01'),
    ('first_quartile', NULL, '2.43'),
    ('median', NULL, '3.66'),
    ('third_quartile', NULL, '5.03'),
    ('highest', NULL, '22.73'),
    ('span', 1, '94.953'),
    ('span', 2, '4.739'),
    ('span', 3, '0.269'),
    ('span', 4, '0.032'),
    ('span', 5, '0.005')
)

SELECT statistic, length, printed, CAST(printed AS DOUBLE PRECISION) / 100 AS value
FROM published
