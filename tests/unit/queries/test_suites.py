"""Folders of suites: what they must say; SciRepEval's published averages, which follow from its groups."""

from pathlib import Path

import pytest

from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.definition import list_benchmarks
from pinakes.queries.suites import Suite, list_members, list_suites, read_suite
from tests.toy_suite import SUITE_TOML, write_suite

GROUPS = ("In-Train", "Out-of-Train", "SciDocs")
FIGURES = {"Average": (7, 11, 10), "Average(PRX)": (2, 4, 8)}
"""figures of each group in the paper, of all tasks and of proximity; a ranking of SciDocs has two"""


@pytest.fixture(scope="module")
def scirepeval() -> Suite:
    return read_suite("scirepeval")


def read_rows(suite: Suite) -> dict[tuple[str, str, str], dict[str, float]]:
    """(Source, system, measure) -> column -> the figure as printed."""
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for score in suite.published:
        rows.setdefault((score.source, score.system, score.measure), {})[score.subset] = float(score.printed)
    return rows


def test_a_suite_is_no_benchmark() -> None:
    assert list_suites() == ["scirepeval"]
    assert "scirepeval" not in list_benchmarks()


def test_every_table_of_the_paper_is_there(scirepeval: Suite) -> None:
    rows = read_rows(scirepeval)
    sources = [source.rpartition(", ")[2] for source, _system, _measure in rows]
    counts = {source: sources.count(source) for source in dict.fromkeys(sources)}
    assert counts == {
        "Table 2": 9,
        "Table 3": 8,
        "Table 7": 6,
        "README of allenai/scirepeval at e04594e": 9,
    }
    table = "Singh et al. 2023, Table "
    assert list(rows[table + "2", "SciBERT", "Average"].values()) == [51.2, 52.6, 69.0, 58.1]
    assert list(rows[table + "3", "SPECTER + Adapters + MTL CTRL", "Average"].values()) == [
        61.8,
        58.9,
        89.9,
        70.7,
    ]
    assert list(rows[table + "7", "OT ASPIRE Bio", "Average(PRX)"].values()) == [65.0, 65.7, 90.5, 79.6]
    assert scirepeval.groups == GROUPS


def test_the_papers_average_is_the_mean_over_all_figures(scirepeval: Suite) -> None:
    # each group is printed with one decimal, and so is the average: 0.05 from the one and 0.05 from the other
    apart = {}
    for (_source, system, measure), row in read_rows(scirepeval).items():
        weights = FIGURES[measure]
        follows = sum(row[group] * count for group, count in zip(GROUPS, weights, strict=True)) / sum(weights)
        if abs(follows - row["Average"]) > 0.1:
            apart[system] = round(follows - row["Average"], 2)
    assert apart == {"TS ASPIRE CS": 0.19, "TS ASPIRE Bio": 0.24, "OT ASPIRE CS": 0.24, "OT ASPIRE Bio": 0.17}


def test_no_other_mean_gives_the_printed_averages(scirepeval: Suite) -> None:
    row = read_rows(scirepeval)["Singh et al. 2023, Table 2", "SPECTER", "Average"]
    printed = [row[group] for group in GROUPS]
    of_groups = sum(printed) / 3
    of_tasks = sum(value * count for value, count in zip(printed, (7, 11, 6), strict=True)) / 24
    assert min(abs(of_groups - row["Average"]), abs(of_tasks - row["Average"])) > 0.9


def test_the_benchmarks_of_the_suite_have_the_papers_28_figures(scirepeval: Suite) -> None:
    members = list_members(scirepeval)
    counts = dict.fromkeys(GROUPS, 0)
    for one in members:
        if one.suite is not None and one.name not in scirepeval.beside:
            counts[one.suite.group] += len(one.suite.figures)
    assert tuple(counts.values()) == FIGURES["Average"]
    assert scirepeval.beside <= {one.name for one in members}


def write(folder: Path, toml: str) -> Path:
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "suite.toml").write_text(toml, encoding="utf-8")
    return folder


WRONG = {
    "no groups": ('title = "a"\ncitation = "b"\nlicence = "c"', "mine/suite.toml lacks groups"),
    "a group twice": (SUITE_TOML.replace('"Unseen"]', '"Seen"]', 1), "groups is .*expected names, each once"),
    "a group called Average": (SUITE_TOML.replace('"Unseen"]', '"Average"]', 1), "none of them Average"),
    "a strange column": (
        SUITE_TOML.replace('"Seen", "Unseen", "Average"]', '"Seen", "Other", "Average"]'),
        "the column 'Other', which is no group",
    ),
    "too few figures": (SUITE_TOML.replace(', "45.2"]', "]"), "shorter than argument"),
    "an unpublished system": (
        SUITE_TOML.replace("[ours]", "[ours]\nElse = ['x']"),
        "ours names 'Else', of which nothing",
    ),
    "no TOML": ("groups =", "mine/suite.toml is not as it should be"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_folder_that_is_not_as_it_should_be_is_refused(tmp_path: Path, case: str) -> None:
    toml, message = WRONG[case]
    with pytest.raises(BenchmarkError, match=message):
        read_suite("mine", [write(tmp_path, toml)])


def test_names_of_suites_are_their_own(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown suite 'none'; known: little, scirepeval"):
        read_suite("none", [write_suite(tmp_path / "a")])
    folder = write(tmp_path / "b", SUITE_TOML)
    (folder / "mine" / "benchmark.toml").write_text("", encoding="utf-8")
    with pytest.raises(BenchmarkError, match="mine names a suite and a benchmark"):
        read_suite("mine", [folder])


def test_members_stand_by_group_and_name_and_name_a_group_that_there_is(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    suite = read_suite("little", [folder])
    assert [one.name for one in list_members(suite, [folder])] == [
        "little_absent",
        "little_class",
        "little_beside",
        "little_rank",
        "little_year",
    ]
    file = folder / "little_year" / "benchmark.toml"
    file.write_text(file.read_text().replace('group = "Unseen"', 'group = "Elsewhere"'))
    with pytest.raises(
        BenchmarkError, match="little_year is in the group 'Elsewhere' of little; its groups: Seen, Unseen"
    ):
        list_members(suite, [folder])
