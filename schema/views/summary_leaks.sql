-- Of the test examples of a split, and of their sentences, how many are of papers that training examples are of.
CREATE VIEW summary_leaks AS
WITH placed AS (
    SELECT
        papers.corpus_id,
        summary_splits.producer,
        summary_splits.scheme,
        summary_splits.part,
        summary_splits.paper_id,
        summary_examples.sentences
    FROM summary_splits
    INNER JOIN summary_examples
        ON summary_splits.paper_id = summary_examples.paper_id
        AND summary_splits.reference_id = summary_examples.reference_id
        AND summary_splits.producer = summary_examples.producer
    INNER JOIN papers ON summary_splits.paper_id = papers.paper_id
),

trained AS (
    SELECT DISTINCT producer, scheme, paper_id
    FROM placed
    WHERE part = 'train'
)

SELECT
    corpora.name AS corpus,
    placed.producer,
    placed.scheme,
    COUNT(*) AS test_examples,
    COUNT(trained.paper_id) AS test_examples_of_training_papers,
    CAST(SUM(placed.sentences) AS BIGINT) AS test_sentences,
    CAST(SUM(CASE WHEN trained.paper_id IS NULL THEN 0 ELSE placed.sentences END) AS BIGINT)
        AS test_sentences_of_training_papers
FROM placed
INNER JOIN corpora ON placed.corpus_id = corpora.corpus_id
LEFT JOIN trained
    ON placed.producer = trained.producer
    AND placed.scheme = trained.scheme
    AND placed.paper_id = trained.paper_id
WHERE placed.part = 'test'
GROUP BY corpora.name, placed.producer, placed.scheme
