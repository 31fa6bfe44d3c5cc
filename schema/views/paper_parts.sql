CREATE VIEW paper_parts AS
SELECT
    named.paper_id,
    CAST((
        CAST(268435456 AS BIGINT) * (POSITION(SUBSTR(named.digest, 1, 1) IN '0123456789abcdef') - 1)
        + CAST(16777216 AS BIGINT) * (POSITION(SUBSTR(named.digest, 2, 1) IN '0123456789abcdef') - 1)
        + CAST(1048576 AS BIGINT) * (POSITION(SUBSTR(named.digest, 3, 1) IN '0123456789abcdef') - 1)
        + CAST(65536 AS BIGINT) * (POSITION(SUBSTR(named.digest, 4, 1) IN '0123456789abcdef') - 1)
        + CAST(4096 AS BIGINT) * (POSITION(SUBSTR(named.digest, 5, 1) IN '0123456789abcdef') - 1)
        + CAST(256 AS BIGINT) * (POSITION(SUBSTR(named.digest, 6, 1) IN '0123456789abcdef') - 1)
        + CAST(16 AS BIGINT) * (POSITION(SUBSTR(named.digest, 7, 1) IN '0123456789abcdef') - 1)
        + CAST(1 AS BIGINT) * (POSITION(SUBSTR(named.digest, 8, 1) IN '0123456789abcdef') - 1)
    ) % 10 AS INTEGER) AS part
FROM (
    SELECT
        papers.paper_id,
        md5(corpora.name || ':' || papers.source_id) AS digest
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
) AS named
