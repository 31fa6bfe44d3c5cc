TRIM(BOTH ' ' FROM COALESCE(papers.abstract, ''))
