-- Which terms make two papers alike?
--
-- What each common term adds to the score of the second paper where the first one asks with its text, and the other way round.
--
-- {index}: index (synthetic/sparse_bm25/title_abstract)
-- {paper}: text (syn-00000001)
-- {other}: text (syn-00000002)
-- {limit}: number = 20
SELECT
    indexed_terms.term,
    indexed_terms.document_frequency,
    mine.frequency AS in_paper,
    theirs.frequency AS in_other,
    CAST(mine.frequency * theirs.weight AS DECIMAL(9, 4)) AS paper_asks,
    CAST(theirs.frequency * mine.weight AS DECIMAL(9, 4)) AS other_asks
FROM term_indexes
INNER JOIN papers AS paper ON term_indexes.corpus_id = paper.corpus_id
INNER JOIN papers AS other ON term_indexes.corpus_id = other.corpus_id
INNER JOIN postings AS mine ON paper.paper_id = mine.paper_id
INNER JOIN postings AS theirs ON other.paper_id = theirs.paper_id AND mine.term_id = theirs.term_id
INNER JOIN indexed_terms
    ON mine.term_id = indexed_terms.term_id
    AND term_indexes.side_index_id = indexed_terms.side_index_id
WHERE term_indexes.name = '{index}' AND paper.source_id = '{paper}' AND other.source_id = '{other}'
ORDER BY mine.frequency * theirs.weight + theirs.frequency * mine.weight DESC, indexed_terms.term
LIMIT {limit}
