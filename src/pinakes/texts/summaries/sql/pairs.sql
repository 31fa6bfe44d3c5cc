-- What papers of a corpus say of the works that they cite: temporary tables, each made of those before it.

-- name: make_citing
-- Papers that are one work are one: the paper with full text stands for them, then the one that merging kept.
CREATE TEMPORARY TABLE making_citing AS
WITH texts AS (
    SELECT DISTINCT sections.paper_id
    FROM sections
    INNER JOIN papers ON sections.paper_id = papers.paper_id
    WHERE papers.corpus_id = :corpus_id AND sections.section_number >= 1 AND sections.text <> ''
)

SELECT
    papers.paper_id,
    texts.paper_id IS NOT NULL AS has_text,
    FIRST_VALUE(papers.paper_id) OVER (
        PARTITION BY COALESCE(duplicate_papers.kept_paper_id, papers.paper_id)
        ORDER BY
            CASE WHEN texts.paper_id IS NULL THEN 1 ELSE 0 END,
            CASE WHEN duplicate_papers.paper_id IS NULL THEN 0 ELSE 1 END,
            papers.paper_id
    ) AS citing_id
FROM papers
LEFT JOIN texts ON papers.paper_id = texts.paper_id
LEFT JOIN duplicate_papers ON papers.paper_id = duplicate_papers.paper_id
WHERE papers.corpus_id = :corpus_id

-- name: make_works
CREATE TEMPORARY TABLE making_works AS
SELECT
    cited_references.reference_id,
    cited_references.paper_id,
    cited_references.year,
    COALESCE(duplicate_references.kept_reference_id, cited_references.reference_id) AS work_id
FROM cited_references
LEFT JOIN duplicate_references ON cited_references.reference_id = duplicate_references.reference_id
WHERE cited_references.corpus_id = :corpus_id

-- name: make_contexts
-- Each distinct context of a pair, white space collapsed; the mentions without one are a row of their own.
CREATE TEMPORARY TABLE making_contexts AS
WITH mentions AS (
    SELECT
        citations.citation_id,
        making_citing.citing_id AS paper_id,
        making_works.work_id AS reference_id,
        TRIM(REGEXP_REPLACE(COALESCE(citations.context, ''), '[\x09-\x0d ]+', ' ', 'g')) AS context
    FROM citations
    INNER JOIN making_citing ON citations.citing_paper_id = making_citing.paper_id
    INNER JOIN making_works ON citations.reference_id = making_works.reference_id
)

SELECT
    paper_id,
    reference_id,
    context,
    MIN(citation_id) AS first_citation_id,
    COUNT(*) AS mentions
FROM mentions
GROUP BY paper_id, reference_id, context

-- name: make_pairs
CREATE TEMPORARY TABLE making_pairs AS
SELECT
    paper_id,
    reference_id,
    CAST(SUM(mentions) AS BIGINT) AS mentions,
    CAST(SUM(CASE WHEN context = '' THEN 0 ELSE mentions END) AS INTEGER) AS with_context
FROM making_contexts
GROUP BY paper_id, reference_id

-- name: make_queries
-- The abstract of each cited work: the first of those that are found, in the order of `place`; of several of one
-- place that of the work which stands for the others, or of this corpus, then by the names of corpus and paper.
-- A title that one corpus has of several works says nothing.
CREATE TEMPORARY TABLE making_queries AS
WITH members AS (
    SELECT making_works.reference_id, making_works.work_id, making_works.paper_id, making_works.year
    FROM making_works
    WHERE making_works.work_id IN (SELECT making_pairs.reference_id FROM making_pairs)
),

resolved AS (
    SELECT members.work_id, members.paper_id
    FROM members
    WHERE members.paper_id IS NOT NULL
    UNION
    SELECT members.work_id, duplicate_papers.kept_paper_id AS paper_id
    FROM members
    INNER JOIN duplicate_papers ON members.paper_id = duplicate_papers.paper_id
),

