-- Why are works cited?
--
-- Where the source says so (the Academic Graph, MultiCite, CL-SciSumm), a mention carries its intents, joined by commas.
SELECT corpora.name AS corpus, citations.intents, COUNT(*) AS mentions
FROM citations
INNER JOIN papers ON citations.citing_paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE citations.intents IS NOT NULL
GROUP BY corpora.name, citations.intents
ORDER BY corpora.name, mentions DESC, citations.intents
