-- The examples of every corpus: the abstract of a cited work as query, a paper's sentences as document.
SELECT
    corpora.name AS corpus,
    summary_examples.producer,
    papers.source_id || '|' || cited_references.reference_key AS query_id,
    summary_examples.paper_id,
    papers.source_id,
    summary_examples.reference_id,
    cited_references.reference_key,
    summary_examples.query,
    summary_examples.cited,
    summary_examples.splitter,
    summary_examples.sentences
FROM summary_examples
INNER JOIN papers ON summary_examples.paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
INNER JOIN cited_references ON summary_examples.reference_id = cited_references.reference_id
