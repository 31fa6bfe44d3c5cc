-- Which papers were merged, and into which?
--
-- Deleting a row of `duplicate_papers` undoes its merge; the next `pinakes resolve` then answers without it.
SELECT corpora.name AS corpus, merged.source_id AS merged, kept.source_id AS kept, kept.title
FROM duplicate_papers
INNER JOIN papers AS merged ON duplicate_papers.paper_id = merged.paper_id
INNER JOIN papers AS kept ON duplicate_papers.kept_paper_id = kept.paper_id
INNER JOIN corpora ON kept.corpus_id = corpora.corpus_id
ORDER BY corpora.name, kept.source_id, merged.source_id
