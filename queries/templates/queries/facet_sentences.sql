TRIM(BOTH ' ' FROM COALESCE((
    SELECT STRING_AGG(sentences.text, ' ' ORDER BY sentences.position)
    FROM distinct_sentences AS sentences
    WHERE sentences.paper_id = queries.paper_id
        AND sentences.section_number = 0
        AND sentences.facet = queries.facet
), ''))
