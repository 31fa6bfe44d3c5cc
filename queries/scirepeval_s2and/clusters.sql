-- The person that a signature is of, as the dataset numbers them; not of signatures that no cluster holds.
SELECT
    CASE
        WHEN author_signatures.dataset = '' THEN author_signatures.signature_id
        ELSE author_signatures.dataset || '/' || author_signatures.signature_id
    END AS query_id,
    author_signatures.cluster
FROM author_signatures
INNER JOIN papers ON author_signatures.paper_id = papers.paper_id
INNER JOIN chosen_corpora
    ON papers.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_s2and'
WHERE author_signatures.cluster IS NOT NULL
