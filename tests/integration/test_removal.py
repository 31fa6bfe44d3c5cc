"""Runs, corpora and benchmarks removed with all that refers to them, and what nothing refers to."""

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.cli import run_command
from pinakes.database import Database, connect
from pinakes.errors import IndexingError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.load.resolve import resolve
from pinakes.queries.install import initialise
from pinakes.removal.gc import collect_garbage
from pinakes.removal.remove import list_answers, remove_benchmark, remove_corpus, remove_runs
from pinakes.report.status import check_sides, find_orphans, read_status
from pinakes.run.run import RunRequest, run
from pinakes.schema import metadata, next_id, papers
from pinakes.schema.removal import is_cleared, list_references, remove_rows
from pinakes.systems.base import SystemOptions
from pinakes.tasks.base import list_tasks
from tests.benching import change
from tests.loading import dump_tables, paper, write_beir

pytestmark = pytest.mark.in_turn

STAY = {
    "fragment_sets": "by names: `gc` removes those of what is gone",
    "encoders": "pinakes gc removes those that no run names",
    "side_indexes": "pinakes gc removes those of what is gone",
    "published_scores": "of a benchmark they go by name, of a suite they are its definition",
    "suites": "a definition, which pinakes init renews",
    "suite_groups": "as above",
    "suite_extras": "as above",
    "schema_version": "of the database",
}
"""table that no removal reaches -> why"""
HISTORY = {
    *("evaluations", "evaluation_scores"),
    *("accepted_scores", "accepted_query_scores", "accepted_judgments"),
}
"""what stays of the scores of removed runs, until their benchmark is removed"""


def reach(root: str) -> set[str]:
    """The tables whose rows go, or are cleared, with a row of the root."""
    reached = {root}
    for table in metadata.sorted_tables:
        if any(one.referred_table.name in reached for one in list_references(table)):
            reached.add(table.name)
    return reached


def dump_first(database: Database) -> dict[str, list[Any]]:
    """The rows without our numbers, which go on rising."""
    names = {column.name for table in metadata.sorted_tables for column in table.columns}
    ours = {name for name in names if name.endswith(("_id", "_digest"))} - {"source_id", "query_id"}
    return dump_tables(database, without=ours)


def rank(database: Database, folder: Path, benchmark: str = "scifact", system: str = "bm25") -> int:
    options = SystemOptions(folder)
    index(database, benchmark, system, options=options)
    run_id = run(database, RunRequest(benchmark, system, options)).run_id
    evaluate(database, benchmark)
    return run_id


def test_every_table_is_reached_or_stays_for_a_reason() -> None:
    reached = set().union(*map(reach, ("corpora", "benchmarks", "runs", "trainings")))
    assert {table.name for table in metadata.sorted_tables} - reached == set(STAY)
    assert {table.name for task in list_tasks() for table in (task.answers, *task.facts)} <= reach("runs")
    assert [table.name for table in list_answers()] == ["hits"]
    cleared = {
        f"{table.name}.{one.column_keys[0]}"
        for table in metadata.sorted_tables
        for one in list_references(table)
        if is_cleared(one)
    }
    batches = {"labels.batch_id", "paper_variants.batch_id", "unread_files.batch_id"}
    runs = {"evaluations.run_id"}
    assert cleared == {"benchmark_queries.paper_id", "cited_references.paper_id"} | batches | runs


def test_a_run_goes_with_its_answers_and_scores(prepared: Database, tmp_path: Path) -> None:
    first, second = rank(prepared, tmp_path), rank(prepared, tmp_path, system="tfidf")
    before = dump_tables(prepared)
    dry = remove_runs(prepared, [first, first], dry_run=True)
    assert dump_tables(prepared) == before
    with pytest.raises(UnknownNameError, match="unknown run '99'; known: "):
        remove_runs(prepared, [first, 99])
    assert dump_tables(prepared) == before
    assert remove_runs(prepared, [first]) == dry
    assert (dry.what, dry.runs, dry.deleted["runs"], dry.deleted["hits"]) == (f"run {first}", [first], 1, 3)
    assert {row[0] for row in dump_tables(prepared)["scores"]} == {second}
    assert find_orphans(prepared) == {}


