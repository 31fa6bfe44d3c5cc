"""A report small enough to be worked out by hand: two runs over four queries, three published figures."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pinakes.report.data import BenchmarkReport, PairTest, PublishedFigure, RunRow, SubsetScore


def make_run(run_id: int, system: str, **changed: object) -> RunRow:
    run = RunRow(
        run_id=run_id,
        label=system,
        system=system,
        parameters='{"b":0.75,"analysis":{"stemmer":"english"}}',
        encoder=None,
        encoder_revision=None,
        precision=None,
        query_template="text",
        paper_template="abstract",
        code_version="0.1.0",
        dataset_digest="d" * 64,
        view_digest="e" * 64,
        run_digest=str(run_id) * 64,
        device="cpu",
        depth=None,
        started_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        elapsed_s=1.5,
        queries_expected=4,
        queries_answered=4,
        candidates_expected=1400,
        candidates_without_text=0,
        hit_count=5600,
        imported_from=None,
        import_digest=None,
        is_current=True,
    )
    return replace(run, **changed)  # type: ignore[arg-type]


@pytest.fixture
def report() -> BenchmarkReport:
    """BM25 answers all four queries, dense misses one; both have nDCG@10 and P@10, all and by topic."""
    values = {
        1: {"q1": 0.5, "q2": 0.25, "q3": 1.0, "q4": 0.25},
        2: {"q1": 1.0, "q2": 0.5, "q3": 1.0, "q4": 0.0},
    }
    scores = [
        SubsetScore(1, "all", "P@10", 0.1, 4, 4),
        SubsetScore(1, "all", "nDCG@10", 0.5, 4, 4),
        SubsetScore(1, "topic=cells", "nDCG@10", 0.625, 2, 2),
        SubsetScore(2, "all", "P@10", 0.12345, 4, 3),
        SubsetScore(2, "all", "nDCG@10", 0.625, 4, 3),
        SubsetScore(2, "topic=cells", "nDCG@10", 0.5, 2, 1),
    ]
    published = [
        PublishedFigure("Best", "all", "nDCG@10", "Table 4", 0.7, "70.00"),
        PublishedFigure("Old", "all", "nDCG@10", "Table 4", 0.55, "55.00"),
        PublishedFigure("bm-25", "all", "nDCG@10", "Table 4", 0.4988, "49.88"),
    ]
    pair = PairTest(1, 2, 4, 0.125, (-0.25, 0.5), 0.95, 2, 1, 1, 0.382, 0.5, 0.04, 0.00001)
    return BenchmarkReport(
        name="tiny",
        title="Tiny: four queries",
        citation="Somebody 2020, https://example.org/tiny",
        licence="CC0-1.0",
        headline_measure="nDCG@10",
        headline_subset="all",
        measures=("nDCG@10", "P@10"),
        subsets=("all", "topic=cells"),
        scale="percent",
        grades={"0": "not relevant", "1": "relevant"},
        notes=("One query has no answer.",),
        runs=(make_run(1, "BM25"), make_run(2, "dense", queries_answered=3, candidates_without_text=7)),
        scores=scores,
        published=published,
        query_values=values,
        comparisons=(pair,),
        warnings=("dense has no answer to 1 of 4 queries; each counts as zero.",),
    )
