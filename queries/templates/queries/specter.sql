CASE
    WHEN queries.paper_id IS NULL THEN TRIM(BOTH ' ' FROM COALESCE(queries.text, ''))
    WHEN COALESCE(papers.title, '') = '' AND COALESCE(papers.abstract, '') = '' THEN ''
    ELSE COALESCE(papers.title, '') || '[SEP]' || COALESCE(papers.abstract, '')
END
