-- What corpora lack and what was not loaded of them, for the page of a site on data quality.

-- name: corpora
WITH counted_papers AS (
    SELECT
        corpus_id,
        COUNT(*) AS papers,
        COUNT(NULLIF(TRIM(abstract), '')) AS abstracts,
        COUNT(NULLIF(TRIM(title), '')) AS titles
    FROM papers
    GROUP BY corpus_id
),

counted_citations AS (
    SELECT
        cited_references.corpus_id,
        COUNT(*) AS citations,
        COUNT(*) - COUNT(cited_references.paper_id) AS unresolved
    FROM citations
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    GROUP BY cited_references.corpus_id
),

counted_batches AS (
    SELECT
        corpus_id,
        CAST(SUM(rows_in) AS BIGINT) AS rows_in,
        CAST(SUM(rows_rejected) AS BIGINT) AS rows_rejected
    FROM load_batches
    GROUP BY corpus_id
),

counted_items AS (
    SELECT load_batches.corpus_id, CAST(SUM(left_out_items.item_count) AS BIGINT) AS left_out
    FROM left_out_items
    INNER JOIN load_batches ON left_out_items.batch_id = load_batches.batch_id
    GROUP BY load_batches.corpus_id
),

counted_files AS (
    SELECT corpus_id, COUNT(*) AS unread
    FROM unread_files
    GROUP BY corpus_id
)

SELECT
    corpora.name AS corpus,
    corpora.version,
    corpora.licence,
    COALESCE(counted_papers.papers, 0) AS papers,
    COALESCE(counted_papers.papers - counted_papers.titles, 0) AS without_title,
    COALESCE(counted_papers.papers - counted_papers.abstracts, 0) AS without_abstract,
    COALESCE(counted_citations.citations, 0) AS citations,
    COALESCE(counted_citations.unresolved, 0) AS unresolved,
    COALESCE(counted_batches.rows_in, 0) AS rows_in,
    COALESCE(counted_batches.rows_rejected, 0) AS rows_rejected,
    COALESCE(counted_items.left_out, 0) AS left_out,
    COALESCE(counted_files.unread, 0) AS unread
FROM corpora
LEFT JOIN counted_papers ON corpora.corpus_id = counted_papers.corpus_id
LEFT JOIN counted_citations ON corpora.corpus_id = counted_citations.corpus_id
LEFT JOIN counted_batches ON corpora.corpus_id = counted_batches.corpus_id
LEFT JOIN counted_items ON corpora.corpus_id = counted_items.corpus_id
LEFT JOIN counted_files ON corpora.corpus_id = counted_files.corpus_id
ORDER BY corpora.name

-- name: rejected
-- The first record of each reason stands for the others.
WITH numbered AS (
    SELECT
        corpora.name AS corpus,
        load_batches.file,
        rejected_rows.reason,
        rejected_rows.location,
        rejected_rows.message,
        COUNT(*) OVER (PARTITION BY corpora.name, load_batches.file, rejected_rows.reason) AS row_count,
        ROW_NUMBER() OVER (
            PARTITION BY corpora.name, load_batches.file, rejected_rows.reason
            ORDER BY rejected_rows.batch_id, rejected_rows.row_number
        ) AS place
    FROM rejected_rows
    INNER JOIN load_batches ON rejected_rows.batch_id = load_batches.batch_id
    INNER JOIN corpora ON load_batches.corpus_id = corpora.corpus_id
)

SELECT corpus, file, reason, row_count, location, message
FROM numbered
WHERE place = 1
ORDER BY corpus, file, reason

-- name: left_out
SELECT
    corpora.name AS corpus,
    load_batches.file,
    left_out_items.kind,
    left_out_items.reason,
    CAST(SUM(left_out_items.item_count) AS BIGINT) AS item_count
FROM left_out_items
INNER JOIN load_batches ON left_out_items.batch_id = load_batches.batch_id
INNER JOIN corpora ON load_batches.corpus_id = corpora.corpus_id
GROUP BY corpora.name, load_batches.file, left_out_items.kind, left_out_items.reason
ORDER BY corpora.name, load_batches.file, left_out_items.kind, left_out_items.reason

-- name: unread
SELECT corpora.name AS corpus, unread_files.reason, COUNT(*) AS files, MIN(unread_files.file) AS example
FROM unread_files
INNER JOIN corpora ON unread_files.corpus_id = corpora.corpus_id
GROUP BY corpora.name, unread_files.reason
ORDER BY corpora.name, unread_files.reason
