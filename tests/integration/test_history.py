"""Evaluations as events, what `--changed` leaves out, and what gates find: on both databases."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database, connect
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.accept import accept
from pinakes.evaluate.evaluate import RunScores, evaluate
from pinakes.evaluate.gates import Checked, check_gates, read_gate
from pinakes.evaluate.state import read_state
from pinakes.load.load import LoadRequest, load
from pinakes.removal.gc import collect_garbage
from pinakes.removal.remove import remove_benchmark, remove_corpus, remove_runs
from pinakes.report.gather import gather_report
from pinakes.report.html import render_html
from pinakes.report.status import find_orphans
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.stored_runs import delete_run
from pinakes.tasks.base import list_tasks
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change, write_benchmark
from tests.calling import Call, make_call
from tests.loading import paper, write_beir
from tests.templates import Templates

pytestmark = pytest.mark.in_turn

QUERIES, JUDGED = 40, 3
START = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
JUDGMENTS = "".join(
    f"q{query}\tp{query + rank}\t{2 if rank == 1 else 1}\n"
    for query in range(1, QUERIES + 1)
    for rank in range(1, JUDGED + 1)
)
FLIPPED = "UPDATE judgments SET grade = 0 WHERE grade = 1 AND CAST(SUBSTRING(query_id, 2) AS INTEGER) <= 30"
"""60 of 120 grades"""
NDCG = 0.7002827395649097
_NUMBERS = count()


def rank(first: int = 1, answered: int = QUERIES) -> str:
    """A run that ranks five papers for each query, from the `first` judged one on."""
    return "".join(
        f"q{query} Q0 p{query + first + place} {place + 1} {9 - place} t\n"
        for query in range(1, answered + 1)
        for place in range(5)
    )


def fill(database: Database, folder: Path) -> Database:
    """40 queries with three judged papers each, and a run of `theirs` that finds all, behind another."""
    papers = [paper(number) for number in range(1, QUERIES + 10)]
    release = write_beir(folder / "scifact", papers, JUDGMENTS, queries=QUERIES)
    load(database, LoadRequest("beir", release))
    bring(database, folder, rank(0))
    return database


@pytest.fixture(params=["duckdb", "postgresql"])
def world(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Database]:
    with templates.copy(request.param, fill) as opened:
        yield opened


@pytest.fixture
def postgres_world(templates: Templates) -> Iterator[Database]:
    with templates.copy("postgresql", fill) as opened:
        yield opened


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_call(capsys)


def bring(database: Database, folder: Path, text: str, system: str = "theirs", name: str = "scifact") -> int:
    path = folder / f"{system}-{next(_NUMBERS)}.txt"
    path.write_text(text)
    return import_run(database, ImportRequest(name, system, [path])).run_id


def rows(database: Database, query: str) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(query)


def total(database: Database, table: str) -> int:
    return int(rows(database, f"SELECT COUNT(*) AS counted FROM {table}")[0]["counted"])


def renew(database: Database, name: str = "scifact", **given: Any) -> list[RunScores]:
    return evaluate(database, name, only_changed=True, **given)


def check(database: Database, *gates: str, names: tuple[str, ...] = ("scifact",), **given: Any) -> Checked:
    return check_gates(database, names, [read_gate(text) for text in gates or ("0.01",)], **given)


def test_an_evaluation_is_an_event_with_its_values(world: Database) -> None:
    (result,) = evaluate(world, "scifact", clock=lambda: START)
    (event,) = rows(world, "SELECT * FROM evaluations")
    (run,) = rows(world, "SELECT * FROM runs")
    benchmark = open_benchmark(world, "scifact")
    state = read_state(world, benchmark, benchmark.measures)
    same = ("run_id", "run_digest", "system", "mode", "dataset_digest", "encoder_revision")
    assert {name: event[name] for name in same} == {name: run[name] for name in same}
    assert (event["evaluated_at"], event["is_newest"], event["judgments"]) == (START, True, 120)
    assert event["judgments_digest"] == state.judgments_digest
    found = rows(world, "SELECT measure, subset, value FROM score_history ORDER BY measure")
    expected = {(one.measure, one.subset): one.value for one in result.aggregates()}
    assert {(row["measure"], row["subset"]): row["value"] for row in found} == expected
    assert find_orphans(world) == {}


def test_what_did_not_change_is_not_evaluated_and_adds_no_row(world: Database) -> None:
    evaluate(world, "scifact")
    before = {table: total(world, table) for table in ("evaluations", "evaluation_scores", "scores")}
    assert renew(world) == []
    assert {table: total(world, table) for table in before} == before
    evaluate(world, "scifact")  # without --changed an event, and no value
    assert {table: total(world, table) for table in before} == {**before, "evaluations": 2}


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE judgments SET grade = 3 WHERE query_id = 'q7' AND grade = 2",
        "DELETE FROM judgments WHERE query_id = 'q7' AND grade = 2",
        "INSERT INTO judgments SELECT corpus_id, 'q1', paper_id, 'published', 'test', 1, batch_id "
        "FROM judgments WHERE query_id = 'q30' AND grade = 2",
        "UPDATE judgments SET query_id = 'q40' WHERE query_id = 'q1'",
    ],
)
def test_a_judgment_that_changed_by_sql_is_seen(world: Database, sql: str) -> None:
    evaluate(world, "scifact")
    change(world, sql)
    assert [result.run_id for result in renew(world)] == [1]
    assert renew(world) == []


def test_a_load_that_changes_no_judgment_is_no_change(world: Database, tmp_path: Path) -> None:
    evaluate(world, "scifact")
    folder = write_beir(tmp_path / "more", [paper(number) for number in range(900, 910)])
    load(world, LoadRequest("beir", folder, corpus="scifact"))
    assert renew(world) == []


def test_a_new_run_alone_is_evaluated(world: Database, tmp_path: Path) -> None:
    evaluate(world, "scifact")
    other = bring(world, tmp_path, rank(1), "ours")
    assert [result.run_id for result in renew(world)] == [other]


def test_other_code_and_measures_are_a_change(world: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(world, "scifact", measures=["P@5"])
    assert len(renew(world)) == 1  # the benchmark's measures were not asked yet
    evaluate(world, "scifact", measures=["P@5"])
    assert renew(world) == []  # what others asked of the same data in between is no change
    monkeypatch.setattr("pinakes.evaluate.state.digest_code", lambda: "other")
    assert len(renew(world)) == 1


def test_a_definition_that_changed_is_a_change(
    initialised: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_beir(tmp_path / "tiny", [paper(1), paper(2)], "q1\tp1\t1\n")
    load(initialised, LoadRequest("beir", folder))
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path / "own", corpus="tiny")))
    bring(initialised, tmp_path, "q1 Q0 p1 1 1 t\n", name="own")
    evaluate(initialised, "own")
    judgments = "SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = 'tiny' AND grade < 9"
    write_benchmark(tmp_path / "own", corpus="tiny", judgments=judgments)
    assert len(renew(initialised, "own")) == 1
    assert renew(initialised, "own") == []


def test_judgments_that_changed_and_changed_back_are_evaluated_again(world: Database) -> None:
    evaluate(world, "scifact")
    change(world, "UPDATE judgments SET grade = 5 WHERE grade = 2")
    evaluate(world, "scifact", measures=["P@10"])
    change(world, "UPDATE judgments SET grade = 2 WHERE grade = 5")
    assert len(renew(world)) == 1  # P@10 is of the other grades


def test_removed_papers_are_a_change_since_runs_may_rank_them(world: Database, tmp_path: Path) -> None:
    evaluate(world, "scifact")
    papers = [paper(number) for number in range(1, QUERIES + 9)]  # the last is in no judgment
    folder = write_beir(tmp_path / "newer" / "scifact", papers, JUDGMENTS, queries=QUERIES)
    load(world, LoadRequest("beir", folder, replace=True))
    assert rows(world, "SELECT papers FROM paper_removals") == [{"papers": 1}]
    assert len(renew(world)) == 1
    assert renew(world) == []


def test_a_run_made_again_is_scored_again_and_its_values_are_not_new(world: Database, tmp_path: Path) -> None:
    path = tmp_path / "again.txt"
    path.write_text(rank(1))
    run_id = import_run(world, ImportRequest("scifact", "again", [path])).run_id
    evaluate(world, "scifact")
    before = total(world, "evaluation_scores")
    with world.begin() as session:
        delete_run(session, run_id)
    again = import_run(world, ImportRequest("scifact", "again", [path])).run_id
    assert again == run_id  # the number is given anew
    assert [result.run_id for result in renew(world)] == [again]
    assert total(world, "evaluation_scores") == before
    named = rows(world, "SELECT run_id FROM evaluations WHERE system = 'again' ORDER BY evaluation_id")
    assert [row["run_id"] for row in named] == [None, again]


def test_a_killed_evaluation_leaves_nothing_and_is_made_up_for(
    world: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pinakes.evaluate.history.accept_scores", die)
        with pytest.raises(KeyboardInterrupt):
            renew(world)
    tables = ("scores", "evaluations", "evaluation_scores", "accepted_scores", "accepted_judgments")
    assert [total(world, table) for table in tables] == [0] * len(tables)
    assert len(renew(world)) == 1


def test_a_run_that_is_removed_while_it_is_scored_leaves_no_scores(
    world: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = import_module("pinakes.evaluate.evaluate")

    def remove_and_read(*given: Any) -> Any:
        resample = module_open(*given)

        def go(run_id: int, found: Any) -> Any:
            remove_runs(world, [run_id])
            return resample(run_id, found)

        return go

    module_open = module.open_resampling
    monkeypatch.setattr(module, "open_resampling", remove_and_read)
    with pytest.raises(EvaluationError, match="run 1 was removed while it was evaluated"):
        evaluate(world, "scifact")
    assert (total(world, "scores"), total(world, "evaluations")) == (0, 0)


def test_the_first_value_counts_as_accepted_and_sixty_flipped_grades_are_told(
    world: Database, call: Call
) -> None:
    address = world.url.render_as_string(hide_password=False)
    world.close()
    first = call("evaluate", "--all", "--changed", "--db", address)
    assert (first.code, "they count as accepted" in first.err) == (0, True)
    change(world, FLIPPED)
    world.close()
    found = call("evaluate", "--all", "--changed", "--fail-on-drop", "0.01", "--db", address)
    assert found.code == 3
    assert "scifact, nDCG@10, theirs (run 1): 0.7003 → " in found.err
    assert "judgments changed: 60 of 120 (" in found.err
    again = call("evaluate", "--all", "--changed", "--fail-on-drop", "significant", "-q", "--db", address)
    assert (again.code, "judgments changed: 60 of 120" in again.err) == (3, True)  # night after night
    assert call("evaluate", "--all", "--changed", "--db", address).code == 0
    taken = call("accept", "scifact", "--json", "--db", address)
    (row,) = [row for row in taken.data if row["measure"] == "nDCG@10"]
    assert taken.code == 0
    assert row["before"] == pytest.approx(NDCG)
    assert call("evaluate", "scifact", "--changed", "--fail-on-drop", "0", "--db", address).code == 0


def test_a_drop_is_that_of_its_gate(world: Database) -> None:
    evaluate(world, "scifact")
    change(world, "UPDATE accepted_scores SET value = 0.75 WHERE measure = 'nDCG@10'")
    change(world, "UPDATE scores SET value = 0.74 WHERE measure = 'nDCG@10' AND query_id IS NULL")
    assert [len(check(world, gate).drops) for gate in ("0.01", "0.0101", "0")] == [1, 0, 1]
    assert check(world, "nDCG@10=0.01").drops == check(world, "ndcg_cut_10=0.01").drops != []
    assert check(world, "P@10=0.01").drops == []
    change(world, "UPDATE scores SET value = 0.76 WHERE measure = 'nDCG@10' AND query_id IS NULL")
    assert check(world, "0").drops == []


def test_a_gate_of_an_unknown_measure_or_form_is_refused(world: Database) -> None:
    evaluate(world, "scifact")
    with pytest.raises(InputError, match="no run of scifact was scored by P@7; evaluate it first"):
        check(world, "P@7=0.01")
    for text in ("", "=0.1", "nDCG@10=", "much", "-0.1", "nan", "P(rel=2)@10", "inf"):
        with pytest.raises(InputError, match="is no gate; expected how far a value may fall"):
            read_gate(text)


def test_significance_is_tested_over_the_queries_of_both_states(world: Database) -> None:
    evaluate(world, "scifact")
    change(world, "UPDATE judgments SET grade = 3 WHERE query_id = 'q1' AND grade = 1")
    change(world, "DELETE FROM judgments WHERE query_id = 'q2'")
    evaluate(world, "scifact")
    (drop,) = check(world, "0").drops
    assert check(world, "significant").drops == []  # one of 39 queries changed: p = 1
    change(world, FLIPPED)
    evaluate(world, "scifact")
    (drop,) = check(world, "significant", alpha=0.001).drops
    assert drop.p is not None
    assert drop.p < 0.001
    assert any(cause == "queries answered: 40 of 40 → 39 of 39" for cause in drop.causes)


def test_a_worse_run_of_the_same_settings_is_named(world: Database, tmp_path: Path) -> None:
    evaluate(world, "scifact")
    worse = bring(world, tmp_path, rank(1, answered=20))
    renew(world)
    (drop,) = check(world).drops
    assert (drop.run_id, drop.causes[0]) == (worse, "another run: 2, before 1")
    assert "queries answered: 40 of 40 → 20 of 40" in drop.causes
    assert check(world, run_ids=[1]).drops == []
    (accepted,) = [one for one in accept(world, "scifact", run_ids=[worse]) if one.measure == "nDCG@10"]
    assert accepted.before == pytest.approx(NDCG)
    assert accepted.run_id == worse
    assert check(world).drops == []


def test_a_run_removed_after_it_was_accepted_has_dropped_until_that_is_accepted(
    world: Database, tmp_path: Path
) -> None:
    bring(world, tmp_path, rank(1), "ours")
    evaluate(world, "scifact")
    remove_runs(world, [1])
    (drop,) = check(world, "significant").drops
    assert (drop.system, drop.value, drop.causes) == ("theirs", None, ("its run was removed",))
    assert {row["system"] for row in rows(world, "SELECT system FROM score_history")} == {"theirs", "ours"}
    assert find_orphans(world) == {}
    assert {(one.system, one.value is None) for one in accept(world, "scifact")} == {
        ("ours", False),
        ("theirs", True),
    }
    assert check(world).drops == []
    assert total(world, "accepted_query_scores") == total(world, "scores WHERE query_id IS NOT NULL")
    before = total(world, "evaluations")
    collect_garbage(world, tmp_path)
    assert total(world, "evaluations") == before


def test_the_history_goes_with_the_benchmark_and_stays_with_the_corpus(world: Database) -> None:
    evaluate(world, "scifact")
    remove_corpus(world, "scifact")
    assert (total(world, "evaluations"), total(world, "scores")) == (1, 0)
    assert find_orphans(world) == {}
    remove_benchmark(world, "scifact")
    tables = ("evaluations", "evaluation_scores", "accepted_scores", "accepted_query_scores")
    assert [total(world, table) for table in (*tables, "accepted_judgments")] == [0] * 5


def test_a_value_that_is_no_number_has_dropped_once(world: Database) -> None:
    evaluate(world, "scifact")
    change(world, "UPDATE scores SET value = CAST('NaN' AS DOUBLE PRECISION) WHERE measure = 'nDCG@10'")
    (drop,) = check(world).drops
    assert drop.value is not None
    assert math.isnan(drop.value)
    accept(world, "scifact")
    assert check(world).drops == []
    renewed = evaluate(world, "scifact")
    assert renewed
    assert check(world, "0", "significant").drops == []  # from no number to one is no drop


def test_scores_of_older_judgments_are_not_accepted(world: Database) -> None:
    with pytest.raises(EvaluationError, match="has no scores to accept"):
        accept(world, "scifact")
    evaluate(world, "scifact")
    change(world, FLIPPED)
    with pytest.raises(EvaluationError, match="has scores of other judgments, views or code"):
        accept(world, "scifact")
    assert rows(world, "SELECT DISTINCT by_itself FROM accepted_scores") == [{"by_itself": True}]


def test_what_fails_is_named_and_the_others_finish(world: Database, tmp_path: Path, call: Call) -> None:
    folder = write_beir(tmp_path / "cranfield", [paper(1)], "q1\tp1\t1\n")
    load(world, LoadRequest("beir", folder, corpus="cranfield"))
    bring(world, tmp_path, "q1 Q0 p1 1 1 t\n", name="cranfield")
    change(world, "DELETE FROM judgments WHERE query_id = 'q1' AND grade = 1 AND corpus_id = 2")
    address = world.url.render_as_string(hide_password=False)
    world.close()
    found = call("evaluate", "--all", "--changed", "--json", "--db", address)
    assert (found.code, [row["benchmark"] for row in found.data]) == (1, ["scifact"])
    assert "one benchmark could not be done, the others are. cranfield: " in found.err
    for words, code in (
        (["evaluate"], 2),
        (["evaluate", "scifact", "--all"], 2),
        (["accept"], 2),
        (["accept", "--all", "--run", "1"], 1),
    ):
        assert call(*words, "--db", address).code == code


def test_a_clock_that_goes_back_turns_nothing_round(world: Database) -> None:
    moments = iter([START, START - timedelta(days=3), START + timedelta(days=1)])

    def tell() -> Iterator[str]:
        for grade in (2, 4, 1):
            change(world, f"UPDATE judgments SET grade = {grade} WHERE query_id = 'q1'")
            at = next(moments)
            renew(world, clock=lambda at=at: at)
            yield ""

    assert len(list(tell())) == 3
    found = rows(world, "SELECT evaluated_at FROM evaluations ORDER BY evaluation_id")
    assert found[1]["evaluated_at"] < found[0]["evaluated_at"]
    report = gather_report(world, "scifact", measure="nDCG")
    times = [point.at for curve in report.history for point in curve.points]
    assert times == sorted(times)


def test_a_report_has_a_history_where_there_is_more_than_one_state(world: Database) -> None:
    evaluate(world, "scifact", clock=lambda: START)
    assert "History" not in render_html(gather_report(world, "scifact"))
    change(world, FLIPPED)
    renew(world, clock=lambda: START + timedelta(days=1))
    report = gather_report(world, "scifact")
    (curve,) = report.history
    assert [point.changes for point in curve.points] == [(), ("judgments",)]
    page = render_html(report)
    assert "<h2>History</h2>" in page
    assert "Step plot of nDCG@10 over time. theirs: 0.7003 on 2026-03-01 02:00:00 UTC, " in page


def test_every_task_says_what_decides_its_scores(untouched: Database) -> None:
    names = ("scifact", "scirepeval_drsm", "scirepeval_cite_count", "scirepeval_s2and", "self_retrieval")
    more = ("sciqfs", "scirepeval_paper_reviewer_matching", "csfcube", "large_scale", "mdcr")
    states = {}
    for name in (*names, *more):
        benchmark = open_benchmark(untouched, name)
        states[benchmark.task] = read_state(untouched, benchmark, benchmark.measures)
    assert set(states) == {task.name for task in list_tasks()}
    assert states["self_retrieval"].judgments == 32


def test_the_digests_are_the_same_on_both_databases(both_prepared: tuple[Database, Database]) -> None:
    found = []
    for database in both_prepared:
        benchmark = open_benchmark(database, "csfcube")
        found.append(read_state(database, benchmark, benchmark.measures))
    assert found[0] == found[1]
    assert found[0].judgments > 0


def test_two_evaluations_at_a_time_are_harmless(postgres_world: Database) -> None:
    address = postgres_world.url.render_as_string(hide_password=False)

    def score(_number: int) -> int:
        with connect(address) as database:
            return len(renew(database))

    with ThreadPoolExecutor(3) as pool:
        counts = list(pool.map(score, range(3)))
    assert 1 <= sum(counts) <= 3
    repeated = (
        "SELECT measure, subset, query_id FROM scores GROUP BY run_id, measure, subset, query_id "
        "HAVING COUNT(*) > 1"
    )
    assert rows(postgres_world, repeated) == []
    assert total(postgres_world, "evaluations") == sum(counts)
    (values,) = rows(postgres_world, "SELECT COUNT(*) AS n FROM scores WHERE query_id IS NULL")
    assert total(postgres_world, "evaluation_scores") == values["n"]
    assert renew(postgres_world) == []
