"""Queries that pages show a reader, who runs them by `pinakes sql`: all rows of what a page has a part of."""

# ruff: noqa: S608 - nothing here is run by Pinakes; texts are quoted as SQL has them

from collections.abc import Sequence
from typing import Final

from pinakes.database.sql_blocks import quote_text

REJECTED_ROWS: Final = """\
SELECT corpora.name, load_batches.file, rejected_rows.reason, rejected_rows.location, rejected_rows.message,
  rejected_rows.raw
FROM rejected_rows
INNER JOIN load_batches ON rejected_rows.batch_id = load_batches.batch_id
INNER JOIN corpora ON load_batches.corpus_id = corpora.corpus_id
ORDER BY rejected_rows.batch_id, rejected_rows.row_number"""
EMPTY_PAPERS: Final = """\
SELECT corpora.name, papers.source_id, papers.title
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE papers.abstract IS NULL OR TRIM(papers.abstract) = ''
ORDER BY papers.paper_id"""
UNRESOLVED_CITATIONS: Final = """\
SELECT corpora.name, unresolved_citations.title, COUNT(*) AS mentions
FROM unresolved_citations
INNER JOIN corpora ON unresolved_citations.corpus_id = corpora.corpus_id
GROUP BY corpora.name, unresolved_citations.title
ORDER BY mentions DESC"""


def select_scores(benchmark: str) -> str:
    """Every score of a benchmark over a subset."""
    return f"""\
SELECT runs.system, scores.subset, scores.measure, scores.value
FROM scores
INNER JOIN runs ON scores.run_id = runs.run_id
WHERE runs.benchmark = {quote_text(benchmark)} AND scores.query_id IS NULL
ORDER BY scores.measure, scores.subset, scores.value DESC"""


def select_published(benchmark: str) -> str:
    """Every published figure of a benchmark."""
    return f"""\
SELECT source, system, subset, measure, printed
FROM published_scores
WHERE benchmark = {quote_text(benchmark)}
ORDER BY source, system, subset, measure"""


def select_differences(run_id: int, other_run_id: int, measure: str) -> str:
    """The difference of a run from another on every query."""
    return f"""\
SELECT query_id, other_value, value, difference
FROM score_differences
WHERE run_id = {run_id} AND other_run_id = {other_run_id} AND measure = {quote_text(measure)}
  AND subset = 'all'
ORDER BY difference DESC, query_id"""


def select_rankings(benchmark: str, run_ids: Sequence[int], query_id: str) -> str:
    """The whole rankings of a query, with grades. `benchmark` is the name of its schema."""
    return f"""\
SELECT runs.system, hits.rank, hits.score, judgments.grade, papers.source_id, papers.title
FROM hits
INNER JOIN runs ON hits.run_id = runs.run_id
INNER JOIN papers ON hits.paper_id = papers.paper_id
LEFT JOIN {benchmark}.judgments AS judgments
  ON hits.query_id = judgments.query_id AND hits.paper_id = judgments.paper_id
WHERE hits.run_id IN ({", ".join(map(str, run_ids))}) AND hits.query_id = {quote_text(query_id)}
ORDER BY hits.run_id, hits.rank"""


def select_judged(benchmark: str, query_id: str) -> str:
    """All judged papers of a query. `benchmark` is the name of its schema."""
    return f"""\
SELECT judgments.grade, papers.source_id, papers.title
FROM {benchmark}.judgments AS judgments
INNER JOIN papers ON judgments.paper_id = papers.paper_id
WHERE judgments.query_id = {quote_text(query_id)}
ORDER BY judgments.grade DESC, papers.source_id"""
