"""Exhibits, baselines and groups of a report, from real tables, on DuckDB and on Postgres."""

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError
from pinakes.evaluate.evaluate import evaluate
from pinakes.queries.definition import Benchmark
from pinakes.queries.exhibits import Baseline, Exhibit
from pinakes.report.exhibits.data import GroupPairsExhibit, HeatMapExhibit, TableExhibit
from pinakes.report.exhibits.gather import gather_exhibits
from pinakes.report.gather import gather_report
from pinakes.report.html import render_html
from pinakes.report.markdown import render_markdown
from pinakes.report.runs import find_baseline
from pinakes.report.tables.published import match_published, side_by_side_tables
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.schema import runs
from pinakes.workload.benchmark import open_benchmark
from tests.benching import BENCHMARK_TOML, write_benchmark
from tests.integration.ranked_csfcube import import_rankings, write_trec
from tests.sampled_rows import add_run

pytestmark = pytest.mark.in_turn


def gather(database: Database, *exhibits: Exhibit) -> list[object]:
    benchmark = replace(open_benchmark(database, "csfcube"), exhibits=exhibits)
    return list(gather_exhibits(database, benchmark))


def change_run(database: Database, run_id: int, **values: object) -> None:
    with database.begin() as session:
        session.execute(sa.update(runs).where(runs.c.run_id == run_id).values(**values))


def test_table_has_the_rows_of_its_view_in_the_printed_order(prepared: Database) -> None:
    exhibit = Exhibit(
        "table",
        "Statistics",
        "collection_statistics",
        key=("facet", "statistic"),
        source="Table 1",
        measures=("value",),
        published={"method / judged pairs": ("6",), "all / query papers": ("2",)},
    )
    (found,) = gather(prepared, exhibit)
    assert isinstance(found, TableExhibit)
    assert found.columns == ("facet", "statistic", "value")
    assert found.rows[:3] == (
        ("method", "judged pairs", 6.0),
        ("all", "query papers", 2.0),
        ("all", "judged pairs", 19.0),
    )
    assert (len(found.rows), found.left_out) == (4 * 13, 0)


def test_exhibit_that_names_no_column_of_its_view_is_refused(prepared: Database) -> None:
    exhibit = Exhibit("table", "Statistics", "collection_statistics", key=("facets",))
    with pytest.raises(BenchmarkError, match="names the column 'facets'; its view collection_statistics has"):
        gather(prepared, exhibit)
    with pytest.raises(BenchmarkError, match="reads group a, group b, grade a, grade b and count"):
        gather(prepared, Exhibit("heat_map", "Figure", "collection_statistics"))
    with pytest.raises(BenchmarkError, match="pairs queries by 'fold'; the benchmark groups by facet"):
        gather(prepared, Exhibit("group_pairs", "Figure", column="fold"))


def test_heat_map_has_a_panel_for_each_pair_of_facets(prepared: Database) -> None:
    (found,) = gather(prepared, Exhibit("heat_map", "Figure 2", "facet_pairs"))
    assert isinstance(found, HeatMapExhibit)
    assert found.grades == (0, 1, 2, 3)
    counts = {
        (panel.group_a, panel.group_b): {pair: count for pair, count in panel.counts.items() if count}
        for panel in found.panels
    }
    assert counts == {
        ("background", "method"): {(0, 0): 1, (0, 2): 1, (1, 3): 1, (2, 2): 1},
        ("background", "result"): {(1, 3): 1, (2, 0): 1},
        ("method", "result"): {(0, 1): 1},
    }


