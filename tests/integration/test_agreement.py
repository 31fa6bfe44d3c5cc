"""How assessors agree, measured from the loaded judgments on both databases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.cli import run_command
from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError, UnknownNameError
from pinakes.evaluate.agreement import (
    AgreementRow,
    QueryAgreement,
    measure_agreement,
    measure_query_agreement,
)
from pinakes.load.load import LoadRequest, load
from pinakes.report.output import Output
from pinakes.report.present.compare import (
    choose_agreement_column,
    find_published_agreement,
    print_agreement,
)
from pinakes.workload.benchmark import open_benchmark
from tests.benching import BENCHMARK_TOML, change, write_benchmark, write_csfcube
from tests.loading import DATA
from tests.templates import Templates

pytestmark = pytest.mark.in_turn

ANNOTATED = {
    "background": {
        # ranks 1.5, 1.5, 3, 4 and 1, 2.5, 2.5, 4; the adjudicated grades are ann1's
        "1": {"ann1": [0, 0, 1, 2], "ann2": [0, 1, 1, 3], "adju": [0, 0, 1, 2]},
        # ann1 gives one grade to all
        "2": {"ann1": [1, 1, 1, 1], "ann3": [0, 1, 2, 2], "adju": [0, 1, 1, 1]},
    },
    "method": {"1": {"ann1": [0, 1, 2, 3], "ann2": [0, 1, 2, 3], "ann4": [3, 2, 1, 0], "adju": [0, 1, 2, 3]}},
    "result": {"2": {"ann1": [-1, 0, 1, 2], "ann2": [1, 0, 1, 2], "adju": [1, 0, 1, 2]}},
}
"""facet -> query -> assessor -> grades of papers 3 to 6; -1 is the release's mark of a missing judgment"""


def write_annotated(folder: Path) -> Path:
    """The release of `write_csfcube`, with these annotators and without a query of a paper's own."""
    write_csfcube(folder)
    requested = []
    for facet, queries in ANNOTATED.items():
        judged = {}
        for query, grades in queries.items():
            by_annotator = [grades[name] for name in grades if name != "adju"]
            spread = {"max": list(map(max, *by_annotator)), "min": list(map(min, *by_annotator))}
            lists = {f"relevance_{name}": values for name, values in {**grades, **spread}.items()}
            judged[query] = {"cands": ["3", "4", "5", "6"], **lists}
            requested.append(f"{query},{facet},2020,Title,method\n")
        (folder / f"test-pid2anns-csfcube-{facet}.json").write_text(json.dumps(judged))
    (folder / "queries-release.csv").write_text("pid,facet,year,title,paper type\n" + "".join(requested))
    return folder


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-12)


def bring(database: Database, folder: Path) -> None:
    assert load(database, LoadRequest("csfcube", write_annotated(folder))).rows_rejected == 0


@pytest.fixture(params=["duckdb", "postgresql"])
def loaded(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Database]:
    with templates.copy(request.param, bring) as opened:
        yield opened


def test_a_query_is_measured_by_the_mean_over_its_pairs_of_annotators(loaded: Database) -> None:
    found = {(one.query_id, one.stage): one for one in measure_query_agreement(loaded, "csfcube", "facet")}
    assert list(found) == [
        (query, stage)
        for stage in ("before", "after")
        for query in ("1_background", "1_method", "2_background", "2_result")
    ]
    assert found["1_background", "before"] == QueryAgreement(
        "1_background",
        "background",
        "before",
        pairs=1,
        items=4,
        rho=near(3.75 / 4.5),
        # 0: 3, 1: 3, 2: 1, 3: 1; apart 0-1 by 9 and 2-3 by 1; by chance 81 + 75 + 108 + 12 + 27 + 1
        alpha=near(1 - 7 * 10 / 304),
        kappa=near(1 / 3),
        percent=50.0,
    )
    # ann1 with ann2, and each of them with ann4, who turns the order round
    three = found["1_method", "before"]
    assert (three.pairs, three.items) == (3, 12)
    assert three.rho == near((1 - 1 - 1) / 3)
    assert three.kappa == near((1 - 1 / 3 - 1 / 3) / 3)
    assert three.percent == near(100 / 3)


