TRIM(COALESCE(queries.text, ''))