def test_agreement_has_the_stages_of_a_group_together(prepared: Database) -> None:
    with prepared.begin() as session:
        session.execute(
            "INSERT INTO judgments (corpus_id, query_id, paper_id, assessor, split, grade, batch_id) "
            "SELECT corpus_id, query_id, paper_id, 'ann2', split, grade, batch_id FROM judgments "
            "WHERE assessor = 'ann1' AND query_id = '1_background'"
        )
    (found,) = gather(prepared, Exhibit("agreement", "Table 2", column="facet"))
    assert isinstance(found, TableExhibit)
    assert found.columns == ("facet", "adjudication", "queries", "rho", "alpha", "kappa", "percent")
    assert found.rows[:2] == (
        ("background", "before", 2, 1.0, 1.0, 1.0, 100.0),
        ("background", "after", 2, 1.0, 1.0, 1.0, 100.0),
    )
    assert [row[:2] for row in found.rows[-2:]] == [("all", "before"), ("all", "after")]


def test_nothing_is_shown_where_nobody_judged_twice(prepared: Database) -> None:
    with prepared.begin() as session:
        session.execute("DELETE FROM judgments WHERE assessor <> 'adjudicated'")
    assert gather(prepared, Exhibit("agreement", "Table 2", column="facet")) == []


def test_pairs_are_papers_requested_with_two_facets(prepared: Database) -> None:
    (found,) = gather(prepared, Exhibit("group_pairs", "Figure 3", column="facet"))
    assert isinstance(found, GroupPairsExhibit)
    assert [(pair.paper, pair.query_a, pair.query_b) for pair in found.pairs] == [
        ("1", "1_background", "1_method"),
        ("2", "2_background", "2_method"),
        ("2", "2_background", "2_result"),
        ("2", "2_method", "2_result"),
    ]


def test_report_of_csfcube_has_its_tables_figures_and_facets(ranked: Database) -> None:
    report = gather_report(ranked, "csfcube")
    assert report.published_measures == tuple(
        f"CSFCube.{name}" for name in ("RP", "P@20", "R@20", "nDCG%100", "nDCG%20")
    )
    assert [type(exhibit).__name__ for exhibit in report.exhibits] == [
        "TableExhibit",
        "TableExhibit",
        "HeatMapExhibit",
        "GroupPairsExhibit",
        "TableExhibit",
    ]
    assert [pair.subset for pair in report.comparisons] == ["all", "facet=background", "facet=method"]
    first, second = side_by_side_tables(report)
    assert first.title == "Here and published: background, method (test)"
    assert second.title == "Here and published: result, all queries (test)"
    names = [[cell.text for cell in row.cells[:2]] for row in second.rows]
    place = names.index(["SPECTER", "run 1"])
    assert names[place : place + 3] == [["SPECTER", "run 1"], ["SPECTER", "published"], ["", "difference"]]
    assert ["other", "run 2, none published"] in names
    assert ["SPECTER-ID", "published, not run"] in names


