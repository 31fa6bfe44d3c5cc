-- The terms of each paper in each index that was written down, with what they weigh; for reading, not for speed.
CREATE VIEW paper_terms AS
SELECT
    term_indexes.name AS index_name,
    corpora.name AS corpus,
    papers.source_id,
    papers.title,
    indexed_terms.term,
    postings.frequency,
    indexed_papers.length,
    indexed_terms.document_frequency,
    indexed_terms.idf,
    postings.weight,
    postings.paper_id,
    postings.term_id
FROM postings
INNER JOIN indexed_terms ON postings.term_id = indexed_terms.term_id
INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
INNER JOIN indexed_papers
    ON indexed_terms.side_index_id = indexed_papers.side_index_id
    AND postings.paper_id = indexed_papers.paper_id
INNER JOIN papers ON postings.paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
