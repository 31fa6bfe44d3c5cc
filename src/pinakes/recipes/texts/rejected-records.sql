-- What was rejected, and why?
--
-- The raw record and a message in words stand beside each reason in the same table.
SELECT
    corpora.name AS corpus,
    load_batches.loader,
    load_batches.file,
    rejected_rows.reason,
    COUNT(*) AS records,
    MIN(rejected_rows.location) AS for_example
FROM rejected_rows
INNER JOIN load_batches ON rejected_rows.batch_id = load_batches.batch_id
INNER JOIN corpora ON load_batches.corpus_id = corpora.corpus_id
GROUP BY corpora.name, load_batches.loader, load_batches.file, rejected_rows.reason
ORDER BY records DESC, corpora.name, load_batches.file, rejected_rows.reason