own AS (
    SELECT
        members.work_id,
        1 AS place,
        CASE WHEN members.reference_id = members.work_id THEN 0 ELSE 1 END AS distance,
        '' AS corpus,
        cited_references.reference_key AS source_id,
        cited_references.abstract
    FROM members
    INNER JOIN cited_references ON members.reference_id = cited_references.reference_id
    UNION ALL
    SELECT
        resolved.work_id,
        2 AS place,
        0 AS distance,
        '' AS corpus,
        papers.source_id,
        papers.abstract
    FROM resolved
    INNER JOIN papers ON resolved.paper_id = papers.paper_id
),

near AS (
    SELECT own.work_id, own.place, own.distance, own.corpus, own.source_id, own.abstract
    FROM own
    WHERE TRIM(REGEXP_REPLACE(COALESCE(own.abstract, ''), '[\x09-\x0d ]+', ' ', 'g')) <> ''
),

lacking AS (
    SELECT members.reference_id, members.work_id, members.year
    FROM members
    WHERE NOT EXISTS (SELECT 1 FROM near WHERE near.work_id = members.work_id)
),

lacking_resolved AS (
    SELECT resolved.work_id, resolved.paper_id
    FROM resolved
    WHERE NOT EXISTS (SELECT 1 FROM near WHERE near.work_id = resolved.work_id)
),

identifiers AS (
    SELECT lacking.work_id, reference_identifiers.scheme, reference_identifiers.identifier
    FROM lacking
    INNER JOIN reference_identifiers ON lacking.reference_id = reference_identifiers.reference_id
    UNION
    SELECT lacking_resolved.work_id, paper_identifiers.scheme, paper_identifiers.identifier
    FROM lacking_resolved
    INNER JOIN paper_identifiers ON lacking_resolved.paper_id = paper_identifiers.paper_id
),

titles AS (
    SELECT lacking.work_id, lacking.year, reference_title_keys.title_key
    FROM lacking
    INNER JOIN reference_title_keys ON lacking.reference_id = reference_title_keys.reference_id
    WHERE LENGTH(reference_title_keys.title_key) >= :min_characters
    UNION
    SELECT lacking_resolved.work_id, papers.year, paper_title_keys.title_key
    FROM lacking_resolved
    INNER JOIN papers ON lacking_resolved.paper_id = papers.paper_id
    INNER JOIN paper_title_keys ON lacking_resolved.paper_id = paper_title_keys.paper_id
    WHERE LENGTH(paper_title_keys.title_key) >= :min_characters
),

titled AS (
    SELECT DISTINCT
        titles.work_id,
        papers.paper_id,
        papers.corpus_id,
        COALESCE(duplicate_papers.kept_paper_id, papers.paper_id) AS kept_paper_id
    FROM titles
    INNER JOIN paper_title_keys ON titles.title_key = paper_title_keys.title_key
    INNER JOIN papers ON paper_title_keys.paper_id = papers.paper_id
    LEFT JOIN duplicate_papers ON papers.paper_id = duplicate_papers.paper_id
    WHERE ABS(COALESCE(titles.year - papers.year, 0)) <= :years_apart
),

ambiguous AS (
    SELECT DISTINCT several.work_id
    FROM (
        SELECT titled.work_id
        FROM titled
        GROUP BY titled.work_id, titled.corpus_id
        HAVING COUNT(DISTINCT titled.kept_paper_id) > 1
    ) AS several
),

far AS (
    SELECT DISTINCT identifiers.work_id, paper_identifiers.paper_id, 3 AS place
    FROM identifiers
    INNER JOIN paper_identifiers
        ON identifiers.scheme = paper_identifiers.scheme
        AND identifiers.identifier = paper_identifiers.identifier
    UNION ALL
    SELECT titled.work_id, titled.paper_id, 4 AS place
    FROM titled
    WHERE NOT EXISTS (SELECT 1 FROM ambiguous WHERE ambiguous.work_id = titled.work_id)
),

found AS (
    SELECT near.work_id, near.place, near.distance, near.corpus, near.source_id, near.abstract
    FROM near
    UNION ALL
    SELECT
        far.work_id,
        far.place,
        CASE WHEN papers.corpus_id = :corpus_id THEN 0 ELSE 1 END AS distance,
        corpora.name AS corpus,
        papers.source_id,
        papers.abstract
    FROM far
    INNER JOIN papers ON far.paper_id = papers.paper_id
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE TRIM(REGEXP_REPLACE(COALESCE(papers.abstract, ''), '[\x09-\x0d ]+', ' ', 'g')) <> ''
    UNION ALL
    SELECT
        ambiguous.work_id, 5 AS place, 0 AS distance, '' AS corpus, '' AS source_id, NULL AS abstract
    FROM ambiguous
),

