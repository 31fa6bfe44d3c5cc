TRIM(BOTH ' ' FROM COALESCE(queries.text, ''))
