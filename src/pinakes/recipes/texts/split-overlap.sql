-- Which splits judge the same papers?
--
-- Papers that are relevant to queries of both splits: a system that learned from the one has seen answers of the other.
--
-- {relevant}: number = 1
WITH placed AS (
    SELECT corpus, split, paper_id, MAX(CASE WHEN grade >= {relevant} THEN 1 ELSE 0 END) AS is_relevant
    FROM judged_papers
    GROUP BY corpus, split, paper_id
)
SELECT
    one.corpus,
    one.split,
    other.split AS other_split,
    COUNT(*) AS judged_in_both,
    CAST(SUM(one.is_relevant * other.is_relevant) AS BIGINT) AS relevant_in_both
FROM placed AS one
INNER JOIN placed AS other ON one.corpus = other.corpus AND one.paper_id = other.paper_id AND one.split < other.split
GROUP BY one.corpus, one.split, other.split
ORDER BY one.corpus, one.split, other.split