ranked AS (
    SELECT
        found.work_id,
        found.place,
        found.abstract,
        ROW_NUMBER() OVER (
            PARTITION BY found.work_id
            ORDER BY found.place, found.distance, found.corpus, found.source_id
        ) AS rank
    FROM found
)

SELECT
    ranked.work_id AS reference_id,
    ranked.abstract AS query,
    CASE ranked.place
        WHEN 1 THEN 'reference'
        WHEN 2 THEN 'paper'
        WHEN 3 THEN 'identifier'
        WHEN 4 THEN 'title'
    END AS query_from
FROM ranked
WHERE ranked.rank = 1

-- name: papers_to_split
-- Papers with full text that say something of a work whose abstract is known.
SELECT DISTINCT making_pairs.paper_id
FROM making_pairs
INNER JOIN making_queries ON making_pairs.reference_id = making_queries.reference_id
INNER JOIN making_citing ON making_pairs.paper_id = making_citing.paper_id
WHERE making_queries.query_from IS NOT NULL AND making_pairs.with_context > 0 AND making_citing.has_text
ORDER BY making_pairs.paper_id

-- name: make_documents
-- The sentences of each paper, of one producer: the splitter's, or with none the first that is a source's.
CREATE TEMPORARY TABLE making_documents AS
WITH chosen AS (
    SELECT sentences.paper_id, MIN(sentences.producer) AS splitter
    FROM sentences
    WHERE sentences.section_number >= 1
        AND sentences.paper_id IN (SELECT making_pairs.paper_id FROM making_pairs)
        AND (
            sentences.producer = CAST(:splitter AS TEXT)
            OR (CAST(:splitter AS TEXT) IS NULL AND sentences.text_digest IS NULL)
        )
    GROUP BY sentences.paper_id
)

SELECT
    sentences.paper_id,
    sentences.producer AS splitter,
    CAST(COUNT(*) AS INTEGER) AS sentences,
    md5(
        STRING_AGG(
            CAST(sentences.section_number AS TEXT) || ' ' || md5(sentences.text), ' '
            ORDER BY sentences.section_number, sentences.position
        )
    ) AS digest
FROM sentences
INNER JOIN chosen ON sentences.paper_id = chosen.paper_id AND sentences.producer = chosen.splitter
WHERE sentences.section_number >= 1
GROUP BY sentences.paper_id, sentences.producer

-- name: make_candidates
-- Every pair with what its example would be, and the first reason why it is none.
CREATE TEMPORARY TABLE making_candidates AS
WITH cited AS (
    SELECT paper_id, reference_id, STRING_AGG(context, CHR(10) ORDER BY first_citation_id) AS cited
    FROM making_contexts
    WHERE context <> ''
    GROUP BY paper_id, reference_id
)

SELECT
    making_pairs.paper_id,
    making_pairs.reference_id,
    making_queries.query,
    making_queries.query_from,
    cited.cited,
    making_pairs.with_context AS mentions,
    making_documents.splitter,
    making_documents.sentences,
    CAST(
        md5(
            making_queries.query_from || CHR(31) || making_queries.query || CHR(31)
            || CAST(making_pairs.with_context AS TEXT) || CHR(31) || cited.cited || CHR(31)
            || making_documents.splitter || CHR(31) || making_documents.digest
        ) AS UUID
    ) AS text_digest,
    CASE
        WHEN making_queries.reference_id IS NULL THEN 'no abstract of the cited work'
        WHEN making_queries.query IS NULL THEN 'several papers with the title of the cited work'
        WHEN cited.cited IS NULL THEN 'no citing context'
        WHEN NOT making_citing.has_text THEN 'no full text'
        WHEN making_documents.sentences IS NULL AND CAST(:splitter AS TEXT) IS NULL
            THEN 'no sentences from the source'
        WHEN making_documents.sentences IS NULL THEN 'no full text'
        WHEN making_documents.sentences < :min_sentences
            THEN 'fewer than ' || CAST(:min_sentences AS TEXT) || ' sentences'
    END AS reason
