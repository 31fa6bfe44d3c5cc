-- Staged rows into the tables: what changed is updated, what is new is inserted, the rest stays. What hangs on
-- a paper is replaced where the batch wrote the paper.

-- name: update_papers
-- A paper has changed where one of its columns or of the rows that hang on it has: rows that stand on one
-- side alone come once.
WITH held AS (
    SELECT papers.paper_id, papers.source_id
    FROM papers
    INNER JOIN staged_papers ON papers.source_id = staged_papers.source_id
    WHERE papers.corpus_id = :corpus_id
),
changed_identifiers AS (
    SELECT paper_id
    FROM (
        SELECT DISTINCT held.paper_id, staged_identifiers.scheme, staged_identifiers.identifier
        FROM staged_identifiers
        INNER JOIN held ON staged_identifiers.source_id = held.source_id
        UNION ALL
        SELECT paper_identifiers.paper_id, paper_identifiers.scheme, paper_identifiers.identifier
        FROM paper_identifiers
        INNER JOIN held ON paper_identifiers.paper_id = held.paper_id
    ) AS both_sides
    GROUP BY paper_id, scheme, identifier
    HAVING COUNT(*) = 1
),
changed_fields AS (
    SELECT paper_id
    FROM (
        SELECT DISTINCT held.paper_id, staged_fields.assigned_by, staged_fields.field
        FROM staged_fields
        INNER JOIN held ON staged_fields.source_id = held.source_id
        UNION ALL
        SELECT paper_fields.paper_id, paper_fields.assigned_by, paper_fields.field
        FROM paper_fields
        INNER JOIN held ON paper_fields.paper_id = held.paper_id
    ) AS both_sides
    GROUP BY paper_id, assigned_by, field
    HAVING COUNT(*) = 1
),
changed_authorships AS (
    SELECT paper_id
    FROM (
        SELECT held.paper_id, staged_authorships.position, staged_authorships.author_source_id
        FROM staged_authorships
        INNER JOIN held ON staged_authorships.source_id = held.source_id
        UNION ALL
        SELECT authorships.paper_id, authorships.position, authors.source_id AS author_source_id
        FROM authorships
        INNER JOIN held ON authorships.paper_id = held.paper_id
        INNER JOIN authors ON authorships.author_id = authors.author_id
    ) AS both_sides
    GROUP BY paper_id, position, author_source_id
    HAVING COUNT(*) = 1
),
changed_sentences AS (
    SELECT paper_id
    FROM (
        SELECT
            held.paper_id,
            staged_sentences.section_number,
            staged_sentences.position,
            staged_sentences.text,
            staged_sentences.facet,
            staged_sentences.source_label
        FROM staged_sentences
        INNER JOIN held ON staged_sentences.source_id = held.source_id
        UNION ALL
        SELECT
            sentences.paper_id,
            sentences.section_number,
            sentences.position,
            sentences.text,
            sentences.facet,
            sentences.source_label
        FROM sentences
        INNER JOIN held ON sentences.paper_id = held.paper_id
    ) AS both_sides
    GROUP BY paper_id, section_number, position, text, facet, source_label
    HAVING COUNT(*) = 1
),
changed AS (
    SELECT paper_id FROM changed_identifiers
    UNION
    SELECT paper_id FROM changed_fields
    UNION
    SELECT paper_id FROM changed_authorships
    UNION
    SELECT paper_id FROM changed_sentences
)
UPDATE papers
SET
    title = staged_papers.title,
    abstract = staged_papers.abstract,
    year = staged_papers.year,
    venue = staged_papers.venue,
    citation_count = staged_papers.citation_count,
    batch_id = :batch_id
FROM staged_papers
WHERE papers.corpus_id = :corpus_id
    AND papers.source_id = staged_papers.source_id
    AND (
        papers.title IS DISTINCT FROM staged_papers.title
        OR papers.abstract IS DISTINCT FROM staged_papers.abstract
        OR papers.year IS DISTINCT FROM staged_papers.year
        OR papers.venue IS DISTINCT FROM staged_papers.venue
        OR papers.citation_count IS DISTINCT FROM staged_papers.citation_count
        OR papers.paper_id IN (SELECT changed.paper_id FROM changed)
    )

-- name: insert_papers
INSERT INTO papers
    (paper_id, corpus_id, source_id, title, abstract, year, venue, citation_count, batch_id)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY staged_papers.row_number, staged_papers.source_id),
    :corpus_id,
    staged_papers.source_id,
    staged_papers.title,
    staged_papers.abstract,
    staged_papers.year,
    staged_papers.venue,
    staged_papers.citation_count,
    :batch_id
FROM staged_papers
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_papers.source_id = papers.source_id
WHERE papers.paper_id IS NULL

