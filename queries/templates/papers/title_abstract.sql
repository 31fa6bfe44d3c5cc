TRIM(COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, ''))