def test_after_is_the_mean_agreement_of_each_annotator_with_the_adjudicated_grades(loaded: Database) -> None:
    found = {(one.query_id, one.stage): one for one in measure_query_agreement(loaded, "csfcube")}
    before, after = found["1_background", "before"], found["1_background", "after"]
    assert (after.pairs, after.items, after.group) == (2, 8, None)
    assert before.rho is not None
    assert before.alpha is not None
    assert after.rho == near((1 + before.rho) / 2)
    assert after.alpha == near((1 + before.alpha) / 2)
    assert (after.kappa, after.percent) == (near((1 + 1 / 3) / 2), 75.0)


def test_medians_are_of_the_queries_that_have_a_value_and_the_others_are_counted(loaded: Database) -> None:
    rows = {(row.group, row.stage): row for row in measure_agreement(loaded, "csfcube", "facet")}
    assert list(rows) == [
        (group, stage) for stage in ("before", "after") for group in ("background", "method", "result", "all")
    ]
    # of 2_background 1: 5, 0: 1, 2: 2; apart 0-1 by 9 and twice 1-2 by 12.25; by chance 45 + 122.5 + 84.5
    alphas = (1 - 7 * 10 / 304, 1 - 7 * 33.5 / 252)
    assert rows["background", "before"] == AgreementRow(
        "background",
        "before",
        queries=2,
        undefined={"rho": 1, "alpha": 0, "kappa": 0, "percent": 0},
        rho=near(3.75 / 4.5),
        alpha=near(sum(alphas) / 2),
        kappa=near((1 / 3 + 0) / 2),
        percent=37.5,
    )
    assert rows["background", "after"].undefined == {"rho": 1, "alpha": 0, "kappa": 0, "percent": 0}
    assert (rows["all", "before"].queries, rows["all", "before"].undefined["rho"]) == (4, 1)
    # 25, 100 / 3, 50, 75
    assert rows["all", "before"].percent == near((100 / 3 + 50) / 2)
    ungrouped = measure_agreement(loaded, "csfcube")
    assert ungrouped == [rows["all", "before"], rows["all", "after"]]


def test_a_negative_grade_is_the_lowest_grade_or_a_paper_not_judged(loaded: Database) -> None:
    zero = measure_query_agreement(loaded, "csfcube")[3]
    assert (zero.query_id, zero.items, zero.percent) == ("2_result", 4, 75.0)
    # ranks 1.5, 1.5, 3, 4 and 2.5, 1, 2.5, 4
    assert zero.rho == near(3.75 / 4.5)
    missing = measure_query_agreement(loaded, "csfcube", negative="missing")[3]
    assert (missing.query_id, missing.items, missing.rho, missing.percent) == ("2_result", 3, 1.0, 100.0)
    with pytest.raises(InputError, match="cannot stand for 'one'; expected zero or missing"):
        measure_agreement(loaded, "csfcube", negative="one")


def test_the_tiny_release_gives_its_hand_worked_figures(database: Database) -> None:
    load(database, LoadRequest("csfcube", DATA / "csfcube"))
    before, of_method, of_all, after, *_ = measure_agreement(database, "csfcube", "facet")
    # 3, 0 against 2, 1: apart twice by 1; by chance 1 + 4 + 9 + 1 + 4 + 1
    nothing = {"rho": 0, "alpha": 0, "kappa": 0, "percent": 0}
    assert before == AgreementRow("background", "before", 1, nothing, 1.0, near(1 - 3 * 2 / 20), 0.0, 0.0)
    assert after == AgreementRow("background", "after", 1, nothing, 1.0, near(0.85), 0.5, 50.0)
    one = {"rho": 1, "alpha": 1, "kappa": 1, "percent": 0}
    assert of_method == AgreementRow("method", "before", 1, one, None, None, None, 100.0)
    assert (of_all.undefined, of_all.rho, of_all.percent) == (one, 1.0, 50.0)


def test_both_databases_give_the_same_figures_to_the_bit(
    both_databases: tuple[Database, Database], tmp_path: Path
) -> None:
    for number, database in enumerate(both_databases):
        bring(database, tmp_path / str(number))
    duck, post = (
        (measure_query_agreement(one, "csfcube", "facet"), measure_agreement(one, "csfcube", "facet"))
        for one in both_databases
    )
    assert duck == post


