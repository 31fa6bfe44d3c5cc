TRIM(COALESCE(papers.abstract, ''))
