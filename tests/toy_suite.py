"""A tiny suite: a classification with few-shot draws, a regression, two rankings, and one not loaded."""

from pathlib import Path
from typing import Final

SUITE_TOML: Final = """
title = "A suite of a test"
citation = "none"
licence = "none"
groups = ["Seen", "Unseen"]
beside = ["little_beside"]
notes = ["Three benchmarks count: four figures."]
[[published]]
source = "A paper, Table 2"
scale = 100
columns = ["Seen", "Unseen", "Average"]
[published.rows]
"Toy" = ["50.0", "40.1", "45.2"]
"Other" = ["60.0", "41.1", "50.2"]
[[published]]
source = "A paper, Table 7"
format = "PRX"
scale = 100
columns = ["Unseen", "Average"]
[published.rows]
"Toy" = ["11.0", "11.0"]
[ours]
"Toy" = ["first"]
"""

_HEAD: Final = """
title = "{title}"
citation = "none"
licence = "none"
corpus = "{corpus}"
paper_template = "title_abstract"
"""
_SUITE: Final = """
[suite]
name = "little"
group = "{group}"
figures = {figures}
"""
_CHOSEN: Final = """
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
INNER JOIN paper_parts ON papers.paper_id = paper_parts.paper_id
WHERE corpora.name = '{corpus}'
"""
_EXAMPLES: Final = (
    """
SELECT
    papers.source_id AS query_id,
    papers.paper_id,
    CASE WHEN paper_parts.part < 4 THEN 'test' ELSE 'train' END AS split,
    papers.paper_id AS position,
    {target}
"""
    + _CHOSEN
)


def _write(home: Path, toml: str, **views: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "benchmark.toml").write_text(toml, encoding="utf-8")
    for view, text in views.items():
        (home / f"{view}.sql").write_text(text + "\n", encoding="utf-8")


def write_suite(folder: Path) -> Path:
    """The folder, with the suite `little` and its benchmarks over the corpora synthetic and absent."""
    (folder / "little").mkdir(parents=True)
    (folder / "little" / "suite.toml").write_text(SUITE_TOML, encoding="utf-8")
    for name, corpus in (("little_class", "synthetic"), ("little_absent", "absent-one")):
        _write(
            folder / name,
            _HEAD.format(title=name, corpus=corpus)
            + 'task = "classification"\nformat = "CLF"\nheadline_measure = "F1_macro"\n'
            'measures = ["F1_macro", "Accuracy"]\n[probe]\nfew_shot = [{ size = 30, iterations = 3 }]\n'
            + _SUITE.format(group="Seen", figures='[[["all", "F1_macro"], ["30-shot", "F1_macro"]]]'),
            examples=_EXAMPLES.format(
                target="CASE WHEN papers.year < 2005 THEN 'old' ELSE 'new' END AS label", corpus=corpus
            ),
        )
    _write(
        folder / "little_year",
        _HEAD.format(title="little_year", corpus="synthetic")
        + 'task = "regression"\nformat = "RGN"\nheadline_measure = "KendallTau"\nmeasures = ["KendallTau"]\n'
        + _SUITE.format(group="Unseen", figures='[[["all", "KendallTau"]]]'),
        examples=_EXAMPLES.format(
            target="CAST(papers.year AS DOUBLE PRECISION) AS value", corpus="synthetic"
        ),
    )
    for name, figures in (
        ("little_rank", '[[["all", "AP"]], [["all", "nDCG"]]]'),
        ("little_beside", '[[["all", "AP"]]]'),
    ):
        _write(
            folder / name,
            _HEAD.format(title=name, corpus="synthetic")
            + 'format = "PRX"\npool = "shared"\nquery_template = "text"\nheadline_measure = "AP"\n'
            'measures = ["AP", "nDCG"]\n[grades]\n0 = "no"\n1 = "yes"\n'
            + _SUITE.format(group="Unseen", figures=figures),
            queries="SELECT query_id, benchmark_queries.paper_id, text FROM benchmark_queries "
            "INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id WHERE name = 'synthetic'",
            candidates="SELECT papers.paper_id FROM papers "
            "INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id WHERE name = 'synthetic'",
            judgments="SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = 'synthetic'",
        )
    return folder
