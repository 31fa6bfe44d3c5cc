"""`pinakes show run` and `pinakes rerun`: where a run is from, and whether it can be made again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.suite import run_suite
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.removal.remove import remove_corpus, remove_runs
from pinakes.report.present.provenance import render_provenance
from pinakes.report.present.rerun import describe_cut
from pinakes.run import rerun as rerun_module
from pinakes.run import run as run_module
from pinakes.run.compare_answers import compare_answers
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.provenance import Check, gather_provenance
from pinakes.run.rerun import Rerun, RerunRequest, rerun
from pinakes.run.run import RunRequest, run
from pinakes.schema import encoders, hits, runs
from pinakes.systems.base import SystemOptions
from tests.benching import change, count
from tests.calling import Call
from tests.sampled_rows import add_rows, add_run
from tests.self_worlds import PAPERS, VARIANTS, Letters, write_corpus, write_variants
from tests.toy_encoder import build_toy_encoder
from tests.toy_suite import write_suite

pytestmark = pytest.mark.in_turn

CHECKED = ["definition", "dataset", "side index"]


@pytest.fixture(autouse=True)
def _index_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "indexes"))


def make_run(
    database: Database, tmp_path: Path, system: str = "bm25", benchmark: str = "synthetic", **options: Any
) -> int:
    chosen = SystemOptions(tmp_path / "indexes", **{"precision": "fp32", **options})
    index(database, benchmark, system, options=chosen)
    return run(database, RunRequest(benchmark, system, chosen)).run_id


def list_states(database: Database, run_id: int) -> list[tuple[str, str]]:
    return [(check.what, check.state) for check in gather_provenance(database, run_id).checks]


def run_again(database: Database, run_id: int, **changed: Any) -> Rerun:
    return rerun(database, RerunRequest(run_id, **changed))


def test_a_run_says_its_files_parameters_and_libraries(prepared: Database, tmp_path: Path) -> None:
    run_id = make_run(prepared, tmp_path)
    evaluate(prepared, "synthetic")
    evaluate(prepared, "synthetic", measures=["P@10"])
    found = gather_provenance(prepared, run_id)
    assert [(check.what, check.state) for check in found.checks] == [(one, "as it was") for one in CHECKED]
    (corpus,) = found.corpora
    assert (corpus.name, corpus.is_there, corpus.papers_removed) == ("synthetic", True, 0)
    loaded = [(file.role, file.loader, file.rows_loaded, file.after_run) for file in corpus.files]
    assert sorted(loaded)[1:] == [
        ("judgments", "synthetic", 496, False),
        ("papers", "synthetic", 300, False),
        ("queries", "synthetic", 50, False),
    ]
    assert {len(file.file_digest) for file in corpus.files} == {64}
    headlines = [one.headline for one in found.evaluations]
    assert len(headlines) == 2
    assert headlines[0] == headlines[1] == pytest.approx(0.7105, abs=1e-4)
    made = found.run["made_with"]
    assert {"numpy", "duckdb", "tantivy"} <= made["libraries"].keys()
    assert made["asked"]["system"] == "bm25"
    assert made["database"].startswith("v" if prepared.name == "duckdb" else "PostgreSQL")


def test_what_is_shown_fits_eighty_columns_and_one_screen(prepared: Database, tmp_path: Path) -> None:
    run_id = make_run(prepared, tmp_path)
    change(prepared, "UPDATE corpora SET source = 'http://example.org/" + "a" * 200 + "\x1b[31m'")
    lines = list(render_provenance(gather_provenance(prepared, run_id)))
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 50
    assert not any("\x1b" in line for line in lines)
    assert sum("sha256" in line for line in lines) == 4


def test_a_run_that_nothing_changed_for_comes_out_equal_and_stores_nothing(
    prepared: Database, tmp_path: Path
) -> None:
    first = make_run(prepared, tmp_path)
    second = make_run(prepared, tmp_path, "sparse_bm25", parameters={"k1": "0.9", "analysis": "words"})
    fused = make_run(prepared, tmp_path, "rrf:bm25,sparse_bm25", parameters={"constant": "10"})
    before = [count(prepared, table.name) for table in (runs, hits)]
    for run_id in (first, second, fused):
        done = run_again(prepared, run_id)
        assert (done.outcome, done.missing, done.changes) == ("equal", (), [])
        (table,) = done.tables
        assert (table.table, table.rows_different, table.largest_difference) == ("hits", 0, 0)
        assert table.rows_stored == table.rows_again > 0
    assert [count(prepared, table.name) for table in (runs, hits)] == before


def test_options_that_an_older_version_did_not_record_are_asked_for(
    prepared: Database, tmp_path: Path
) -> None:
    run_id = make_run(prepared, tmp_path, "sparse_bm25", parameters={"k1": "0.9", "b": "0.4"})
    change(prepared, "UPDATE runs SET made_with = NULL")
    assert "made before this was recorded" in "\n".join(
        render_provenance(gather_provenance(prepared, run_id))
    )
    done = run_again(prepared, run_id)
    changed = [(one.what, one.then, one.now) for one in done.missing]
    assert changed[:2] == [("parameter b", "0.4", "0.75"), ("parameter k1", "0.9", "1.2")]
    assert "give them with --option" in done.missing[-1].why
    given = {"k1": "0.9", "b": "0.4"}
    assert run_again(prepared, run_id, parameters=given).outcome == "equal"


def test_an_encoder_of_a_folder_is_found_where_it_was_or_where_it_is_now(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    run_id = make_run(prepared, tmp_path, toy_folder, "csfcube", distance="l2")
    assert run_again(prepared, run_id).outcome == "equal"
    (encoder,) = gather_provenance(prepared, run_id).encoders
    assert (encoder["name"], len(encoder["weights_digest"])) == ("toy_fp32", 64)
    change(prepared, "UPDATE runs SET made_with = NULL")  # as of a run that was made before version 12
    (missing,) = run_again(prepared, run_id).missing
    assert (missing.what, "toy" in missing.why) == ("system", True)
    assert run_again(prepared, run_id, system=toy_folder).outcome == "equal"


def test_vectors_that_are_gone_or_of_other_weights_are_named(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    run_id = make_run(prepared, tmp_path, toy_folder, "csfcube")
    revision = gather_provenance(prepared, run_id).run["encoder_revision"]
    change(prepared, "UPDATE encoders SET revision = 'another'")
    assert Check("encoder", revision, "another", "changed") in gather_provenance(prepared, run_id).checks
    assert run_again(prepared, run_id).outcome == "not possible"
    with prepared.begin() as session:
        session.execute(sa.delete(encoders))
    assert ("encoder", "gone") in list_states(prepared, run_id)
    done = run_again(prepared, run_id)
    assert done.outcome == "not possible"
    assert "pinakes index csfcube" in done.missing[-1].why


def test_other_hits_are_counted_and_the_first_query_is_shown(prepared: Database, tmp_path: Path) -> None:
    run_id = make_run(prepared, tmp_path)
    ids = sorted(read_ids(prepared))
    change(prepared, f"UPDATE hits SET score = score + 1 WHERE query_id = '{ids[3]}' AND rank = 1")
    change(prepared, f"DELETE FROM hits WHERE query_id = '{ids[8]}' AND rank = 2")
    done = run_again(prepared, run_id)
    (table,) = done.tables
    assert done.outcome == "different"
    assert (table.rows_different, table.queries_different, table.first) == (2, 2, ids[3])
    assert table.rows_again == table.rows_stored + 1
    assert table.first_stored is not None
    assert table.first_again is not None
    assert table.first_stored["score"] == pytest.approx(table.first_again["score"] + 1)


def read_ids(database: Database) -> list[str]:
    with database.read() as session:
        return [str(row["query_id"]) for row in session.rows(sa.select(hits.c.query_id).distinct())]


def test_numbers_within_the_tolerance_and_near_ties_are_no_difference(
    prepared: Database, tmp_path: Path
) -> None:
    run_id = make_run(prepared, tmp_path)
    query = min(read_ids(prepared))
    change(prepared, "UPDATE hits SET score = score * 1.0000001")
    done = run_again(prepared, run_id)
    assert (done.outcome, done.tolerance) == ("within tolerance", 1e-6)
    assert 0 < done.tables[0].largest_difference < 1e-5
    # the first two swap places, as near as another processor may round them
    one = f"(SELECT MAX(score) FROM hits AS best WHERE best.query_id = '{query}')"
    change(prepared, f"UPDATE hits SET score = {one} WHERE query_id = '{query}' AND rank <= 2")
    change(prepared, f"UPDATE hits SET rank = 3 - rank WHERE query_id = '{query}' AND rank <= 2")
    assert run_again(prepared, run_id).outcome == "different"  # these scores were not near


CUT = [("p1", 1, 3.0), ("p2", 2, 2.0), ("p3", 3, 1.0)]
"""paper, rank and score of a ranking that is cut off after three"""


@pytest.mark.parametrize(
    ("again", "different", "at_cut"),
    [
        (CUT, 0, 0),
        ([*CUT[:2], ("p4", 3, 1.0)], 0, 2),  # equal scores at the cut
        ([*CUT[:2], ("p4", 3, 1.000001)], 0, 2),  # as near as rounding brings them
        ([*CUT[:2], ("p4", 3, 1.1)], 2, 0),  # p4 has another score
        ([*CUT[:2], ("p4", 3, 0.9)], 2, 0),  # p3 was lost
        (CUT[:2], 1, 0),  # nothing is in the place of p3
        ([("p4", 1, 3.0), *CUT[1:]], 2, 0),  # not at the cut
        ([("p2", 1, 2.0), ("p3", 2, 1.0), ("p4", 3, 1.0)], 3, 1),  # p1 was lost, the others moved up
    ],
)
def test_equal_scores_at_the_cut_are_told_apart_from_differences(
    database: Database, again: list[tuple[str, int, float]], different: int, at_cut: int
) -> None:
    add_run(database, 1, "own", "theirs")
    add_rows(database, hits, [(1, "q", int(paper[1]), rank, score) for paper, rank, score in CUT])
    names = ("query_id", "paper_id", "rank", "score")
    rows = [("q", int(paper[1]), rank, score) for paper, rank, score in again]
    given = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    found = compare_answers(database, hits, 1, [given], 1e-6)
    assert (found.rows_different, found.rows_at_cut) == (different, at_cut)
    said = list(describe_cut(found, 1e-6))
    assert said[:1] == (
        [f"At the cut of the ranking: {at_cut} rows are on one side alone."] if at_cut else []
    )


def test_a_rerun_whose_last_paper_changed_places_below_the_cut_is_within_the_tolerance(
    prepared: Database, tmp_path: Path, call: Call
) -> None:
    run_id = make_run(prepared, tmp_path)
    query = min(read_ids(prepared))
    last = f"(SELECT MAX(rank) FROM hits AS kept WHERE kept.query_id = '{query}')"
    change(prepared, f"UPDATE hits SET paper_id = 999999 WHERE query_id = '{query}' AND rank = {last}")
    address = prepared.url.render_as_string(hide_password=False)
    prepared.close()
    done = call("rerun", run_id, "--db", address)
    assert done.code == 0, done.err
    assert "At the cut of the ranking: 2 rows are on one side alone." in done.out
    (table,) = json.loads(call("rerun", run_id, "--db", address, "--json").out)["tables"]
    assert (table["rows_different"], table["rows_at_cut"]) == (0, 2)


def test_a_changed_corpus_is_named_with_the_file_that_changed_it(prepared: Database, tmp_path: Path) -> None:
    run_id = make_run(prepared, tmp_path)
    load(prepared, LoadRequest("synthetic", options={"papers": "310", "seed": "1"}))
    found = gather_provenance(prepared, run_id)
    assert [(one.what, one.state) for one in found.checks][1] == ("dataset", "changed")
    assert any(file.after_run for file in found.corpora[0].files)
    done = run_again(prepared, run_id)
    assert done.outcome == "not possible"
    assert "loaded since the run: synthetic:papers=310" in " ".join(one.why for one in done.missing)


def test_a_removed_index_and_a_changed_one_are_told_apart(prepared: Database, tmp_path: Path) -> None:
    run_id = make_run(prepared, tmp_path)
    change(prepared, "UPDATE side_indexes SET content_digest = 'other'")
    assert list_states(prepared, run_id)[2] == ("side index", "changed")
    change(prepared, "DELETE FROM side_indexes")
    assert list_states(prepared, run_id)[2] == ("side index", "gone")
    done = run_again(prepared, run_id)
    assert (done.outcome, [one.what for one in done.missing]) == ("not possible", ["index"])
    assert "pinakes index synthetic --system bm25" in done.missing[0].why


def test_a_changed_definition_is_told_and_does_not_hinder_where_the_questions_are_the_same(
    prepared: Database, tmp_path: Path
) -> None:
    run_id = make_run(prepared, tmp_path)
    change(prepared, "UPDATE runs SET view_digest = 'then', code_version = '0.0.1'")
    done = run_again(prepared, run_id)
    assert (done.outcome, [one.what for one in done.changes]) == (
        "equal",
        ["benchmark definition", "Pinakes"],
    )
    assert list_states(prepared, run_id)[0] == ("definition", "changed")


def test_an_imported_run_is_shown_and_never_run(prepared: Database, tmp_path: Path) -> None:
    file = tmp_path / "theirs.txt"
    file.write_text("q1 Q0 p1 1 2.0 t\nq1 Q0 p2 2 1.0 t\n", encoding="utf-8")
    run_id = import_run(prepared, ImportRequest("scifact", "theirs", [file])).run_id
    found = gather_provenance(prepared, run_id)
    assert (found.run["imported_from"], found.run["made_with"]) == ("theirs.txt", {})
    assert list_states(prepared, run_id) == [("definition", "as it was"), ("dataset", "as it was")]
    assert "others made it" in "\n".join(render_provenance(found))
    with pytest.raises(EvaluationError, match=r"run 1 was imported from theirs.txt \(sha256 [0-9a-f]{64}\)"):
        run_again(prepared, run_id)


def test_a_run_that_is_removed_with_its_corpus_or_alone_is_none(prepared: Database, tmp_path: Path) -> None:
    first, second = make_run(prepared, tmp_path), make_run(prepared, tmp_path, benchmark="scifact")
    remove_corpus(prepared, "scifact")
    with pytest.raises(EvaluationError, match=f"there is no run {second}; the runs are: {first}"):
        gather_provenance(prepared, second)
    remove_runs(prepared, [first])
    with pytest.raises(EvaluationError, match="there is no run 1; the runs are: none"):
        run_again(prepared, first)


def test_the_commands_print_end_with_their_codes_and_give_json(call: Call, tmp_path: Path) -> None:
    assert call("index", "synthetic", "--system", "bm25", "-q").code == 0
    assert call("run", "synthetic", "--system", "bm25", "-q").code == 0
    shown = call("show", "run", 1)
    assert (shown.code, shown.out.splitlines()[0]) == (0, "Run 1: bm25 on synthetic")
    data = call("show", "run", 1, "--json", "--no-check").data
    assert (data["run"]["parameters"]["k1"], data["checks"][1]["state"]) == (1.2, "not checked")
    again = call("rerun", 1, "-q")
    assert (again.code, "Equal to the last bit." in again.out) == (0, True)
    assert call("rerun", 1, "--json", "-q").data["outcome"] == "equal"
    assert call("remove", "run", 1, "--yes", "-q").code == 0
    assert (call("rerun", 1).code, call("show", "run", 1).code) == (1, 1)


def test_a_run_of_self_retrieval_is_asked_of_its_corpus_again_table_by_table(
    initialised: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(initialised, "toy", PAPERS)
    write_variants(initialised, "toy", VARIANTS)
    system = Letters()
    for module in (run_module, rerun_module):
        monkeypatch.setattr(module, "find_system", lambda _name, _options: system)
    run_id = run(initialised, RunRequest("self_retrieval", "letters", corpus="toy")).run_id
    found = gather_provenance(initialised, run_id)
    assert ([one.name for one in found.corpora], found.run["corpus"]) == (["toy"], "toy")
    done = run_again(initialised, run_id)
    assert (done.outcome, len(done.tables)) == ("equal", 4)
    assert {one.table for one in done.tables} >= {"self_ranks", "neighbour_overlaps"}
    assert all(one.rows_again == one.rows_stored for one in done.tables)
    change(initialised, "UPDATE self_ranks SET rank = 99 WHERE query_id = 'p2' AND scheme = 'II'")
    done = run_again(initialised, run_id)
    assert (done.outcome, done.tables[0].first) == ("different", "p2")
    change(initialised, "UPDATE self_ranks SET rank = NULL")
    assert run_again(initialised, run_id).tables[0].queries_different == 3
    change(initialised, "UPDATE paper_variants SET title = 'yyx' WHERE title = 'x'")
    (missing, *_more) = run_again(initialised, run_id).missing
    assert missing.what == "queries, candidates and texts"


def test_a_run_of_a_suite_says_which_and_comes_out_equal(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_suite(tmp_path / "benchmarks")))
    encoder = str(build_toy_encoder(tmp_path / "first"))
    options = SystemOptions(tmp_path / "indexes", precision="fp32")
    made = run_suite(prepared, RunRequest("little", "", options), [encoder]).made
    for one in made:
        found = gather_provenance(prepared, one.run_id)
        assert found.suites == ["little as first"]
        assert run_again(prepared, one.run_id).outcome in ("equal", "within tolerance")


def test_a_run_of_a_benchmark_that_is_gone_says_so(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "mine" / "copied"
    shutil.copytree(Path(__file__).parents[2] / "queries" / "synthetic", copied)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(copied.parent))
    run_id = make_run(prepared, tmp_path, benchmark="copied")
    shutil.rmtree(copied)
    assert list_states(prepared, run_id)[:2] == [("definition", "gone"), ("dataset", "gone")]
    assert list(render_provenance(gather_provenance(prepared, run_id)))
    assert run_again(prepared, run_id).outcome == "not possible"
