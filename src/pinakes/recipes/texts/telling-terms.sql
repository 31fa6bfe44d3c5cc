-- Which terms tell a paper from the others?
--
-- The terms that weigh most in it: frequent there, rare elsewhere.
--
-- {index}: index (synthetic/sparse_bm25/title_abstract)
-- {paper}: text (syn-00000001)
-- {limit}: number = 10
SELECT
    indexed_terms.term,
    postings.frequency,
    indexed_terms.document_frequency,
    CAST(indexed_terms.idf AS DECIMAL(9, 4)) AS idf,
    CAST(postings.weight AS DECIMAL(9, 4)) AS weight
FROM term_indexes
INNER JOIN papers ON term_indexes.corpus_id = papers.corpus_id
INNER JOIN postings ON papers.paper_id = postings.paper_id
INNER JOIN indexed_terms
    ON postings.term_id = indexed_terms.term_id
    AND term_indexes.side_index_id = indexed_terms.side_index_id
WHERE term_indexes.name = '{index}' AND papers.source_id = '{paper}'
ORDER BY postings.weight DESC, indexed_terms.term
LIMIT {limit}
