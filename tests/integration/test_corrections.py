"""What a newer version of a file lacks: told, and removed with --replace, whatever other files say."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.load import load as load_module
from pinakes.load.corrections import Corrections
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.base import OF_FILES
from pinakes.report.present.load import corrections_table
from pinakes.report.status import find_orphans
from pinakes.schema import load_batches, metadata
from tests.loading import DATA, dump_tables, paper, write_beir

pytestmark = pytest.mark.in_turn

ASSESSED = "q1\tp1\t1\nq2\tp3\t1\nq2\tp4\t2\n"


def write_trec(folder: Path, **files: list[str]) -> Path:
    """A file of judgments (query, paper and grade a line) for each name."""
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        rows = (f"{query} 0 {found} {grade}\n" for query, found, grade in map(str.split, lines))
        (folder / f"{name}.qrels").write_text("".join(rows), encoding="utf-8")
    return folder


def assess(database: Database, file: Path, **asked: Any) -> Corrections:
    """Load a file of judgments into the corpus toy."""
    return load(database, LoadRequest("trec", file, {"unknown": "create"}, "toy", **asked)).corrections


def told(corrections: Corrections) -> dict[str, int]:
    return {f"{one.file} {one.table}": one.rows for one in corrections.lacking}


def list_judged(database: Database) -> set[tuple[str, str]]:
    query = (
        "SELECT judgments.query_id, papers.source_id FROM judgments "
        "INNER JOIN papers ON judgments.paper_id = papers.paper_id"
    )
    with database.read() as session:
        return {(row["query_id"], row["source_id"]) for row in session.rows(query)}


def dump_said(database: Database) -> dict[str, list[Any]]:
    """The rows without what numbers them: ids and batches."""
    names = ("paper_id", "batch_id", "corpus_id", "last_batch_id", "round")
    dumped = dump_tables(database, without=names)
    return {name: rows for name, rows in dumped.items() if name not in ("load_batches", "load_reports")}


def test_a_load_tells_what_a_newer_file_lacks_and_replace_removes_it(
    initialised: Database, tmp_path: Path
) -> None:
    folder = write_beir(tmp_path / "beir", [paper(number) for number in range(1, 6)], ASSESSED, queries=3)
    first = load(initialised, LoadRequest("beir", folder))
    assert first.corrections == Corrections()
    write_beir(folder, [paper(number) for number in range(1, 5)], "q1\tp1\t1\nq1\tp2\t1\n", queries=2)
    lacking = {"corpus.jsonl papers": 1, "queries.jsonl benchmark_queries": 1, "qrels/test.tsv judgments": 2}
    second = load(initialised, LoadRequest("beir", folder)).corrections
    assert (told(second), second.removed) == (lacking, {})
    assert second.command == f"pinakes load beir {folder} --replace"
    again = load(initialised, LoadRequest("beir", folder)).corrections
    assert again == second
    before = dump_tables(initialised)
    dry = load(initialised, LoadRequest("beir", folder, replace=True, dry_run=True)).corrections
    assert dry.removed == {"benchmark_queries": 1, "judgments": 2, "papers": 1}
    assert dump_tables(initialised) == before
    assert load(initialised, LoadRequest("beir", folder, replace=True)).corrections == dry
    assert list_judged(initialised) == {("q1", "p1"), ("q1", "p2")}
    assert load(initialised, LoadRequest("beir", folder, replace=True)).corrections == Corrections()
    assert find_orphans(initialised) == {}


def test_judgments_of_another_file_go_with_a_paper_that_a_newer_file_lacks(
    initialised: Database, tmp_path: Path
) -> None:
    folder = write_beir(tmp_path / "beir", [paper(1), paper(2), paper(3)], "q1\tp1\t1\nq1\tp2\t1\n")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp3\t1\n", encoding="utf-8")
    load(initialised, LoadRequest("beir", folder))
    write_beir(folder, [paper(1), paper(2)], "q1\tp1\t1\n")
    corrections = load(initialised, LoadRequest("beir", folder, replace=True)).corrections
    assert told(corrections) == {"corpus.jsonl papers": 1, "qrels/test.tsv judgments": 1}
    assert corrections.removed == {"judgments": 2, "papers": 1}
    assert find_orphans(initialised) == {}


def test_replacing_one_file_leaves_what_another_says(database: Database, tmp_path: Path) -> None:
    train = ["q1 a 1", "q1 b 1", "q2 c 1"]
    folder = write_trec(tmp_path / "qrels", train=train, test=["q1 b 1", "q3 c 1"])
    assess(database, folder / "train.qrels")
    assess(database, folder / "test.qrels")
    write_trec(folder, train=["q1 a 1"])
    corrections = assess(database, folder / "train.qrels", replace=True)
    assert told(corrections) == {"train.qrels benchmark_queries": 1, "train.qrels judgments": 1}
    assert list_judged(database) == {("q1", "a"), ("q1", "b"), ("q3", "c")}
    write_trec(folder, test=["q3 c 1"])  # what was handed over is now of this file, and goes with it
    corrections = assess(database, folder / "test.qrels", replace=True)
    assert told(corrections) == {"test.qrels judgments": 1, "test.qrels papers": 1}
    assert list_judged(database) == {("q1", "a"), ("q3", "c")}
    assert find_orphans(database) == {}


def test_a_file_that_changed_a_row_of_another_does_not_take_it_along(
    database: Database, tmp_path: Path
) -> None:
    folder = write_trec(tmp_path / "qrels", one=["q1 a 1", "q1 b 1"], two=["q1 a 2", "q1 c 1"])
    assess(database, folder / "one.qrels")
    assess(database, folder / "two.qrels")
    write_trec(folder, two=["q1 c 1"])
    assert told(assess(database, folder / "two.qrels", replace=True)) == {}
    assert list_judged(database) == {("q1", "a"), ("q1", "b"), ("q1", "c")}


@pytest.mark.in_turn
@pytest.mark.parametrize("killed_after", [1, 2, 3])
def test_a_replacing_load_that_was_killed_ends_alike(
    database: Database, tmp_path: Path, killed_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_beir(tmp_path / "beir", [paper(number) for number in range(1, 6)], ASSESSED, queries=3)
    load(database, LoadRequest("beir", folder))
    write_beir(folder, [paper(number) for number in range(2, 5)], "q2\tp3\t1\n", queries=2)
    request = LoadRequest("beir", folder, replace=True)
    loaded = load_module._load_file
    files: list[object] = []

    def die(*given: Any) -> Any:
        files.append(given)
        if len(files) > killed_after:
            raise KeyboardInterrupt
        return loaded(*given)

    with monkeypatch.context() as patched:
        patched.setattr(load_module, "_load_file", die)
        patched.setattr(load_module, "correct_rows", die)
        with pytest.raises(KeyboardInterrupt):
            load(database, request)
    load(database, request)
    assert list_judged(database) == {("q2", "p3")}
    with database.read() as session:
        papers = session.fetch_arrow("SELECT source_id FROM papers ORDER BY source_id")
    assert papers["source_id"].to_pylist() == ["p2", "p3", "p4"]


def test_a_file_of_which_nothing_is_accepted_replaces_nothing(database: Database, tmp_path: Path) -> None:
    folder = write_trec(tmp_path / "qrels", one=["q1 a 1", "q1 b 1"])
    assess(database, folder / "one.qrels")
    (folder / "one.qrels").write_text("404\nnot found\n", encoding="utf-8")
    corrections = assess(database, folder / "one.qrels", replace=True)
    assert corrections.removed == {}
    assert corrections.kept == {"one.qrels": "no record of the newer version was accepted"}
    assert list_judged(database) == {("q1", "a"), ("q1", "b")}
    table = corrections_table(corrections)
    assert table is not None
    assert "one.qrels: they stay" in table.note
    (folder / "one.qrels").write_text("q1 0 a 1\nq1\n", encoding="utf-8")
    kept = assess(database, folder / "one.qrels", replace=True).kept
    assert kept["one.qrels"].startswith("50.00% of the newer version's records were rejected")
    allowed = assess(database, folder / "one.qrels", replace=True, max_rejects=0.5)
    assert allowed.removed == {"judgments": 1, "papers": 1}


def test_a_part_of_a_file_says_nothing_of_what_it_lacks(database: Database, tmp_path: Path) -> None:
    folder = write_trec(tmp_path / "qrels", one=["q1 a 1", "q1 b 1"])
    assess(database, folder / "one.qrels")
    write_trec(folder, one=["q1 c 1", "q1 a 1"])
    assert assess(database, folder / "one.qrels", limit=1, replace=True) == Corrections()
    assert told(assess(database, folder / "one.qrels")) == {"one.qrels judgments": 1, "one.qrels papers": 1}


def test_replaced_again_and_again_the_rows_are_those_of_a_first_load(
    both_databases: tuple[Database, Database], tmp_path: Path
) -> None:
    folder = tmp_path / "beir"
    versions = [(range(1, 6), ASSESSED), (range(2, 5), "q2\tp3\t1\n"), (range(1, 6), ASSESSED)]
    dumped = []
    for database in both_databases:
        for numbers, qrels in versions:
            write_beir(folder, [paper(number) for number in numbers], qrels, queries=3)
            load(database, LoadRequest("beir", folder, replace=True))
        dumped.append(dump_said(database))
    assert dumped[0] == dumped[1]
    assert len(dumped[0]["papers"]) == 5
    assert len(dumped[0]["judgments"]) == 3


def test_every_table_that_names_a_batch_can_be_corrected_or_is_the_batches_own() -> None:
    named = {
        table.name
        for table in metadata.sorted_tables
        if any(one.referred_table is load_batches for one in table.foreign_key_constraints)
    }
    own = {
        "rejected_rows",
        "repeated_rows",
        "left_out_items",
        "unread_files",
    }  # what became of a batch's records, whatever is loaded later
    own.add("restated_citations")  # what says of which batch the rows of another table are
    assert named - own == {table.name for table in OF_FILES}


def test_citations_of_a_file_of_their_own_are_corrected_and_texts_of_papers_of_another_file_stay(
    database: Database, tmp_path: Path
) -> None:
    """As the manual says: an abstract is no row, so no file drops it."""
    folder = Path(shutil.copytree(DATA / "s2orc", tmp_path / "s2orc"))
    load(database, LoadRequest("s2orc", folder, corpus="toy"))
    before = dump_said(database)
    for kind in ("abstracts", "citations", "s2orc"):
        path = folder / kind / "0.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    request = LoadRequest("s2orc", folder, corpus="toy", replace=True, max_rejects=1.0)
    corrections = load(database, request).corrections
    assert told(corrections) == {"citations/0.jsonl citations": 2}
    assert corrections.removed == {"citations": 2}
    after = dump_said(database)
    changed = {name for name in before if before[name] != after[name]}
    assert "citations" in changed
    assert not changed & {"papers", "sections"}
    assert find_orphans(database) == {}
