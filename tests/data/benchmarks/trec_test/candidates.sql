-- Every document that the qrels or an imported run name.
SELECT papers.paper_id
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = 'trec_test'
