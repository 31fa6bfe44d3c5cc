-- Labels with the names that people know: of the corpus, and the source's id of the paper. `side` is the side of
-- a probe that the paper is on: as published, or, where no split is, test for three tenths of the papers
-- (paper_parts) and train for the others; null for what is for development.
CREATE VIEW labelled_papers AS
SELECT
    corpora.name AS corpus,
    papers.corpus_id,
    labels.task,
    labels.paper_id,
    papers.source_id,
    labels.split,
    CASE labels.split
        WHEN 'train' THEN 'train'
        WHEN 'test' THEN 'test'
        WHEN 'all' THEN CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END
    END AS side,
    labels.position,
    labels.label,
    labels.value,
    labels.quality,
    labels.producer
FROM labels
INNER JOIN papers ON labels.paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
INNER JOIN paper_parts ON labels.paper_id = paper_parts.paper_id
