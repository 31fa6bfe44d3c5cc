-- The sentences that are relevant to an example's query, by who says so; the others are not.
SELECT
    examples.corpus,
    examples.producer,
    examples.query_id,
    examples.paper_id,
    summary_labels.labeller,
    summary_labels.section_number,
    summary_labels.position,
    summary_labels.step,
    summary_labels.score
FROM sciqfs.examples AS examples
INNER JOIN summary_labels
    ON
        examples.paper_id = summary_labels.paper_id
        AND examples.reference_id = summary_labels.reference_id
        AND examples.producer = summary_labels.producer
