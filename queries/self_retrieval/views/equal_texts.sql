-- Neighbours whose text is that of their paper, and how many distinct texts there are: others need no encoding.
SELECT
    neighbours.corpus,
    neighbours.producer,
    neighbours.mode,
    neighbours.code,
    neighbours.category,
    neighbours.number,
    COUNT(*) AS neighbours,
    COUNT(
        CASE
            WHEN COALESCE(neighbours.title, '') = COALESCE(papers.title, '')
                AND COALESCE(neighbours.abstract, '') = COALESCE(papers.abstract, '') THEN 1
        END
    ) AS equal_to_original,
    COUNT(
        DISTINCT md5(COALESCE(neighbours.title, '') || CHR(31) || COALESCE(neighbours.abstract, ''))
    ) AS distinct_texts
FROM self_retrieval.neighbours AS neighbours
INNER JOIN papers ON neighbours.paper_id = papers.paper_id
GROUP BY
    neighbours.corpus, neighbours.producer, neighbours.mode, neighbours.code, neighbours.category,
    neighbours.number
