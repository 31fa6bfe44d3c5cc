-- One pool for all queries: every paper of the corpus.
SELECT papers.paper_id
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = 'scifact'
