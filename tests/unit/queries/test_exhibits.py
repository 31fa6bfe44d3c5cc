"""Baselines and exhibits of a benchmark.toml, and what is said where one is not as it should be."""

from pathlib import Path

import pytest

from pinakes.errors import BenchmarkError
from pinakes.queries.definition import read_benchmark
from pinakes.queries.exhibits import Baseline, Exhibit
from pinakes.queries.relations import list_templates
from pinakes.systems.names import list_systems
from tests.benching import BENCHMARK_TOML, write_benchmark

TABLE = """
[[exhibits]]
kind = "table"
title = "Grades"
view = "grades"
key = ["grade"]
measures = ["papers"]
source = "a paper"
[exhibits.published]
"1" = ["12"]
"""


def write(folder: Path, toml: str) -> Path:
    """A benchmark `own` with a view `grades` of its own."""
    write_benchmark(folder, toml=BENCHMARK_TOML + toml)
    (folder / "own" / "views").mkdir()
    (folder / "own" / "views" / "grades.sql").write_text("SELECT 1 AS grade, 12 AS papers\n")
    return folder


def test_an_exhibit_says_its_view_and_what_was_printed(tmp_path: Path) -> None:
    benchmark = read_benchmark("own", [write(tmp_path, TABLE)])
    assert benchmark.exhibits == (
        Exhibit("table", "Grades", "grades", "", ("grade",), "a paper", ("papers",), {"1": ("12",)}),
    )
    assert benchmark.own_views == {"grades": "SELECT 1 AS grade, 12 AS papers\n"}


def test_a_baseline_is_called_by_its_label_then_as_published_then_as_its_system(tmp_path: Path) -> None:
    toml = """
[[baselines]]
system = "minilm"
published = "MiniLM"
label = "minilm (facet)"
query_template = "text"
distance = "l2"
[[baselines]]
system = "fabs_tfidf"
published = "TF-IDF"
options = { analysis = "words" }
[[baselines]]
system = "bm25"
"""
    baselines = read_benchmark("own", [write(tmp_path, toml)]).baselines
    assert baselines == (
        Baseline("minilm", "MiniLM", "minilm (facet)", query_template="text", distance="l2"),
        Baseline("fabs_tfidf", "TF-IDF", options={"analysis": "words"}),
        Baseline("bm25"),
    )
    assert [baseline.name for baseline in baselines] == ["minilm (facet)", "TF-IDF", "bm25"]


WRONG = {
    "unknown kind": (
        TABLE.replace('"table"', '"plot"'),
        "an exhibit's kind is 'plot'; expected one of table, heat_map, agreement, group_pairs",
    ),
    "unknown view": (
        TABLE.replace('view = "grades"', 'view = "none"'),
        "an exhibit shows the view 'none'; the folder's own views are: grades",
    ),
    "no column": (
        '[[exhibits]]\nkind = "agreement"\ntitle = "Agreement"\n',
        "the exhibit 'Agreement' names no column to group by",
    ),
    "a figure too many": (
        TABLE.replace('["12"]', '["12", "13"]'),
        "the exhibit 'Grades' has 2 figures in the row '1'",
    ),
    "a key that no exhibit has": (TABLE.replace("key =", "keys ="), "unexpected keyword argument 'keys'"),
    "a key that no baseline has": (
        '[[baselines]]\nsystem = "bm25"\nmodel = "x"\n',
        "unexpected keyword argument 'model'",
    ),
    "a baseline of no system": ('[[baselines]]\nlabel = "x"\n', "missing 1 required positional argument"),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_not_as_it_should_be_is_refused(tmp_path: Path, case: str) -> None:
    toml, message = WRONG[case]
    with pytest.raises(BenchmarkError) as raised:
        read_benchmark("own", [write(tmp_path, toml)])
    assert str(raised.value).startswith("own/benchmark.toml is not as it should be: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["csfcube", "csfcube_sentences"])
def test_the_bundled_baselines_are_known_and_their_published_rows_are_there(name: str) -> None:
    benchmark = read_benchmark(name)
    published = {score.system for score in benchmark.published}
    names = [baseline.name for baseline in benchmark.baselines]
    assert len(set(names)) == len(names) > 0
    for baseline in benchmark.baselines:
        assert baseline.system.rpartition(":")[2] in list_systems()
        assert baseline.published == "" or baseline.published in published
        assert (baseline.query_template or benchmark.query_template) in list_templates("queries")
        assert (baseline.paper_template or benchmark.paper_template) in list_templates("papers")


def test_csfcube_shows_what_its_paper_shows() -> None:
    benchmark = read_benchmark("csfcube")
    assert [(one.kind, one.view, one.column, len(one.published or {})) for one in benchmark.exhibits] == [
        ("table", "collection_statistics", "", 10),
        ("agreement", "", "facet", 6),
        ("heat_map", "facet_pairs", "", 0),
        ("group_pairs", "", "facet", 0),
        ("table", "cited_low_grades", "", 3),
    ]
    assert all(one.title and one.source and one.note for one in benchmark.exhibits)