def test_a_corpus_goes_with_its_runs_and_comes_back_as_at_first(
    initialised: Database, tmp_path: Path
) -> None:
    papers = [paper(number) for number in range(1, 6)]
    folder = write_beir(tmp_path / "scifact", papers, "q1\tp1\t1\nq2\tp3\t1\n", queries=2)
    load(initialised, LoadRequest("synthetic", options={"papers": "60", "seed": "1"}))
    load(initialised, LoadRequest("beir", folder))
    loaded = dump_first(initialised)
    run_id = rank(initialised, tmp_path / "indexes")
    kept = rank(initialised, tmp_path / "indexes", "synthetic")
    dry = remove_corpus(initialised, "scifact", dry_run=True)
    removal = remove_corpus(initialised, "scifact")
    assert removal == dry
    assert (removal.runs, removal.deleted["papers"], removal.deleted["judgments"]) == ([run_id], 5, 2)
    assert find_orphans(initialised) == {}
    assert [row[0] for row in dump_tables(initialised)["runs"]] == [kept]
    with pytest.raises(UnknownNameError, match="unknown corpus 'scifact'; known: synthetic"):
        remove_corpus(initialised, "scifact")
    again = load(initialised, LoadRequest("beir", folder))
    assert [file.was_loaded_before for file in again.files] == [False, False, False]
    remove_runs(initialised, [kept])
    found = dump_first(initialised)
    del found["side_indexes"]  # of texts that are the same again
    assert found.keys() - loaded.keys() == HISTORY
    assert {table: content for table, content in found.items() if table not in HISTORY} == loaded


def test_works_of_another_corpus_that_were_its_papers_are_unresolved(prepared: Database) -> None:
    with prepared.read() as session:
        lent = session.scalar("SELECT MIN(paper_id) FROM papers WHERE source_id = 'p1'")
    of_synthetic = "SELECT MIN(reference_id) FROM cited_references WHERE paper_id IS NOT NULL"
    change(
        prepared,
        f"UPDATE cited_references SET paper_id = {lent}, resolved_by = 'title' "
        f"WHERE reference_id = ({of_synthetic})",
    )
    removal = remove_corpus(prepared, "scifact")
    assert removal.cleared == {"cited_references": 1}
    assert find_orphans(prepared) == {}
    with prepared.read() as session:
        half = "SELECT COUNT(*) FROM cited_references WHERE (paper_id IS NULL) <> (resolved_by IS NULL)"
        assert session.scalar(half) == 0


def test_a_work_is_resolved_again_when_its_removed_paper_comes_back(prepared: Database) -> None:
    cited = "SELECT paper_id FROM cited_references WHERE resolved_by = 'source_id' ORDER BY paper_id LIMIT 1"
    with prepared.begin() as session:
        paper_id = session.scalar(cited)
        row = session.rows(f"SELECT corpus_id, source_id, batch_id FROM papers WHERE paper_id = {paper_id}")[
            0
        ]
        remove_rows(session, {papers: pa.table({"paper_id": pa.array([paper_id], pa.int64())})})
        come_back = next_id(session, papers.c.paper_id)
        session.execute(sa.insert(papers).values(paper_id=come_back, **row))
    assert resolve(prepared, "synthetic").by_source_id == 1
    with prepared.read() as session:
        found = session.rows(
            f"SELECT reference_key, resolved_by FROM cited_references WHERE paper_id = {come_back}"
        )
    assert found == [{"reference_key": row["source_id"], "resolved_by": "source_id"}]


def test_a_removal_that_is_killed_removes_nothing(
    prepared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_given: object) -> None:
        raise KeyboardInterrupt

    before = dump_tables(prepared)
    with monkeypatch.context() as patched:
        patched.setattr("pinakes.removal.remove.Removal", die)
        with pytest.raises(KeyboardInterrupt):
            remove_corpus(prepared, "synthetic")
    assert dump_tables(prepared) == before


