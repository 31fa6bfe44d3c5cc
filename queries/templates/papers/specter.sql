CASE
    WHEN COALESCE(papers.title, '') = '' AND COALESCE(papers.abstract, '') = '' THEN ''
    ELSE COALESCE(papers.title, '') || '[SEP]' || COALESCE(papers.abstract, '')
END
