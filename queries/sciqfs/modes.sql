-- What each mode asks: on which side of which split an example is, who says that a sentence is relevant, and how
-- many sentences of a document are read (null: all).
WITH modes (mode, scheme, labeller, first_sentences) AS (
    VALUES
    ('corrected', 'by_paper', 'greedy rouge2 f rouge_score citing', CAST(NULL AS INTEGER)),
    ('published', 'by_example', 'greedy rouge2 f rouge zero', 512)
)

SELECT mode, scheme, labeller, first_sentences
FROM modes
