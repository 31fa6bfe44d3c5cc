-- The 32 textual neighbours of Singh and Singh 2022, Table 1, by category in the order of its Table 5; then
-- codes of a user's own, which paper_variants has and the paper has not.
WITH published (number, code, category) AS (
    VALUES
    (1, 'TNNU_A', 'LL-HS'),
    (2, 'TNonNNU_A', 'LL-HS'),
    (3, 'T_ANNU', 'LL-HS'),
    (4, 'T_ANonNNU', 'LL-HS'),
    (5, 'T_A_WS', 'LL-HS'),
    (6, 'T_ADelDT', 'LO-HS'),
    (7, 'TDelADJ_A', 'LO-HS'),
    (8, 'TDelNN_A', 'LO-HS'),
    (9, 'TDelVB_A', 'LO-HS'),
    (10, 'TDelDT_A', 'LO-HS'),
    (11, 'TRepNNT_A', 'LO-HS'),
    (12, 'TRepNNA_A', 'LO-HS'),
    (13, 'T_ARot', 'LL-PS'),
    (14, 'T_AShuff', 'LL-PS'),
    (15, 'T_ASortAsc', 'LL-PS'),
    (16, 'T_ASortDesc', 'LL-PS'),
    (17, 'T_ADelRand', 'LO-PS'),
    (18, 'T_ADelADJ', 'LO-PS'),
    (19, 'T_ADelVB', 'LO-PS'),
    (20, 'T_ADelADV', 'LO-PS'),
    (21, 'T_ADelPR', 'LO-PS'),
    (22, 'T_ADelNum', 'LO-PS'),
    (23, 'T_ADelTopNNPH', 'LO-PS'),
    (24, 'T_ADelQ1', 'LO-PS'),
    (25, 'T_ADelQ2', 'LO-PS'),
    (26, 'T_ADelQ3', 'LO-PS'),
    (27, 'T_A_DelNNChar', 'LO-PS'),
    (28, 'T_ADelNN', 'LO-DS'),
    (29, 'T_ADelNNPH', 'LO-DS'),
    (30, 'TDelNN', 'LO-DS'),
    (31, 'T_ADelNonNNs', 'LO-DS'),
    (32, 'T_ARepADJ', 'LO-DS')
)

SELECT number, code, category
FROM published
UNION ALL
SELECT CAST(NULL AS INTEGER) AS number, own.code, 'own' AS category
FROM (SELECT DISTINCT code FROM paper_variants) AS own
WHERE own.code NOT IN (SELECT published.code FROM published)