def test_a_benchmark_goes_with_its_views_and_init_brings_them_back(
    prepared: Database, tmp_path: Path
) -> None:
    run_id = rank(prepared, tmp_path)
    removal = remove_benchmark(prepared, "scifact")
    assert (removal.runs, removal.deleted["benchmarks"]) == ([run_id], 1)
    assert find_orphans(prepared) == {}
    with prepared.read() as session:
        count = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'scifact'"
        assert session.scalar(count) == 0
    assert initialise(prepared) == ["scifact"]
    assert rank(prepared, tmp_path) > 0
    with pytest.raises(UnknownNameError, match="unknown benchmark 'none'"):
        remove_benchmark(prepared, "none")


def test_garbage_is_what_nothing_refers_to(prepared: Database, tmp_path: Path, toy_folder: str) -> None:
    indexes = tmp_path / "indexes"
    for benchmark in ("scifact", "csfcube"):
        rank(prepared, indexes, benchmark, toy_folder)
        rank(prepared, indexes, benchmark)
    remove_corpus(prepared, "csfcube")
    stray = indexes / "bm25" / "stray"
    stray.mkdir()
    (stray / "file").write_text("x", encoding="utf-8")
    dry = collect_garbage(prepared, indexes, dry_run=True)
    assert stray.is_dir()
    found = collect_garbage(prepared, indexes)
    assert found == dry
    assert found.rows["rows of side_indexes"] == 1
    (vectors,) = (name for name in found.rows if name.startswith("rows of vectors_"))
    assert found.rows[vectors] > 5
    assert (len(found.folders), found.folders["bm25/stray"]) == (2, 1)
    assert not stray.exists()
    run(prepared, RunRequest("scifact", toy_folder, SystemOptions(indexes)))  # it has all its vectors
    remove_corpus(prepared, "scifact")
    last = collect_garbage(prepared, indexes).rows
    assert (last["encoders"], last["rows of side_indexes"]) == (1, 1)
    with prepared.read() as session:
        names = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name LIKE 'vectors_%'"
        assert session.scalar(names) == 0


class Terminal(io.StringIO):
    """A person at a keyboard."""

    def isatty(self) -> bool:
        return True


def test_a_removal_is_asked_for_on_a_terminal_and_refused_without_one(
    prepared_duckdb_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(terminal: io.StringIO) -> tuple[int, str, bool]:
        monkeypatch.setattr(sys, "stdin", terminal)
        code = run_command(["remove", "corpus", "csfcube", "--db", prepared_duckdb_url])
        with connect(prepared_duckdb_url) as database, database.read() as session:
            is_there = session.scalar("SELECT COUNT(*) FROM corpora WHERE name = 'csfcube'") == 1
        return code, capsys.readouterr().err, is_there

    code, said, is_there = answer(io.StringIO("y\n"))
    assert (code, is_there) == (1, True)
    assert "without a terminal nobody can be asked. Look with --dry-run, then say --yes." in said
    code, said, is_there = answer(Terminal("n\n"))
    assert (code, is_there) == (1, True)
    assert answer(Terminal("y\n"))[::2] == (0, False)


def test_a_collection_that_cannot_remove_a_folder_says_so_and_the_next_one_removes_it(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexes = tmp_path / "indexes"
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(indexes))  # where folders that no row names stay
    index(prepared, "scifact", "bm25", options=SystemOptions(indexes))
    remove_corpus(prepared, "scifact")
    (folder,) = (indexes / "bm25").glob("scifact*")

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr("pinakes.removal.gc.shutil.rmtree", refuse)
        with pytest.raises(IndexingError, match="cannot be removed: Permission denied"):
            collect_garbage(prepared, indexes)
    (folder / "parameters.json").unlink()  # removed in part
    sides = check_sides(prepared, read_status(prepared), indexes)
    assert sides.damaged == []
    assert sides.unfinished == [
        f"the bm25 index in {folder} is of what was removed (corpus:scifact), and not whole; `pinakes gc` "
        "removes the rest"
    ]
    assert collect_garbage(prepared, indexes).folders.keys() == {str(folder.relative_to(indexes))}
    assert not folder.exists()
    assert collect_garbage(prepared, indexes).rows == {}
