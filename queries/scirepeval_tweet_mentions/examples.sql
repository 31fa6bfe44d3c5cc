-- How much a paper was tweeted about: as published, or by TweetPap, of papers whose texts another corpus has.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_tweet_mentions'
),

labelled AS (
    SELECT
        labelled_papers.task,
        labelled_papers.source_id,
        labelled_papers.paper_id,
        labelled_papers.side,
        labelled_papers.position,
        labelled_papers.value
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task IN ('tweet_mentions')
        AND labelled_papers.value IS NOT NULL
),

tweeted AS (
    SELECT
        papers.source_id,
        papers.paper_id,
        SUM(CASE labels.task WHEN 'tweetpap_retweets' THEN labels.value ELSE 0 END) AS retweets,
        SUM(CASE labels.task WHEN 'tweetpap_favorites' THEN labels.value ELSE 0 END) AS favourites
    FROM papers
    INNER JOIN labels ON papers.paper_id = labels.paper_id
    WHERE papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labels.task IN ('tweetpap_retweets', 'tweetpap_favorites')
        AND NOT EXISTS (SELECT 1 FROM labelled)
    GROUP BY papers.source_id, papers.paper_id
),

scaled AS (
    SELECT
        tweeted.source_id,
        tweeted.paper_id,
        COALESCE(tweeted.retweets / NULLIF(MAX(tweeted.retweets) OVER (), 0), 0)
        + COALESCE(tweeted.favourites / NULLIF(MAX(tweeted.favourites) OVER (), 0), 0) AS value
    FROM tweeted
),

described AS (
    SELECT
        paper_identifiers.identifier,
        MIN(papers.paper_id) AS paper_id
    FROM paper_identifiers
    INNER JOIN papers ON paper_identifiers.paper_id = papers.paper_id
    WHERE paper_identifiers.scheme = 'arxiv'
        AND papers.corpus_id NOT IN (SELECT chosen.corpus_id FROM chosen)
        AND COALESCE(papers.title, papers.abstract) IS NOT NULL
    GROUP BY paper_identifiers.identifier
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    labelled.position,
    labelled.value
FROM labelled
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task = 'tweet_mentions'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'tweet_mentions')
    )

UNION ALL

SELECT
    scaled.source_id AS query_id,
    described.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(scaled.source_id), scaled.source_id) AS position,
    scaled.value
FROM scaled
INNER JOIN described ON scaled.source_id = described.identifier
INNER JOIN paper_parts ON scaled.paper_id = paper_parts.paper_id
