-- The summary's ROUGE behind each step of an augmentation; step 0 is the citing sentences alone.
SELECT
    examples.corpus,
    examples.producer,
    summary_augmentations.labeller,
    examples.query_id,
    0 AS step,
    summary_augmentations.start_score AS score
FROM sciqfs.examples AS examples
INNER JOIN summary_augmentations
    ON
        examples.paper_id = summary_augmentations.paper_id
        AND examples.reference_id = summary_augmentations.reference_id
        AND examples.producer = summary_augmentations.producer
UNION ALL
SELECT
    corpus,
    producer,
    labeller,
    query_id,
    step,
    score
FROM sciqfs.labels
WHERE step IS NOT NULL AND score IS NOT NULL
