SELECT judged_papers.query_id, judged_papers.paper_id, judged_papers.grade
FROM judged_papers
WHERE judged_papers.corpus = 'trec_test';
