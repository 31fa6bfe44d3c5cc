-- queries of csfcube
SELECT queries.query_id, (TRIM(BOTH ' ' FROM COALESCE((
    SELECT STRING_AGG(sentences.text, ' ' ORDER BY sentences.position)
    FROM distinct_sentences AS sentences
    WHERE sentences.paper_id = queries.paper_id
        AND sentences.section_number = 0
        AND sentences.facet = queries.facet
), ''))) AS text, queries.paper_id, queries.facet, queries.fold 
FROM csfcube.queries AS queries LEFT OUTER JOIN papers ON papers.paper_id = queries.paper_id ORDER BY queries.query_id

-- queries of scifact
SELECT queries.query_id, (TRIM(BOTH ' ' FROM COALESCE(queries.text, ''))) AS text, queries.paper_id 
FROM scifact.queries AS queries LEFT OUTER JOIN papers ON papers.paper_id = queries.paper_id ORDER BY queries.query_id

-- candidates of csfcube
SELECT candidates.query_id, candidates.paper_id 
FROM csfcube.candidates AS candidates 
WHERE candidates.paper_id IN (SELECT papers.paper_id 
FROM papers)

-- candidates of scifact
SELECT candidates.paper_id 
FROM scifact.candidates AS candidates 
WHERE candidates.paper_id IN (SELECT papers.paper_id 
FROM papers)

-- judgments of csfcube
SELECT judgments.query_id, papers.source_id, judgments.grade 
FROM csfcube.judgments AS judgments JOIN papers ON papers.paper_id = judgments.paper_id ORDER BY judgments.query_id, papers.source_id

-- candidate texts of csfcube
SELECT papers.paper_id, (TRIM(BOTH ' ' FROM COALESCE(papers.abstract, ''))) AS text 
FROM papers 
WHERE papers.paper_id IN (SELECT candidates.paper_id 
FROM csfcube.candidates AS candidates) ORDER BY papers.paper_id

-- candidate texts of scifact, titles
SELECT papers.paper_id, (TRIM(BOTH ' ' FROM COALESCE(papers.title, ''))) AS text 
FROM papers 
WHERE papers.paper_id IN (SELECT candidates.paper_id 
FROM scifact.candidates AS candidates) ORDER BY papers.paper_id

-- corpus texts of scifact
SELECT papers.paper_id, (CASE
    -- Where nothing is to be trimmed: DuckDB's TRIM walks the whole text, which takes most of a query's time.
    WHEN papers.title <> '' AND LEFT(papers.title, 1) <> ' '
        AND papers.abstract <> '' AND RIGHT(papers.abstract, 1) <> ' '
    THEN papers.title || ' ' || papers.abstract
    ELSE TRIM(BOTH ' ' FROM COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, ''))
END) AS text, coalesce(papers.title, '') AS title 
FROM papers JOIN corpora ON papers.corpus_id = corpora.corpus_id 
WHERE corpora.name = 'scifact' ORDER BY papers.paper_id