def test_both_databases_give_the_same_exhibits(
    both_prepared: tuple[Database, Database], tmp_path: Path
) -> None:
    pages = []
    for database in both_prepared:
        import_rankings(database, tmp_path)
        report = gather_report(database, "csfcube")
        report = replace(report, runs=[replace(run, elapsed_s=1.0) for run in report.runs])
        pages.append((render_html(report), render_markdown(report)))
    assert pages[0] == pages[1]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("baseline", "changed", "expected"),
    [
        (Baseline("other", "SPECTER-ID", "mine"), {}, ("mine", "SPECTER-ID")),
        (Baseline("other", "SPECTER-ID"), {}, ("other", "SPECTER-ID")),
        (Baseline("other", "", "mine"), {}, ("mine", None)),
        (Baseline("other", "SPECTER-ID", query_template="abstract"), {}, ("other", "SPECTER-ID")),
        (
            Baseline("other", "SPECTER-ID", query_template="abstract"),
            {"query_template": "abstract"},
            ("other", "SPECTER-ID"),
        ),
        (
            Baseline("other", "SPECTER-ID", query_template="abstract"),
            {"query_template": "facet_sentences"},
            ("other", None),
        ),
        (Baseline("other", "SPECTER-ID"), {"query_template": "abstract"}, ("other", None)),
        (Baseline("other", "SPECTER-ID"), {"query_template": "facet_sentences"}, ("other", "SPECTER-ID")),
        (
            Baseline("other", "SPECTER-ID", distance="l2"),
            {"parameters": '{"distance":"cosine"}'},
            ("other", None),
        ),
        (
            Baseline("other", "SPECTER-ID", distance="l2"),
            {"parameters": '{"distance":"l2"}'},
            ("other", "SPECTER-ID"),
        ),
        (
            Baseline("other", "SPECTER-ID", options={"k1": "0"}),
            {"parameters": '{"k1":0.5}'},
            ("other", None),
        ),
        (Baseline("another", "SPECTER-ID"), {}, ("other", None)),
    ],
)
def test_run_is_the_baseline_whose_settings_it_has(
    ranked: Database,
    monkeypatch: pytest.MonkeyPatch,
    baseline: Baseline,
    changed: dict[str, object],
    expected: tuple[str, str | None],
) -> None:
    if changed:
        change_run(ranked, 2, **changed)

    def open_changed(database: Database, name: str) -> Benchmark:
        return replace(open_benchmark(database, name), baselines=(baseline,), exhibits=())

    monkeypatch.setattr("pinakes.report.gather.open_benchmark", open_changed)
    report = gather_report(ranked, "csfcube")
    assert (report.find_run(2).label, match_published(report).get(2)) == expected
    assert match_published(report)[1] == "SPECTER"


def test_run_is_the_baseline_that_says_most(prepared: Database) -> None:
    loose, strict = Baseline("x", "A"), Baseline("x", "B", query_template="facet_sentences", distance="l2")
    benchmark = replace(open_benchmark(prepared, "csfcube"), baselines=(loose, strict))
    row = {"system": "x", "query_template": "facet_sentences", "paper_template": "abstract"}
    assert find_baseline(benchmark, {**row, "parameters": '{"distance":"l2"}'}) == strict
    assert find_baseline(benchmark, {**row, "parameters": '{"distance":"cosine"}'}) == loose
    assert find_baseline(benchmark, {**row, "system": "y", "parameters": "{}"}) is None


def test_two_runs_of_one_baseline_are_told_apart_by_their_numbers(ranked: Database) -> None:
    for run_id, precision in ((11, "fp32"), (12, "bf16")):
        add_run(ranked, run_id, "csfcube", "fabs_tfidf", precision=precision)
    labels = [run.label for run in gather_report(ranked, "csfcube").runs]
    assert labels == ["SPECTER", "other", "fabs_tfidf, fp32", "fabs_tfidf, bf16"]


def test_benchmark_of_its_own_shows_its_own_view(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = BENCHMARK_TOML + (
        '[[exhibits]]\nkind = "table"\ntitle = "Lengths"\nview = "lengths"\n'
        '[[baselines]]\nsystem = "mine"\nlabel = "My <b>system</b>"\n'
    )
    folder = write_benchmark(tmp_path / "benchmarks", corpus="scifact", toml=toml)
    views = folder / "own" / "views"
    views.mkdir()
    (views / "lengths.sql").write_text(
        "SELECT query_id, LENGTH(text) AS length, NULL AS nothing FROM own.queries\n"
    )
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    import_run(prepared, ImportRequest("own", "mine", [write_trec(tmp_path, "mine", "q1 p2 p1")]))
    evaluate(prepared, "own")
    report = gather_report(prepared, "own")
    (exhibit,) = report.exhibits
    assert isinstance(exhibit, TableExhibit)
    assert (exhibit.columns, exhibit.key) == (("query_id", "length", "nothing"), ("query_id",))
    assert exhibit.rows == (("q1", 12, None),)
    assert report.comparisons == []
    page = render_html(report)
    assert "My &lt;b&gt;system&lt;/b&gt;" in page
    assert "<h2>The collection</h2>" in page
