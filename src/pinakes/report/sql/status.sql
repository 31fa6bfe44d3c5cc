-- What a database holds, for `pinakes status`.

-- name: database
SELECT version AS schema_version FROM schema_version

-- name: corpora
SELECT
    corpora.name AS corpus,
    corpora.version,
    corpora.licence,
    COUNT(papers.paper_id) AS papers,
    COUNT(duplicate_papers.paper_id) AS merged_papers,
    COUNT(NULLIF(TRIM(papers.abstract), '')) AS abstracts,
    (
        SELECT COUNT(*)
        FROM benchmark_queries
        WHERE benchmark_queries.corpus_id = corpora.corpus_id
    ) AS queries,
    (
        SELECT COUNT(*)
        FROM judgments
        WHERE judgments.corpus_id = corpora.corpus_id
    ) AS judgments,
    (
        SELECT COUNT(*)
        FROM cited_references
        INNER JOIN citations ON cited_references.reference_id = citations.reference_id
        WHERE cited_references.corpus_id = corpora.corpus_id
    ) AS citations
FROM corpora
LEFT JOIN papers ON corpora.corpus_id = papers.corpus_id
LEFT JOIN duplicate_papers ON papers.paper_id = duplicate_papers.paper_id
GROUP BY corpora.corpus_id, corpora.name, corpora.version, corpora.licence
ORDER BY corpora.name

-- name: loads
SELECT
    corpora.name AS corpus,
    load_batches.loader,
    load_batches.file,
    CAST(SUM(load_batches.rows_in) AS BIGINT) AS rows_in,
    CAST(SUM(load_batches.rows_loaded) AS BIGINT) AS rows_loaded,
    CAST(SUM(load_batches.rows_rejected) AS BIGINT) AS rows_rejected,
    CASE WHEN MAX(CASE WHEN load_batches.is_last THEN 1 ELSE 0 END) = 1 THEN 'yes' ELSE 'no' END AS complete
FROM load_batches
INNER JOIN corpora ON load_batches.corpus_id = corpora.corpus_id
GROUP BY
    corpora.name,
    load_batches.loader,
    load_batches.file,
    load_batches.role,
    load_batches.file_digest,
    load_batches.options_digest,
    load_batches.round
ORDER BY MIN(load_batches.batch_id)

-- name: derived_rows
-- Stale rows are of an older text: what made them has to run again.
SELECT corpus, table_name, producer, papers, rows_derived, stale_papers, stale_rows
FROM derivation_states
ORDER BY corpus, table_name, producer

-- name: encoders
SELECT name, model, precision, dimensions, pooling, max_tokens
FROM encoders
ORDER BY encoder_id

-- name: side_indexes
SELECT kind, scope, paper_template, encoder, row_count, recall_10, recall_100, path
FROM side_indexes
ORDER BY kind, scope, paper_template, encoder

-- name: fragment_sets
SELECT benchmark, corpus, encoders, mode, paper_template, fragment_count, row_count, byte_count, place
FROM fragment_sets
ORDER BY fragment_set_id

-- name: term_indexes
-- Sparse indexes that are in tables, and how many papers are others than those that were indexed.
SELECT index_name, terms, postings, papers, papers_changed, papers_removed, papers_added
FROM term_index_states
ORDER BY index_name

-- name: runs
SELECT
    runs.run_id,
    runs.benchmark,
    runs.system,
    runs.precision,
    runs.queries_expected,
    runs.queries_answered,
    runs.hit_count,
    runs.elapsed_s,
    headline.measure,
    headline.value
FROM runs
INNER JOIN benchmarks ON runs.benchmark = benchmarks.name
LEFT JOIN scores AS headline
    ON runs.run_id = headline.run_id
    AND benchmarks.headline_measure = headline.measure
    AND headline.subset = 'all'
    AND headline.query_id IS NULL
ORDER BY runs.run_id
