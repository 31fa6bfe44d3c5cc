-- The papers of each reviewer. The list of reviewers is published in a folder of its own, or beside the test.
SELECT
    reviewers.paper_id AS reviewer_id,
    labels.paper_id
FROM labels
INNER JOIN papers ON labels.paper_id = papers.paper_id
INNER JOIN chosen_corpora
    ON papers.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_paper_reviewer_matching'
INNER JOIN papers AS reviewers
    ON papers.corpus_id = reviewers.corpus_id
    AND labels.label = reviewers.source_id
WHERE labels.task IN ('paper_reviewer_matching:reviewers', 'reviewers:reviewers')
GROUP BY reviewers.paper_id, labels.paper_id
