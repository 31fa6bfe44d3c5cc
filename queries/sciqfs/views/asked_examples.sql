-- The examples as each mode asks them: their side of the split, and how many sentences are read.
SELECT
    modes.mode,
    modes.labeller,
    modes.first_sentences,
    splits.part,
    examples.corpus,
    examples.producer,
    examples.query_id,
    examples.paper_id,
    examples.splitter,
    CASE
        WHEN examples.sentences > modes.first_sentences THEN modes.first_sentences
        ELSE examples.sentences
    END AS sentences
FROM sciqfs.modes AS modes
INNER JOIN sciqfs.splits AS splits ON modes.scheme = splits.scheme
INNER JOIN sciqfs.examples AS examples
    ON
        splits.corpus = examples.corpus
        AND splits.producer = examples.producer
        AND splits.query_id = examples.query_id
