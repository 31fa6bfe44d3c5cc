"""The published figures of citation recommendation: each column agrees with its printed mean."""

from collections import defaultdict
from statistics import fmean

import pytest

from pinakes.queries.definition import PublishedScore, read_benchmark
from pinakes.sample.export_pools import FIELDS

MODELS = ["ASPIRE-BM", "ASPIRE-CS", "BM25", "SPECTER", "SciBERT", "SciNCL"]
TYPE_MEANS = {
    "bm25": (61.8, 50.4),
    "specter": (57.0, 45.4),
    "scincl": (57.8, 46.1),
    "graph": (55.9, 44.9),
    "most_cited": (90.8, 83.8),
    "random": (95.7, 91.7),
}
"""candidate type -> the means of MAP and R@5 over the models, as Table 4 prints them in per cent"""
ROUNDING = 0.1 + 1e-9
"""how far a printed mean and the mean of printed figures can be apart, all rounded to one decimal"""


def published(benchmark: str, table: str) -> list[PublishedScore]:
    return [score for score in read_benchmark(benchmark).published if table in score.source]


@pytest.mark.parametrize(
    ("benchmark", "table", "measures"),
    [("field_level", "Tables 2, 7 and 8", ["AP", "R@30", "nDCG"]), ("mdcr", "Table 3", ["AP", "R@5"])],
)
def test_the_printed_average_is_the_mean_over_the_fields(
    benchmark: str, table: str, measures: list[str]
) -> None:
    columns: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for score in published(benchmark, table):
        columns[score.system, score.measure][score.subset] = 100 * score.value
    assert sorted(columns) == sorted((model, measure) for model in MODELS for measure in measures)
    for figures in columns.values():
        printed = figures.pop("mean(field)")
        assert set(figures) == {f"field={field}" for field in FIELDS}
        assert fmean(figures.values()) == pytest.approx(printed, abs=ROUNDING)


def test_the_printed_averages_of_the_candidate_types_are_the_means_over_the_models() -> None:
    columns = defaultdict(list)
    for score in published("mdcr", "Table 4"):
        columns[score.subset.removeprefix("type="), score.measure].append(100 * score.value)
    assert set(columns) == {(source, measure) for source in TYPE_MEANS for measure in ("AP", "R@5")}
    for source, (precision, recall) in TYPE_MEANS.items():
        assert len(columns[source, "AP"]) == len(columns[source, "R@5"]) == len(MODELS)
        assert fmean(columns[source, "AP"]) == pytest.approx(precision, abs=ROUNDING)
        assert fmean(columns[source, "R@5"]) == pytest.approx(recall, abs=ROUNDING)


def test_the_four_decimals_of_the_release_round_to_the_papers_one() -> None:
    paper = {
        (score.subset, score.measure): score.value
        for score in published("mdcr", "Table 3")
        if score.system == "SciNCL"
    }
    release = published("mdcr", "README")
    assert len(release) == 12
    for score in release:
        subset = score.subset.replace("rounded ", "")
        if (subset, score.measure) in paper:
            assert round(100 * score.value, 1) == pytest.approx(100 * paper[subset, score.measure])


def test_what_is_printed_falls_as_the_pool_grows() -> None:
    columns = defaultdict(list)
    for score in published("large_scale", "Table 1"):
        columns[score.system, score.measure].append((int(score.subset.partition("=")[2]), score.value))
    assert len(columns) == 15
    for figures in columns.values():
        assert [size for size, _ in figures] == [200_000, 500_000, 1_000_000, 2_000_000]
        values = [value for _, value in figures]
        assert values == sorted(values, reverse=True)
