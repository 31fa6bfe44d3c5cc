-- How many papers TweetPap counts tweets of, and for how many of them another corpus has a text.
SELECT
    COUNT(*) AS papers_with_tweets,
    COUNT(described.identifier) AS papers_with_text
FROM papers
INNER JOIN chosen_corpora ON papers.corpus_id = chosen_corpora.corpus_id
LEFT JOIN (
    SELECT DISTINCT paper_identifiers.identifier
    FROM paper_identifiers
    INNER JOIN papers AS others ON paper_identifiers.paper_id = others.paper_id
    INNER JOIN chosen_corpora AS read ON others.corpus_id <> read.corpus_id
    WHERE read.benchmark = 'scirepeval_tweet_mentions'
        AND paper_identifiers.scheme = 'arxiv'
        AND COALESCE(others.title, others.abstract) IS NOT NULL
) AS described ON papers.source_id = described.identifier
WHERE chosen_corpora.benchmark = 'scirepeval_tweet_mentions' AND chosen_corpora.corpus = 'tweetpap'
