-- The datasets of Singh and Singh 2022, Table 2: the paper's count of papers, and ours where a source is loaded.
WITH published (number, corpus, domain, subdomain, papers) AS (
    VALUES
    (1, 'ACL-ANTH', 'CS', 'NLP', 35482),
    (2, 'ICLR', 'CS', 'Deep Learning', 5032),
    (3, 'Arxiv-CS_SY', 'CS', 'Systems and Control', 10000),
    (4, 'Arxiv-MATH', 'MT', 'Algebraic Topology', 10000),
    (5, 'Arxiv-HEP', 'HEP', 'HEP Theory', 10000),
    (6, 'Arxiv-QBIO', 'QB', 'Neurons and Cognition', 6903),
    (7, 'Arxiv-ECON', 'ECO', 'Econometrics, General and Theoretical Economics', 4542)
)

SELECT
    published.number,
    published.corpus,
    published.domain,
    published.subdomain,
    published.papers AS published_papers,
    datasets.within,
    COALESCE(datasets.papers, 0) AS papers,
    COALESCE(datasets.originals, 0) AS originals
FROM published
LEFT JOIN self_retrieval.datasets AS datasets ON published.corpus = datasets.corpus
