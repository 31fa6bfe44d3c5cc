-- Which authors have the greatest h-index?
--
-- h papers that are cited h times or more, by the papers that we hold. Who is one author is as the source says.
--
-- {corpus}: corpus (synthetic)
-- {limit}: number = 20
WITH received AS MATERIALIZED (
    SELECT cited_paper_id AS paper_id, COUNT(*) AS cited FROM citation_links GROUP BY cited_paper_id
),
ranked AS (
    SELECT
        authorships.author_id,
        COALESCE(received.cited, 0) AS cited,
        ROW_NUMBER() OVER (
            PARTITION BY authorships.author_id
            ORDER BY COALESCE(received.cited, 0) DESC, authorships.paper_id
        ) AS place
    FROM authorships
    INNER JOIN authors ON authorships.author_id = authors.author_id
    INNER JOIN corpora ON authors.corpus_id = corpora.corpus_id
    INNER JOIN distinct_papers AS papers ON authorships.paper_id = papers.paper_id
    LEFT JOIN received ON authorships.paper_id = received.paper_id
    WHERE corpora.name = '{corpus}'
),
counted AS (
    SELECT
        author_id,
        COUNT(CASE WHEN cited >= place THEN 1 END) AS h_index,
        COUNT(*) AS papers,
        CAST(SUM(cited) AS BIGINT) AS citations
    FROM ranked
    GROUP BY author_id
)
SELECT authors.source_id AS author, authors.name, counted.h_index, counted.papers, counted.citations
FROM counted
INNER JOIN authors ON counted.author_id = authors.author_id
ORDER BY counted.h_index DESC, counted.citations DESC, authors.source_id
LIMIT {limit}
