-- Where does an annotator differ from the adjudicated grade?
--
-- CSFCube keeps each annotator's grades; 17 of them are −1, which the paper's Table 2 counts as 0.
--
-- {corpus}: corpus (csfcube)
SELECT
    one.assessor,
    one.grade AS annotated,
    agreed.grade AS adjudicated,
    COUNT(*) AS pairs
FROM judgments AS one
INNER JOIN judgments AS agreed
    ON one.corpus_id = agreed.corpus_id
    AND one.query_id = agreed.query_id
    AND one.paper_id = agreed.paper_id
    AND agreed.assessor = 'adjudicated'
INNER JOIN corpora ON one.corpus_id = corpora.corpus_id
WHERE corpora.name = '{corpus}' AND one.assessor LIKE 'ann%'
GROUP BY one.assessor, one.grade, agreed.grade
ORDER BY one.assessor, one.grade, agreed.grade
