CREATE VIEW chosen_corpora AS
SELECT
    benchmark_corpora.benchmark,
    corpora.corpus_id,
    corpora.name AS corpus
FROM benchmark_corpora
INNER JOIN corpora ON benchmark_corpora.corpus = corpora.name
WHERE NOT EXISTS (
    SELECT 1
    FROM benchmark_corpora AS preferred
    INNER JOIN corpora AS loaded ON preferred.corpus = loaded.name
    WHERE preferred.benchmark = benchmark_corpora.benchmark
        AND (
            preferred.preference < benchmark_corpora.preference
            OR (
                preferred.preference = benchmark_corpora.preference
                AND preferred.corpus < benchmark_corpora.corpus
            )
        )
)
