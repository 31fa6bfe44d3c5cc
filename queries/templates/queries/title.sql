TRIM(BOTH ' ' FROM COALESCE(papers.title, ''))
