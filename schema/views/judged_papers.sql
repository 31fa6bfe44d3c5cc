-- Judgments with the names that people know: of the corpus, and the source's id of the paper.
-- A benchmark reads this view, since its own view is called judgments too.
CREATE VIEW judged_papers AS
SELECT
    corpora.name AS corpus,
    judgments.corpus_id,
    judgments.query_id,
    judgments.paper_id,
    papers.source_id,
    judgments.assessor,
    judgments.split,
    judgments.grade
FROM judgments
INNER JOIN corpora ON judgments.corpus_id = corpora.corpus_id
INNER JOIN papers ON judgments.paper_id = papers.paper_id
