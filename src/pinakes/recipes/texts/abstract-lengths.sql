-- How long are the abstracts?
--
-- In words, as blanks part them, by fifties. An encoder that reads 256 word pieces sees some 200 words; what stands behind
-- them it never reads.
--
-- {corpus}: corpus (synthetic)
WITH lengths AS (
    SELECT LENGTH(papers.abstract) - LENGTH(REPLACE(papers.abstract, ' ', '')) + 1 AS words
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}' AND papers.abstract IS NOT NULL
),
fifties AS (
    SELECT words - words % 50 AS words_from, COUNT(*) AS papers
    FROM lengths
    GROUP BY words - words % 50
)
SELECT
    words_from,
    papers,
    CAST(100.0 * papers / SUM(papers) OVER () AS DECIMAL(5, 2)) AS per_cent,
    CAST(100.0 * SUM(papers) OVER (ORDER BY words_from) / SUM(papers) OVER () AS DECIMAL(5, 2)) AS per_cent_up_to
FROM fifties
ORDER BY words_from
