-- How many papers of a corpus have a variant of a code from each producer; how many have none, by reason.
CREATE VIEW variant_coverage AS
WITH asked AS (
    SELECT papers.corpus_id, paper_variants.producer, paper_variants.code, 'made' AS outcome
    FROM paper_variants
    INNER JOIN papers ON paper_variants.paper_id = papers.paper_id
    UNION ALL
    SELECT papers.corpus_id, absent_variants.producer, absent_variants.code, absent_variants.reason AS outcome
    FROM absent_variants
    INNER JOIN papers ON absent_variants.paper_id = papers.paper_id
),

counted AS (
    SELECT corpus_id, producer, code, outcome, COUNT(*) AS papers
    FROM asked
    GROUP BY corpus_id, producer, code, outcome
),

sizes AS (
    SELECT corpus_id, COUNT(*) AS corpus_papers
    FROM papers
    GROUP BY corpus_id
)

SELECT
    corpora.name AS corpus,
    counted.producer,
    counted.code,
    counted.outcome,
    counted.papers,
    sizes.corpus_papers,
    CAST(counted.papers AS DOUBLE PRECISION) / sizes.corpus_papers AS share
FROM counted
INNER JOIN corpora ON counted.corpus_id = corpora.corpus_id
INNER JOIN sizes ON counted.corpus_id = sizes.corpus_id
