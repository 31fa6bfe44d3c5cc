-- How often is each cited work mentioned, whatever it is called?
--
-- `distinct_references` counts the mentions of all keys under which a work was cited.
--
-- {limit}: number = 20
SELECT corpora.name AS corpus, distinct_references.reference_key, distinct_references.mentions
FROM distinct_references
INNER JOIN corpora ON distinct_references.corpus_id = corpora.corpus_id
ORDER BY distinct_references.mentions DESC, corpora.name, distinct_references.reference_key
LIMIT {limit}
