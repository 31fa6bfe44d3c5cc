TRIM(BOTH ' ' FROM COALESCE(papers.title, '') || ' ' || COALESCE(queries.text, ''))
