-- The examples as each mode asks them: their side of the split, and how many sentences are read.
SELECT
    modes.mode,
    modes.labeller,
    modes.first_sentences,
    summary_splits.part,
    examples.corpus,
    examples.producer,
    examples.query_id,
    examples.paper_id,
    examples.reference_id,
    examples.splitter,
    CASE
        WHEN examples.sentences > modes.first_sentences THEN modes.first_sentences
        ELSE examples.sentences
    END AS sentences
FROM sciqfs.modes AS modes
INNER JOIN summary_splits ON modes.scheme = summary_splits.scheme
INNER JOIN sciqfs.examples AS examples
    ON
        summary_splits.paper_id = examples.paper_id
        AND summary_splits.reference_id = examples.reference_id
        AND summary_splits.producer = examples.producer
