-- Labelled papers: which of those that `drawing_offered` has can be trained on, and which of them are drawn.

-- name: find_repeated
SELECT drawing_papers.paper_key, COUNT(*) AS targets
FROM drawing_offered
INNER JOIN drawing_papers ON drawing_offered.paper_id = drawing_papers.paper_id
GROUP BY drawing_papers.paper_key
HAVING COUNT(*) > 1
ORDER BY drawing_papers.paper_key
LIMIT 1

-- name: make_stated
-- Each paper with why it is left out.
CREATE {scratch} TABLE drawing_stated AS
SELECT
    drawing_papers.paper_id,
    CASE
        WHEN drawing_papers.has_text = 0 THEN 'papers without a text'
        WHEN drawing_papers.is_held = 1 THEN 'papers asked for in a test'
        WHEN offered.targets = 0 AND :needs_target = 1 THEN 'papers without a label or a number'
    END AS reason
FROM drawing_papers
INNER JOIN (
    SELECT
        drawing_offered.paper_id,
        COUNT(drawing_offered.label) + COUNT(drawing_offered.value) AS targets
    FROM drawing_offered
    GROUP BY drawing_offered.paper_id
) AS offered ON drawing_papers.paper_id = offered.paper_id

-- name: count_left_out
SELECT drawing_stated.reason, COUNT(*) AS items
FROM drawing_stated
WHERE drawing_stated.reason IS NOT NULL
GROUP BY drawing_stated.reason
ORDER BY drawing_stated.reason

-- name: make_classes
CREATE {scratch} TABLE drawing_classes AS
SELECT drawing_offered.label, COUNT(*) AS papers
FROM drawing_offered
INNER JOIN drawing_stated ON drawing_offered.paper_id = drawing_stated.paper_id
WHERE drawing_stated.reason IS NULL AND drawing_offered.label IS NOT NULL
GROUP BY drawing_offered.label

-- name: list_classes
SELECT drawing_classes.label, drawing_classes.papers
FROM drawing_classes

-- name: make_eligible
-- A paper whose every class was seen once has none.
CREATE {scratch} TABLE drawing_eligible AS
SELECT
    drawing_stated.paper_id,
    drawing_papers.paper_key,
    drawing_papers.side,
    ROW_NUMBER() OVER (
        PARTITION BY drawing_papers.side
        ORDER BY CAST(md5(drawing_papers.paper_key || ':' || CAST(:seed AS TEXT)) AS UUID), drawing_papers.paper_key
    ) AS position
FROM drawing_stated
INNER JOIN drawing_papers ON drawing_stated.paper_id = drawing_papers.paper_id
WHERE drawing_stated.reason IS NULL
    AND (
        :needs_class = 0
        OR EXISTS (
            SELECT 1
            FROM drawing_offered
            INNER JOIN drawing_classes ON drawing_offered.label = drawing_classes.label
            WHERE drawing_offered.paper_id = drawing_stated.paper_id AND drawing_classes.papers > 1
        )
    )

-- name: count_ineligible
SELECT COUNT(*) AS items
FROM drawing_stated
WHERE drawing_stated.reason IS NULL
    AND drawing_stated.paper_id NOT IN (SELECT drawing_eligible.paper_id FROM drawing_eligible)

-- name: count_undrawn
SELECT COUNT(*) AS items
FROM drawing_eligible
WHERE drawing_eligible.paper_id NOT IN (SELECT drawing_drawn.paper_id FROM drawing_drawn)

-- name: make_drawn
CREATE {scratch} TABLE drawing_drawn AS
SELECT
    drawing_eligible.side,
    drawing_eligible.position,
    drawing_eligible.paper_id
FROM drawing_eligible
WHERE drawing_eligible.position
    <= CASE drawing_eligible.side WHEN 'train' THEN CAST(:most_train AS BIGINT) ELSE CAST(:most_validation AS BIGINT) END

-- name: list_drawn
SELECT drawing_drawn.side, drawing_drawn.position, drawing_drawn.paper_id
FROM drawing_drawn
ORDER BY drawing_drawn.side, drawing_drawn.position

-- name: list_targets
SELECT drawing_drawn.side, drawing_drawn.position, drawing_offered.label, drawing_offered.value
FROM drawing_drawn
INNER JOIN drawing_offered ON drawing_drawn.paper_id = drawing_offered.paper_id
ORDER BY drawing_drawn.side, drawing_drawn.position
