TRIM(BOTH ' ' FROM COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, ''))