-- name: delete_identifiers
DELETE FROM paper_identifiers
WHERE paper_id IN (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN staged_papers ON papers.source_id = staged_papers.source_id
    WHERE papers.corpus_id = :corpus_id AND papers.batch_id = :batch_id
)

-- name: delete_fields
DELETE FROM paper_fields
WHERE paper_id IN (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN staged_papers ON papers.source_id = staged_papers.source_id
    WHERE papers.corpus_id = :corpus_id AND papers.batch_id = :batch_id
)

-- name: delete_authorships
DELETE FROM authorships
WHERE paper_id IN (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN staged_papers ON papers.source_id = staged_papers.source_id
    WHERE papers.corpus_id = :corpus_id AND papers.batch_id = :batch_id
)

-- name: delete_sentences
DELETE FROM sentences
WHERE paper_id IN (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN staged_papers ON papers.source_id = staged_papers.source_id
    WHERE papers.corpus_id = :corpus_id AND papers.batch_id = :batch_id
)

-- name: insert_identifiers
INSERT INTO paper_identifiers (paper_id, scheme, identifier)
SELECT DISTINCT papers.paper_id, staged_identifiers.scheme, staged_identifiers.identifier
FROM staged_identifiers
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_identifiers.source_id = papers.source_id
WHERE papers.batch_id = :batch_id

-- name: insert_fields
INSERT INTO paper_fields (paper_id, assigned_by, field)
SELECT DISTINCT papers.paper_id, staged_fields.assigned_by, staged_fields.field
FROM staged_fields
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_fields.source_id = papers.source_id
WHERE papers.batch_id = :batch_id

-- name: insert_authors
INSERT INTO authors (author_id, corpus_id, source_id, name)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY named.first_row, named.author_source_id),
    :corpus_id,
    named.author_source_id,
    named.name
FROM (
    SELECT author_source_id, MIN(row_number) AS first_row, MIN(author_name) AS name
    FROM staged_authorships
    GROUP BY author_source_id
) AS named
LEFT JOIN authors ON authors.corpus_id = :corpus_id AND named.author_source_id = authors.source_id
WHERE authors.author_id IS NULL

-- name: insert_authorships
INSERT INTO authorships (paper_id, position, author_id)
SELECT papers.paper_id, staged_authorships.position, authors.author_id
FROM staged_authorships
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_authorships.source_id = papers.source_id
INNER JOIN authors
    ON authors.corpus_id = :corpus_id AND staged_authorships.author_source_id = authors.source_id
WHERE papers.batch_id = :batch_id

-- name: insert_sentences
INSERT INTO sentences (paper_id, section_number, position, text, facet, source_label)
SELECT
    papers.paper_id,
    staged_sentences.section_number,
    staged_sentences.position,
    staged_sentences.text,
    staged_sentences.facet,
    staged_sentences.source_label
FROM staged_sentences
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_sentences.source_id = papers.source_id
WHERE papers.batch_id = :batch_id

-- name: update_queries
UPDATE benchmark_queries
SET
    paper_id = newer.paper_id,
    text = newer.text,
    description = newer.description,
    narrative = newer.narrative,
    facet = newer.facet,
    field = newer.field,
    fold = newer.fold,
    batch_id = :batch_id
FROM (
    SELECT
        staged_queries.query_id,
        papers.paper_id,
        staged_queries.text,
        staged_queries.description,
        staged_queries.narrative,
        staged_queries.facet,
        staged_queries.field,
        staged_queries.fold
    FROM staged_queries
    LEFT JOIN papers
        ON papers.corpus_id = :corpus_id AND staged_queries.paper_source_id = papers.source_id
) AS newer
WHERE benchmark_queries.corpus_id = :corpus_id
    AND benchmark_queries.query_id = newer.query_id
    AND (
        benchmark_queries.paper_id IS DISTINCT FROM newer.paper_id
        OR benchmark_queries.text IS DISTINCT FROM newer.text
        OR benchmark_queries.description IS DISTINCT FROM newer.description
        OR benchmark_queries.narrative IS DISTINCT FROM newer.narrative
        OR benchmark_queries.facet IS DISTINCT FROM newer.facet
        OR benchmark_queries.field IS DISTINCT FROM newer.field
        OR benchmark_queries.fold IS DISTINCT FROM newer.fold
    )

-- name: insert_queries
INSERT INTO benchmark_queries
    (corpus_id, query_id, paper_id, text, description, narrative, facet, field, fold, batch_id)
SELECT
    :corpus_id,
    staged_queries.query_id,
    papers.paper_id,
    staged_queries.text,
    staged_queries.description,
    staged_queries.narrative,
    staged_queries.facet,
    staged_queries.field,
    staged_queries.fold,
    :batch_id
