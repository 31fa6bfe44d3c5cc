CASE
    WHEN queries.paper_id IS NULL THEN TRIM(BOTH ' ' FROM COALESCE(queries.text, ''))
    ELSE TRIM(BOTH ' ' FROM CONCAT_WS(' [SEP] ', NULLIF(papers.title, ''), NULLIF(papers.abstract, '')))
END
