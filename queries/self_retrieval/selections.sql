-- What can be asked: each loaded corpus by its name, and the datasets of Singh and Singh 2022, Table 2, as
-- selections of loaded corpora. A dataset is selected from the first of its sources that has papers of it; a
-- loaded corpus of a dataset's name takes its place. `within` is the loaded corpus.
WITH held AS (
    SELECT
        corpora.name AS within,
        papers.paper_id,
        papers.source_id,
        papers.year,
        LOWER(COALESCE(papers.venue, '')) AS venue
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
),

-- arXiv categories: 10,000 papers where there are more, in an order that depends on their ids alone.
arxiv_categories (corpus, field) AS (
    VALUES
    ('Arxiv-CS_SY', 'cs.SY'),
    ('Arxiv-MATH', 'math.AT'),
    ('Arxiv-HEP', 'hep-th'),
    ('Arxiv-QBIO', 'q-bio.NC'),
    ('Arxiv-ECON', 'econ.EM'),
    ('Arxiv-ECON', 'econ.GN'),
    ('Arxiv-ECON', 'econ.TH')
),

of_category AS (
    SELECT DISTINCT arxiv_categories.corpus, held.within, held.paper_id, held.source_id
    FROM held
    INNER JOIN paper_fields ON held.paper_id = paper_fields.paper_id
    INNER JOIN arxiv_categories ON paper_fields.field = arxiv_categories.field
    WHERE held.within = 'arxiv' AND paper_fields.assigned_by = 'arxiv'
),

drawn AS (
    SELECT
        corpus,
        within,
        paper_id,
        ROW_NUMBER() OVER (PARTITION BY corpus ORDER BY md5(source_id || ':1'), source_id) AS place
    FROM of_category
),

datasets AS (
    SELECT corpus, within, paper_id, 1 AS preference
    FROM drawn
    WHERE place <= 10000
    UNION ALL
    -- The Anthology until 2021, its own venues without workshops: ids of both styles.
    SELECT 'ACL-ANTH' AS corpus, within, paper_id, 1 AS preference
    FROM held
    WHERE within = 'acl-anthology' AND year <= 2021
        AND (
            (
                SUBSTR(source_id, 1, 1) IN ('A', 'D', 'E', 'J', 'K', 'N', 'P', 'Q')
                AND SUBSTR(source_id, 4, 1) = '-'
                AND SUBSTR(source_id, 1, 5) NOT IN ('D19-5', 'D19-6')
            )
            OR source_id LIKE '____.acl-%'
            OR source_id LIKE '____.aacl-%'
            OR source_id LIKE '____.cl-%'
            OR source_id LIKE '____.conll-%'
            OR source_id LIKE '____.eacl-%'
            OR source_id LIKE '____.emnlp-%'
            OR source_id LIKE '____.findings-%'
            OR source_id LIKE '____.naacl-%'
            OR source_id LIKE '____.tacl-%'
        )
    UNION ALL
    SELECT 'ACL-ANTH' AS corpus, within, paper_id, 2 AS preference
    FROM held
    WHERE within = 'paperlists' AND year <= 2021 AND venue IN ('acl', 'eacl', 'emnlp', 'naacl')
    UNION ALL
    -- The paper does not say which years its 5,032 papers of ICLR are of; we take 2017 to 2020.
    SELECT 'ICLR' AS corpus, within, paper_id, 1 AS preference
    FROM held
    WHERE within = 'openreview' AND year BETWEEN 2017 AND 2020 AND venue LIKE '%iclr%'
    UNION ALL
    SELECT 'ICLR' AS corpus, within, paper_id, 2 AS preference
    FROM held
    WHERE within = 'paperlists' AND year BETWEEN 2017 AND 2020 AND venue = 'iclr'
),

preferred AS (
    SELECT corpus, MIN(preference) AS preference
    FROM datasets
    WHERE corpus NOT IN (SELECT name FROM corpora)
    GROUP BY corpus
)

SELECT within AS corpus, paper_id, within
FROM held
UNION ALL
SELECT datasets.corpus, datasets.paper_id, datasets.within
FROM datasets
INNER JOIN preferred ON datasets.corpus = preferred.corpus AND datasets.preference = preferred.preference
