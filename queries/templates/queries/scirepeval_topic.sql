TRIM(BOTH ' ' FROM CONCAT_WS(
    ' [SEP] ',
    NULLIF(queries.text, ''),
    NULLIF(queries.description, ''),
    NULLIF(queries.narrative, '')
))
