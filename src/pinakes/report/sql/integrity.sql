-- What keys would refuse: rows that name a row which is not there, and keys of more than one row, where the
-- database does not look itself. Each block counts; 0 is right.

-- name: papers.corpus_id
SELECT COUNT(*) FROM papers WHERE corpus_id NOT IN (SELECT corpus_id FROM corpora)

-- name: papers.batch_id
SELECT COUNT(*) FROM papers WHERE batch_id NOT IN (SELECT batch_id FROM load_batches)

-- name: paper_identifiers.paper_id
SELECT COUNT(*) FROM paper_identifiers AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: paper_fields.paper_id
SELECT COUNT(*) FROM paper_fields AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: authorships.paper_id
SELECT COUNT(*) FROM authorships AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: authorships.author_id
SELECT COUNT(*) FROM authorships AS child
WHERE NOT EXISTS (SELECT 1 FROM authors WHERE authors.author_id = child.author_id)

-- name: sections.paper_id
SELECT COUNT(*) FROM sections AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: sentences.paper_id
SELECT COUNT(*) FROM sentences AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: paper_variants.paper_id
SELECT COUNT(*) FROM paper_variants AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: review_scores.paper_id
SELECT COUNT(*) FROM review_scores AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: duplicate_papers.paper_id
SELECT COUNT(*) FROM duplicate_papers AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: duplicate_papers.kept_paper_id
SELECT COUNT(*) FROM duplicate_papers AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.kept_paper_id)

-- name: duplicate_references.reference_id
SELECT COUNT(*) FROM duplicate_references AS child
WHERE NOT EXISTS (SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.reference_id)

-- name: duplicate_references.kept_reference_id
SELECT COUNT(*) FROM duplicate_references AS child
WHERE NOT EXISTS (
    SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.kept_reference_id
)

-- name: reference_identifiers.reference_id
SELECT COUNT(*) FROM reference_identifiers AS child
WHERE NOT EXISTS (SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.reference_id)

-- name: ambiguous_references.reference_id
SELECT COUNT(*) FROM ambiguous_references AS child
WHERE NOT EXISTS (SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.reference_id)

-- name: ambiguous_references.paper_id
SELECT COUNT(*) FROM ambiguous_references AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: pending_citations.reference_id
SELECT COUNT(*) FROM pending_citations AS child
WHERE NOT EXISTS (SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.reference_id)

-- name: labels.paper_id
SELECT COUNT(*) FROM labels AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: cited_references.paper_id
SELECT COUNT(*) FROM cited_references AS child
WHERE child.paper_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: citations.citing_paper_id
SELECT COUNT(*) FROM citations AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.citing_paper_id)

-- name: citations.reference_id
SELECT COUNT(*) FROM citations AS child
WHERE NOT EXISTS (SELECT 1 FROM cited_references WHERE cited_references.reference_id = child.reference_id)

-- name: benchmark_queries.paper_id
SELECT COUNT(*) FROM benchmark_queries AS child
WHERE child.paper_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: judgments.paper_id
SELECT COUNT(*) FROM judgments AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: judgments.query_id
SELECT COUNT(*) FROM judgments AS child
WHERE NOT EXISTS (
    SELECT 1
    FROM benchmark_queries
    WHERE benchmark_queries.corpus_id = child.corpus_id AND benchmark_queries.query_id = child.query_id
)

-- name: pool_sources.paper_id
SELECT COUNT(*) FROM pool_sources AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: pool_sources.query_id
SELECT COUNT(*) FROM pool_sources AS child
WHERE NOT EXISTS (
    SELECT 1
    FROM benchmark_queries
    WHERE benchmark_queries.corpus_id = child.corpus_id AND benchmark_queries.query_id = child.query_id
)

-- name: sentence_selections.position
SELECT COUNT(*) FROM sentence_selections AS child
WHERE NOT EXISTS (
    SELECT 1
    FROM benchmark_queries
    INNER JOIN sentences ON benchmark_queries.paper_id = sentences.paper_id
    WHERE benchmark_queries.corpus_id = child.corpus_id
        AND benchmark_queries.query_id = child.query_id
        AND sentences.section_number = 0
        AND sentences.position = child.position
)

-- name: rejected_rows.batch_id
SELECT COUNT(*) FROM rejected_rows AS child
WHERE NOT EXISTS (SELECT 1 FROM load_batches WHERE load_batches.batch_id = child.batch_id)

