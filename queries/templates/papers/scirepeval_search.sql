TRIM(BOTH ' ' FROM CONCAT_WS(
    ' [SEP] ',
    NULLIF(papers.title, ''),
    NULLIF(papers.abstract, ''),
    NULLIF(papers.venue, ''),
    CAST(papers.year AS TEXT)
))