FROM staged_queries
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_queries.paper_source_id = papers.source_id
LEFT JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_queries.query_id = benchmark_queries.query_id
WHERE benchmark_queries.query_id IS NULL

-- name: update_judgments
UPDATE judgments
SET grade = newer.grade, batch_id = :batch_id
FROM (
    SELECT
        papers.paper_id,
        staged_judgments.query_id,
        staged_judgments.assessor,
        staged_judgments.split,
        staged_judgments.grade
    FROM staged_judgments
    INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_judgments.source_id = papers.source_id
) AS newer
WHERE judgments.corpus_id = :corpus_id
    AND judgments.query_id = newer.query_id
    AND judgments.paper_id = newer.paper_id
    AND judgments.assessor = newer.assessor
    AND judgments.split = newer.split
    AND judgments.grade <> newer.grade

-- name: insert_judgments
INSERT INTO judgments (corpus_id, query_id, paper_id, assessor, split, grade, batch_id)
SELECT
    :corpus_id,
    staged_judgments.query_id,
    papers.paper_id,
    staged_judgments.assessor,
    staged_judgments.split,
    staged_judgments.grade,
    :batch_id
FROM staged_judgments
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_judgments.source_id = papers.source_id
LEFT JOIN judgments
    ON judgments.corpus_id = :corpus_id
    AND judgments.query_id = staged_judgments.query_id
    AND judgments.paper_id = papers.paper_id
    AND judgments.assessor = staged_judgments.assessor
    AND judgments.split = staged_judgments.split
WHERE judgments.query_id IS NULL

-- name: insert_pool_sources
INSERT INTO pool_sources (corpus_id, query_id, paper_id, source, batch_id)
SELECT DISTINCT
    :corpus_id,
    staged_pool_sources.query_id,
    papers.paper_id,
    staged_pool_sources.source,
    :batch_id
FROM staged_pool_sources
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_pool_sources.source_id = papers.source_id
LEFT JOIN pool_sources
    ON pool_sources.corpus_id = :corpus_id
    AND pool_sources.query_id = staged_pool_sources.query_id
    AND pool_sources.paper_id = papers.paper_id
    AND pool_sources.source = staged_pool_sources.source
WHERE pool_sources.query_id IS NULL

-- name: insert_references
INSERT INTO cited_references (reference_id, corpus_id, reference_key, paper_id)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY named.first_row, named.reference_key),
    :corpus_id,
    named.reference_key,
    papers.paper_id
FROM (
    SELECT reference_key, MIN(row_number) AS first_row
    FROM staged_citations
    GROUP BY reference_key
) AS named
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND named.reference_key = papers.source_id
LEFT JOIN cited_references
    ON cited_references.corpus_id = :corpus_id AND named.reference_key = cited_references.reference_key
WHERE cited_references.reference_id IS NULL

-- name: insert_citations
INSERT INTO citations
    (
        citation_id, citing_paper_id, reference_id, source_reference_id,
        context, context_start, context_end, batch_id
    )
SELECT
    :last_id + ROW_NUMBER() OVER (
        ORDER BY
            staged_citations.row_number,
            staged_citations.citing_source_id,
            staged_citations.reference_key,
            staged_citations.source_reference_id NULLS FIRST,
            staged_citations.context NULLS FIRST,
            staged_citations.context_start NULLS FIRST,
            staged_citations.context_end NULLS FIRST
    ),
    papers.paper_id,
    cited_references.reference_id,
    staged_citations.source_reference_id,
    staged_citations.context,
    staged_citations.context_start,
    staged_citations.context_end,
    :batch_id
FROM staged_citations
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_citations.citing_source_id = papers.source_id
INNER JOIN cited_references
    ON cited_references.corpus_id = :corpus_id
    AND staged_citations.reference_key = cited_references.reference_key
WHERE NOT :may_exist OR NOT EXISTS (
    SELECT 1
    FROM citations AS known
    WHERE known.citing_paper_id = papers.paper_id
        AND known.reference_id = cited_references.reference_id
        AND known.source_reference_id IS NOT DISTINCT FROM staged_citations.source_reference_id
        AND known.context IS NOT DISTINCT FROM staged_citations.context
        AND known.context_start IS NOT DISTINCT FROM staged_citations.context_start
)

-- name: resolve_references
UPDATE cited_references
SET paper_id = papers.paper_id
FROM papers
WHERE papers.corpus_id = :corpus_id
    AND papers.batch_id = :batch_id
    AND cited_references.corpus_id = :corpus_id
    AND cited_references.reference_key = papers.source_id
    AND cited_references.paper_id IS NULL
