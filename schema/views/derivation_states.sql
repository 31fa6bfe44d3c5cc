-- The derived rows of each producer in each corpus, and how many of them are of an older text.
CREATE VIEW derivation_states AS
SELECT
    corpora.name AS corpus,
    paper_derivations.table_name,
    paper_derivations.producer,
    COUNT(DISTINCT paper_derivations.paper_id) AS papers,
    CAST(SUM(paper_derivations.row_count) AS BIGINT) AS rows_derived,
    COUNT(DISTINCT CASE WHEN paper_derivations.is_stale THEN paper_derivations.paper_id END) AS stale_papers,
    CAST(SUM(CASE WHEN paper_derivations.is_stale THEN paper_derivations.row_count ELSE 0 END) AS BIGINT)
        AS stale_rows
FROM paper_derivations
INNER JOIN corpora ON paper_derivations.corpus_id = corpora.corpus_id
GROUP BY corpora.name, paper_derivations.table_name, paper_derivations.producer
