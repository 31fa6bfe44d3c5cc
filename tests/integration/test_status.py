"""What a database holds, and the rows that name missing rows."""

from pathlib import Path

import pytest

from pinakes.database import Database, connect
from pinakes.errors import SchemaVersionError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.report.status import find_orphans, read_status
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.calling import Call
from tests.loading import paper, write_beir

pytestmark = pytest.mark.in_turn

ORPHANS = {
    "papers.batch_id": "UPDATE papers SET batch_id = 9999 WHERE source_id = 'p1'",
    "judgments.paper_id": "UPDATE judgments SET paper_id = 99999 WHERE query_id = '2_result' AND grade = 3 "
    "AND assessor = 'ann1'",
    "judgments.query_id": "UPDATE judgments SET query_id = 'q9' WHERE query_id = 'q1'",
    "sentences.paper_id": "UPDATE sentences SET paper_id = 99999 WHERE text = 'Weather.'",
    "benchmark_queries.paper_id": "UPDATE benchmark_queries SET paper_id = 99999 WHERE query_id = '2_result'",
}


def test_status_counts_what_is_there(prepared: Database, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path / "indexes")
    index(prepared, "scifact", "bm25", options=options)
    run(prepared, RunRequest("scifact", "bm25", options))
    before = read_status(prepared)["runs"]
    evaluate(prepared, "scifact")
    found = read_status(prepared)
    assert [(row["corpus"], row["papers"], row["abstracts"], row["queries"]) for row in found["corpora"]] == [
        ("csfcube", 9, 8, 5),
        ("scifact", 4, 3, 1),
        ("synthetic", 300, found["corpora"][2]["abstracts"], 50),
    ]
    assert {row["complete"] for row in found["loads"]} == {"yes"}
    assert [(row["kind"], row["scope"], row["row_count"]) for row in found["side_indexes"]] == [
        ("bm25", "corpus:scifact", 4)
    ]
    assert [(row["measure"], row["value"]) for row in before] == [(None, None)]
    (scored,) = found["runs"]
    assert (scored["system"], scored["hit_count"], scored["measure"], scored["value"]) == (
        "bm25",
        3,
        "nDCG@10",
        0.5,
    )
    assert found["encoders"] == []


def test_status_says_how_many_papers_are_merged_and_counts_no_empty_abstract(prepared: Database) -> None:
    corpus = "SELECT corpus_id FROM corpora WHERE name = 'scifact'"
    ids = "SELECT {}(paper_id) FROM papers WHERE corpus_id = " + f"({corpus})"
    change(
        prepared,
        "INSERT INTO duplicate_papers (paper_id, kept_paper_id, matched_by) "
        f"VALUES (({ids.format('MAX')}), ({ids.format('MIN')}), 'title')",
    )
    change(prepared, f"UPDATE papers SET abstract = ' ' WHERE paper_id = ({ids.format('MIN')})")
    found = {row["corpus"]: row for row in read_status(prepared)["corpora"]}
    scifact = found["scifact"]
    assert (scifact["papers"], scifact["merged_papers"], scifact["abstracts"]) == (4, 1, 2)
    assert found["csfcube"]["merged_papers"] == 0


def test_a_sound_database_has_no_orphans(untouched: Database) -> None:
    assert find_orphans(untouched) == {}


def test_orphans_are_counted_by_column(prepared: Database) -> None:
    for statement in ORPHANS.values():
        change(prepared, statement)
    found = find_orphans(prepared)
    assert {name: found.get(name) for name in ORPHANS} == dict.fromkeys(ORPHANS, 1)
    assert found.keys() <= ORPHANS.keys()


def test_a_database_without_tables_is_refused(database_url: str) -> None:
    with connect(database_url) as empty, pytest.raises(SchemaVersionError, match="`pinakes init`"):
        read_status(empty)


def test_a_check_names_side_indexes_that_are_not_as_built_and_folders_of_no_row(
    call: Call, tmp_path: Path
) -> None:
    assert call("index", "scifact", "--system", "bm25", "--system", "tfidf", "--quiet").code == 0
    assert call("status", "--check") == (0, call("status").out, "")
    (tmp_path / "indexes" / "tfidf" / ".left.building").mkdir()
    noted = call("status", "--check")
    assert noted.code == 0
    assert "no row names these folders" in noted.err
    assert "tfidf/.left.building; `pinakes gc`" in noted.err
    (bm25,) = (tmp_path / "indexes" / "bm25").glob("scifact*")
    (bm25 / "meta.json").write_text("{}")
    (tfidf,) = (tmp_path / "indexes" / "tfidf").glob("scifact*")
    tfidf.rename(tmp_path / "elsewhere")
    found = call("status", "--check")
    assert found.code == 1
    assert f"the bm25 index of corpus:scifact in {bm25} is not there, or not as it was built" in found.err
    assert f"the tfidf index of corpus:scifact in {tfidf} is not there" in found.err
    assert call("status").code == 0


def test_a_check_names_files_that_are_not_wholly_in(call: Call, tmp_path: Path) -> None:
    source = write_beir(tmp_path / "cut", [paper(1), paper(2), paper(3)], "q1\tp1\t1\n")
    assert call("load", "beir", source, "--corpus", "cut", "--limit", "2", "--quiet").code == 0
    checked = call("status", "--check")
    assert checked.code == 0
    assert "corpus.jsonl of the corpus cut is not wholly in; the same `pinakes load` goes on" in checked.err