def test_a_querys_own_paper_counts_as_its_annotators_graded_it(prepared: Database) -> None:
    change(
        prepared,
        "INSERT INTO judgments (corpus_id, query_id, paper_id, assessor, split, grade, batch_id) "
        "SELECT corpus_id, query_id, paper_id, 'ann2', split, grade, batch_id FROM judgments "
        "WHERE assessor = 'ann1' AND query_id = '1_background'",
    )
    first, *others = measure_query_agreement(prepared, "csfcube")
    assert (first.query_id, first.items, first.rho) == ("1_background", 6, 1.0)
    # the other queries have one annotator, whom nobody can agree with
    assert [(one.pairs, one.percent) for one in others if one.stage == "before"] == [(0, None)] * 4
    (row, _) = measure_agreement(prepared, "csfcube")
    assert (row.queries, row.undefined["percent"], row.percent) == (5, 4, 100.0)


def test_a_corpus_with_one_assessor_has_nothing_to_compare(prepared: Database) -> None:
    with pytest.raises(EvaluationError, match="no query of scifact has papers that two assessors graded"):
        measure_agreement(prepared, "scifact")


def test_an_unknown_column_is_refused_with_the_grouping_columns(prepared: Database) -> None:
    message = "unknown grouping column of csfcube 'fold'; known: facet"
    with pytest.raises(UnknownNameError, match=message):
        measure_agreement(prepared, "csfcube", "fold")


EXHIBIT = """
[aggregation]
group_by = ["fold", "facet"]
[[exhibits]]
kind = "agreement"
title = "How annotators agree"
column = "facet"
source = "Somebody 2020, Table 2"
measures = ["rho", "percent"]
[exhibits.published]
"background / before" = [".83", "38.00"]
"""


def test_published_figures_stand_beside_ours(
    loaded: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = (
        "SELECT query_id, paper_id, text, fold, facet FROM benchmark_queries "
        "INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id WHERE name = 'csfcube'"
    )
    folder = write_benchmark(
        tmp_path / "own", "printed", corpus="csfcube", queries=queries, toml=BENCHMARK_TOML + EXHIBIT
    )
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    benchmark = open_benchmark(loaded, "printed")
    column = choose_agreement_column(benchmark)
    assert column == "facet"
    published = find_published_agreement(benchmark, column)
    assert published == {("background", "before"): {"rho": ".83", "percent": "38.00"}}
    assert find_published_agreement(benchmark, "fold") == {}
    rows = measure_agreement(loaded, "printed", column)
    print_agreement(rows, published, Output())
    shown = capsys.readouterr().out
    assert "0.8333 (.83)" in shown
    assert "37.5000 (≠ 38.00)" in shown
    assert "rho 1" in shown
    print_agreement(rows, published, Output("json"))
    first, *_, last = json.loads(capsys.readouterr().out)
    assert (first["group"], first["stage"], first["published"]) == (
        "background",
        "before",
        {"rho": ".83", "percent": "38.00"},
    )
    assert (last["group"], last["stage"], last["published"]) == ("all", "after", None)


def test_the_command_prints_medians_or_each_query(
    loaded: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded.close()
    command = ["agreement", "csfcube", "--db", loaded.url.render_as_string(hide_password=False), "--json"]
    assert run_command(command) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["group"] for row in rows] == ["background", "method", "result", "all"] * 2
    assert rows[0]["undefined"] == {"rho": 1, "alpha": 0, "kappa": 0, "percent": 0}
    assert run_command([*command, "--by", "facet", "--per-query", "--negative", "missing"]) == 0
    per_query = json.loads(capsys.readouterr().out)
    told = [(one["query_id"], one["group"], one["items"], one["percent"]) for one in per_query]
    assert told[3] == ("2_result", "result", 3, 100.0)
    assert len(told) == 8
    assert run_command([*command, "--by", "year"]) == 1
    assert "unknown grouping column of csfcube 'year'; known: facet" in capsys.readouterr().err
