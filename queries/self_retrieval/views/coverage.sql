-- How many originals have a neighbour of a code (`made`), and how many have none, by reason.
WITH asked AS (
    SELECT paper_id, producer, code, 'made' AS outcome
    FROM paper_variants
    UNION ALL
    SELECT paper_id, producer, code, reason AS outcome
    FROM absent_variants
),

counted AS (
    SELECT originals.corpus, asked.producer, asked.code, asked.outcome, COUNT(*) AS papers
    FROM self_retrieval.originals AS originals
    INNER JOIN asked ON originals.paper_id = asked.paper_id
    GROUP BY originals.corpus, asked.producer, asked.code, asked.outcome
),

sizes AS (
    SELECT corpus, COUNT(*) AS originals
    FROM self_retrieval.originals
    GROUP BY corpus
)

SELECT
    counted.corpus,
    counted.producer,
    counted.code,
    COALESCE(codes.category, 'own') AS category,
    codes.number,
    counted.outcome,
    counted.papers,
    sizes.originals,
    CAST(counted.papers AS DOUBLE PRECISION) / sizes.originals AS share
FROM counted
INNER JOIN sizes ON counted.corpus = sizes.corpus
LEFT JOIN self_retrieval.codes AS codes ON counted.code = codes.code
