-- The digest of the text that derived rows are made of: a paper's title and abstract (section 0), and each section.
CREATE VIEW text_digests AS
SELECT
    paper_id,
    CAST(0 AS INTEGER) AS section_number,
    CAST(md5(COALESCE(title, '') || CHR(31) || COALESCE(abstract, '')) AS UUID) AS text_digest
FROM papers
UNION ALL
SELECT paper_id, section_number, CAST(md5(text) AS UUID) AS text_digest
FROM sections
