-- What Singh and Singh 2022 report, with the dataset and the subset of scores apart. The dataset `all` is that
-- of Table 5, which names none.
SELECT
    system,
    SUBSTR(subset, 1, POSITION('/' IN subset) - 1) AS corpus,
    SUBSTR(subset, POSITION('/' IN subset) + 1) AS subset,
    measure,
    value,
    printed,
    source
FROM published_scores
WHERE benchmark = 'self_retrieval'
