-- Each index that was written down, and how the papers of its corpus have changed since: all 0 where it is current.
-- Changed are papers with another title or abstract; venue and year, which one template reads, are not looked at.
CREATE VIEW term_index_states AS
WITH indexed AS (
    SELECT
        indexed_papers.side_index_id,
        COUNT(*) AS papers,
        COUNT(CASE WHEN indexed_papers.text_digest <> text_digests.text_digest THEN 1 END) AS papers_changed
    FROM indexed_papers
    INNER JOIN text_digests
        ON indexed_papers.paper_id = text_digests.paper_id AND text_digests.section_number = 0
    GROUP BY indexed_papers.side_index_id
),

held AS (
    SELECT corpus_id, COUNT(*) AS papers
    FROM papers
    GROUP BY corpus_id
)

SELECT
    term_indexes.name AS index_name,
    corpora.name AS corpus,
    term_indexes.paper_count AS papers,
    term_indexes.term_count AS terms,
    term_indexes.posting_count AS postings,
    term_indexes.k1,
    term_indexes.b,
    COALESCE(indexed.papers_changed, 0) AS papers_changed,
    term_indexes.paper_count - COALESCE(indexed.papers, 0) AS papers_removed,
    COALESCE(held.papers, 0) - COALESCE(indexed.papers, 0) AS papers_added,
    term_indexes.stored_at
FROM term_indexes
INNER JOIN corpora ON term_indexes.corpus_id = corpora.corpus_id
LEFT JOIN indexed ON term_indexes.side_index_id = indexed.side_index_id
LEFT JOIN held ON term_indexes.corpus_id = held.corpus_id
