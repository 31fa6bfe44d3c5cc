-- On which side of each split an example is: train, dev or test.
SELECT
    examples.corpus,
    examples.producer,
    examples.query_id,
    examples.paper_id,
    summary_splits.scheme,
    summary_splits.part
FROM sciqfs.examples AS examples
INNER JOIN summary_splits
    ON
        examples.paper_id = summary_splits.paper_id
        AND examples.reference_id = summary_splits.reference_id
        AND examples.producer = summary_splits.producer
