TRIM(COALESCE(papers.title, ''))
