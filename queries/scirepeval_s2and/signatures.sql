-- Every signature, by its dataset. One without a block is in a block of its own. The split is null where the
-- source does not say it; then it is drawn as the package s2and draws it.
SELECT
    CASE
        WHEN author_signatures.dataset = '' THEN author_signatures.signature_id
        ELSE author_signatures.dataset || '/' || author_signatures.signature_id
    END AS query_id,
    author_signatures.paper_id,
    COALESCE(NULLIF(author_signatures.dataset, ''), chosen_corpora.corpus) AS dataset,
    author_signatures.number,
    COALESCE(author_signatures.block, 'signature ' || author_signatures.signature_id) AS block,
    author_signatures.split,
    author_signatures.position,
    author_signatures.first_name,
    author_signatures.middle_name,
    author_signatures.last_name,
    author_signatures.email,
    author_signatures.affiliations
FROM author_signatures
INNER JOIN papers ON author_signatures.paper_id = papers.paper_id
INNER JOIN chosen_corpora
    ON papers.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_s2and'
