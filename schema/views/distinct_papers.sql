-- Papers without those that were merged into another of their corpus.
CREATE VIEW distinct_papers AS
SELECT
    papers.paper_id,
    papers.corpus_id,
    papers.source_id,
    papers.title,
    papers.abstract,
    papers.year,
    papers.venue,
    papers.citation_count
FROM papers
LEFT JOIN duplicate_papers ON papers.paper_id = duplicate_papers.paper_id
WHERE duplicate_papers.paper_id IS NULL