FROM making_pairs
INNER JOIN making_citing ON making_pairs.paper_id = making_citing.paper_id
LEFT JOIN making_queries ON making_pairs.reference_id = making_queries.reference_id
LEFT JOIN cited
    ON making_pairs.paper_id = cited.paper_id AND making_pairs.reference_id = cited.reference_id
LEFT JOIN making_documents ON making_pairs.paper_id = making_documents.paper_id

-- name: refuse_again
-- What had too few relevant sentences has them still while nothing of it changes.
UPDATE making_candidates
SET reason = absent_examples.reason
FROM absent_examples
WHERE making_candidates.reason IS NULL
    AND absent_examples.producer = :producer
    AND absent_examples.paper_id = making_candidates.paper_id
    AND absent_examples.reference_id = making_candidates.reference_id
    AND absent_examples.text_digest = making_candidates.text_digest

-- name: make_gone
-- Examples that are none any more, or of something else.
CREATE TEMPORARY TABLE making_gone AS
SELECT summary_examples.paper_id, summary_examples.reference_id
FROM summary_examples
INNER JOIN papers ON summary_examples.paper_id = papers.paper_id
LEFT JOIN making_candidates
    ON summary_examples.paper_id = making_candidates.paper_id
    AND summary_examples.reference_id = making_candidates.reference_id
    AND summary_examples.text_digest = making_candidates.text_digest
    AND making_candidates.reason IS NULL
WHERE papers.corpus_id = :corpus_id
    AND summary_examples.producer = :producer
    AND making_candidates.paper_id IS NULL

-- name: make_refused
CREATE TEMPORARY TABLE making_gone AS
SELECT summary_labellings.paper_id, summary_labellings.reference_id
FROM summary_labellings
INNER JOIN papers ON summary_labellings.paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id
    AND summary_labellings.producer = :producer
    AND summary_labellings.labeller = :labeller
    AND summary_labellings.positives < :min_positives

-- name: insert_refused
INSERT INTO absent_examples (paper_id, reference_id, producer, reason, text_digest)
SELECT
    summary_examples.paper_id,
    summary_examples.reference_id,
    summary_examples.producer,
    'fewer than ' || CAST(:min_positives AS TEXT) || ' relevant sentences',
    summary_examples.text_digest
FROM summary_examples
INNER JOIN making_gone
    ON summary_examples.paper_id = making_gone.paper_id
    AND summary_examples.reference_id = making_gone.reference_id
WHERE summary_examples.producer = :producer

-- name: delete_absent
DELETE FROM absent_examples
WHERE absent_examples.producer = :producer
    AND absent_examples.paper_id IN (SELECT papers.paper_id FROM papers WHERE papers.corpus_id = :corpus_id)
    AND NOT EXISTS (
        SELECT 1
        FROM making_candidates
        WHERE making_candidates.paper_id = absent_examples.paper_id
            AND making_candidates.reference_id = absent_examples.reference_id
            AND making_candidates.reason = absent_examples.reason
    )

-- name: insert_absent
INSERT INTO absent_examples (paper_id, reference_id, producer, reason)
SELECT making_candidates.paper_id, making_candidates.reference_id, :producer, making_candidates.reason
FROM making_candidates
WHERE making_candidates.reason IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM absent_examples
        WHERE absent_examples.paper_id = making_candidates.paper_id
            AND absent_examples.reference_id = making_candidates.reference_id
            AND absent_examples.producer = :producer
    )

-- name: insert_examples
INSERT INTO summary_examples
    (
        paper_id, reference_id, producer, query, query_from, cited, mentions, splitter, sentences, text_digest
    )
SELECT
    making_candidates.paper_id,
    making_candidates.reference_id,
    :producer,
    making_candidates.query,
    making_candidates.query_from,
    making_candidates.cited,
    making_candidates.mentions,
    making_candidates.splitter,
    making_candidates.sentences,
    making_candidates.text_digest
FROM making_candidates
WHERE making_candidates.reason IS NULL
    AND NOT EXISTS (
        SELECT 1
        FROM summary_examples
        WHERE summary_examples.paper_id = making_candidates.paper_id
            AND summary_examples.reference_id = making_candidates.reference_id
            AND summary_examples.producer = :producer
    )
