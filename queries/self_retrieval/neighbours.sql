-- The altered texts of the originals, from every producer. Those of the generator's semantics as-published are
-- asked in the mode published, all others in the mode corrected. A stale one is of an older text of its paper.
SELECT
    originals.corpus,
    originals.within,
    originals.paper_id,
    originals.query_id,
    paper_variants.code,
    codes.category,
    codes.number,
    paper_variants.title,
    paper_variants.abstract,
    paper_variants.producer,
    CASE
        WHEN paper_variants.producer LIKE 'neighbours % as-published %' THEN 'published'
        ELSE 'corrected'
    END AS mode,
    paper_variants.text_digest IS NOT NULL
        AND paper_variants.text_digest <> CAST(
            md5(COALESCE(papers.title, '') || CHR(31) || COALESCE(papers.abstract, '')) AS UUID
        ) AS is_stale
FROM self_retrieval.originals AS originals
INNER JOIN paper_variants ON originals.paper_id = paper_variants.paper_id
INNER JOIN papers ON originals.paper_id = papers.paper_id
INNER JOIN self_retrieval.codes AS codes ON paper_variants.code = codes.code
