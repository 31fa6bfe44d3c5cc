TRIM(BOTH ' ' FROM CONCAT_WS(' [SEP] ', NULLIF(papers.title, ''), NULLIF(papers.abstract, '')))