-- name: runs.benchmark
SELECT COUNT(*) FROM runs WHERE benchmark NOT IN (SELECT name FROM benchmarks)

-- name: hits.run_id
SELECT COUNT(*) FROM hits AS child
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = child.run_id)

-- name: hits.paper_id
SELECT COUNT(*) FROM hits AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: scores.run_id
SELECT COUNT(*) FROM scores AS child
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = child.run_id)

-- name: paper_identifiers.key
SELECT COUNT(*) FROM (SELECT paper_id, scheme, identifier FROM paper_identifiers GROUP BY paper_id, scheme, identifier HAVING COUNT(*) > 1) AS repeated

-- name: paper_fields.key
SELECT COUNT(*) FROM (SELECT paper_id, assigned_by, field FROM paper_fields GROUP BY paper_id, assigned_by, field HAVING COUNT(*) > 1) AS repeated

-- name: authorships.key
SELECT COUNT(*) FROM (SELECT paper_id, position FROM authorships GROUP BY paper_id, position HAVING COUNT(*) > 1) AS repeated

-- name: sections.key
SELECT COUNT(*) FROM (SELECT paper_id, section_number FROM sections GROUP BY paper_id, section_number HAVING COUNT(*) > 1) AS repeated

-- name: sentences.key
SELECT COUNT(*) FROM (SELECT paper_id, section_number, position FROM sentences GROUP BY paper_id, section_number, position HAVING COUNT(*) > 1) AS repeated

-- name: paper_variants.key
SELECT COUNT(*) FROM (SELECT paper_id, code FROM paper_variants GROUP BY paper_id, code HAVING COUNT(*) > 1) AS repeated

-- name: review_scores.key
SELECT COUNT(*) FROM (SELECT paper_id, review_id, aspect FROM review_scores GROUP BY paper_id, review_id, aspect HAVING COUNT(*) > 1) AS repeated

-- name: citations.key
SELECT COUNT(*) FROM (SELECT citation_id FROM citations GROUP BY citation_id HAVING COUNT(*) > 1) AS repeated

-- name: pending_citations.key
SELECT COUNT(*) FROM (SELECT citation_id FROM pending_citations GROUP BY citation_id HAVING COUNT(*) > 1) AS repeated

-- name: hits.key
SELECT COUNT(*) FROM (SELECT run_id, query_id, paper_id FROM hits GROUP BY run_id, query_id, paper_id HAVING COUNT(*) > 1) AS repeated

-- name: pool_members.key
SELECT COUNT(*) FROM (SELECT benchmark, sample, position FROM pool_members GROUP BY benchmark, sample, position HAVING COUNT(*) > 1) AS repeated

-- name: samplings.corpus_id
SELECT COUNT(*) FROM samplings WHERE corpus_id NOT IN (SELECT corpus_id FROM corpora)

-- name: sampled_queries.benchmark
SELECT COUNT(*) FROM sampled_queries WHERE benchmark NOT IN (SELECT benchmark FROM samplings)

-- name: sampled_queries.paper_id
SELECT COUNT(*) FROM sampled_queries AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: sampled_citations.paper_id
SELECT COUNT(*) FROM sampled_citations AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: sampled_citations.query_id
SELECT COUNT(*) FROM sampled_citations AS child
WHERE NOT EXISTS (
    SELECT 1 FROM sampled_queries
    WHERE sampled_queries.benchmark = child.benchmark AND sampled_queries.query_id = child.query_id
)

-- name: pools.benchmark
SELECT COUNT(*) FROM pools WHERE benchmark NOT IN (SELECT benchmark FROM samplings)

-- name: pool_members.paper_id
SELECT COUNT(*) FROM pool_members AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: pool_members.sample
SELECT COUNT(*) FROM pool_members AS child
WHERE NOT EXISTS (
    SELECT 1 FROM pools WHERE pools.benchmark = child.benchmark AND pools.sample = child.sample
)

-- name: constructed_candidates.paper_id
SELECT COUNT(*) FROM constructed_candidates AS child
WHERE NOT EXISTS (SELECT 1 FROM papers WHERE papers.paper_id = child.paper_id)

-- name: constructed_candidates.query_id
SELECT COUNT(*) FROM constructed_candidates AS child
WHERE NOT EXISTS (
    SELECT 1 FROM sampled_queries
    WHERE sampled_queries.benchmark = child.benchmark AND sampled_queries.query_id = child.query_id
)
