-- queries of csfcube
SELECT queries.query_id, (TRIM(BOTH ' ' FROM COALESCE((
    SELECT STRING_AGG(sentences.text, ' ' ORDER BY sentences.position)
    FROM sentences
    WHERE sentences.paper_id = queries.paper_id
        AND sentences.section_number = 0
        AND sentences.facet = queries.facet
), ''))) AS text, queries.facet, queries.fold 
FROM csfcube.queries AS queries LEFT OUTER JOIN papers ON papers.paper_id = queries.paper_id ORDER BY queries.query_id

-- queries of scifact
SELECT queries.query_id, (TRIM(BOTH ' ' FROM COALESCE(queries.text, ''))) AS text 
FROM scifact.queries AS queries LEFT OUTER JOIN papers ON papers.paper_id = queries.paper_id ORDER BY queries.query_id

-- candidates of csfcube
SELECT candidates.query_id, candidates.paper_id, papers.source_id 
FROM csfcube.candidates AS candidates JOIN papers ON papers.paper_id = candidates.paper_id ORDER BY candidates.query_id, candidates.paper_id

-- candidates of scifact
SELECT candidates.paper_id, papers.source_id 
FROM scifact.candidates AS candidates JOIN papers ON papers.paper_id = candidates.paper_id ORDER BY candidates.paper_id

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
SELECT papers.paper_id, (TRIM(BOTH ' ' FROM COALESCE(papers.title, '') || ' ' || COALESCE(papers.abstract, ''))) AS text, coalesce(papers.title, '') AS title 
FROM papers JOIN corpora ON papers.corpus_id = corpora.corpus_id 
WHERE corpora.name = 'scifact' ORDER BY papers.paper_id

