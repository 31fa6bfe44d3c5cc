-- Which corpora hold the same papers?
--
-- By their titles, without case, blanks and punctuation. A benchmark whose papers stand in a model's training corpus measures
-- memory too. Short titles, as "Introduction", are left out.
--
-- {shortest}: number = 15
WITH made AS MATERIALIZED (
    SELECT corpus_id, title_key FROM paper_title_keys
),
titles AS (
    SELECT DISTINCT corpora.name AS corpus, made.title_key
    FROM made
    INNER JOIN corpora ON made.corpus_id = corpora.corpus_id
    WHERE LENGTH(made.title_key) >= {shortest}
),
sizes AS (
    SELECT corpus, COUNT(*) AS titles FROM titles GROUP BY corpus
),
shared AS (
    SELECT one.corpus, other.corpus AS other_corpus, COUNT(*) AS shared
    FROM titles AS one
    INNER JOIN titles AS other ON one.title_key = other.title_key AND one.corpus < other.corpus
    GROUP BY one.corpus, other.corpus
)
SELECT
    shared.corpus,
    shared.other_corpus,
    shared.shared,
    CAST(100.0 * shared.shared / sizes.titles AS DECIMAL(5, 2)) AS per_cent,
    CAST(100.0 * shared.shared / others.titles AS DECIMAL(5, 2)) AS per_cent_of_other
FROM shared
INNER JOIN sizes ON shared.corpus = sizes.corpus
INNER JOIN sizes AS others ON shared.other_corpus = others.corpus
ORDER BY shared.shared DESC, shared.corpus, shared.other_corpus
