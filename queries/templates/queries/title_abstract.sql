CASE
    -- Where nothing is to be trimmed: DuckDB's TRIM walks the whole text, which takes most of a query's time.
    WHEN papers.title <> '' AND LEFT(papers.title, 1) <> ' '
        AND papers.abstract <> '' AND RIGHT(papers.abstract, 1) <> ' '
    THEN papers.title || ' ' || papers.abstract
    ELSE TRIM(BOTH ' ' FROM COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, ''))
END
