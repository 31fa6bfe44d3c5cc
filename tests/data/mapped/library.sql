-- name: corpus
SELECT 'library' AS name, 'Our group''s library' AS title, 'internal' AS licence

-- name: papers
SELECT
    record->>'key' AS source_id,
    record->>'title' AS title,
    coalesce(nullif(record->>'abstract', 'n/a'), record->>'summary') AS abstract,
    left(record->>'date', 4) AS year,
    coalesce(record->>'venue', 'unpublished') AS venue
FROM input

-- name: identifiers
SELECT 'doi' AS scheme, record->>'doi' AS identifier FROM input

-- name: identifiers
SELECT
    CASE id.key WHEN 'ArXiv' THEN 'arxiv' WHEN 'ACL' THEN 'acl' ELSE id.key END AS scheme,
    id.value AS identifier
FROM (SELECT unnest(map_entries(CAST(record->'ids' AS MAP(VARCHAR, VARCHAR)))) AS id FROM input)

-- name: fields
SELECT unnest(string_split(record->>'tags', ';')) AS field, 'librarian' AS assigned_by FROM input

-- name: authorships
SELECT person->>'name' AS author_name, 'orcid:' || (person->>'orcid') AS author_source_id
FROM (SELECT unnest(CAST(people AS JSON[])) AS person FROM input)

-- name: labels
SELECT 'reading' AS task, CASE status WHEN '0' THEN 'open' WHEN '1' THEN 'read' ELSE status END AS label
FROM input

-- name: citations
SELECT 'doi:' || required(normalise_identifier('doi', cite->>'doi')) AS reference_key, cite->>'sentence' AS context
FROM (SELECT unnest(CAST(cites AS JSON[])) AS cite FROM input)

-- name: references
SELECT 'doi:' || normalise_identifier('doi', cite->>'doi') AS reference_key, cite->>'title' AS title
FROM (SELECT unnest(CAST(cites AS JSON[])) AS cite FROM input)

-- name: reference_identifiers
SELECT
    'doi:' || normalise_identifier('doi', cite->>'doi') AS reference_key,
    'doi' AS scheme,
    cite->>'doi' AS identifier
FROM (SELECT unnest(CAST(cites AS JSON[])) AS cite FROM input)
