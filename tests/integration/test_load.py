"""Loading: what is in the tables after it, on both databases, again, and after changes."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.load import FileSummary, LoadRequest, LoadSummary, load
from pinakes.loaders import staging
from tests.loading import DATA, dump_tables, paper, write_beir
from tests.long import long
from tests.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.in_turn

REAL_SOURCES = {
    "csfcube": [LoadRequest("csfcube", REAL_DATA / "csfcube")],
    "beir": [LoadRequest("beir", REAL_DATA / "scifact")],
    "smart": [
        LoadRequest("smart", REAL_DATA / "smart" / "cran.tar.gz"),
        LoadRequest("smart", REAL_DATA / "smart" / "adi.tar.gz"),
    ],
    "trec": [
        LoadRequest("trec", REAL_DATA / "trec" / "trec_eval" / "qrels.test", {"unknown": "create"}, "t")
    ],
}

OWN_SOURCES = {
    "csfcube": LoadRequest("csfcube", DATA / "csfcube"),
    "beir": LoadRequest("beir", DATA / "beir"),
    "smart": LoadRequest("smart", DATA / "smart"),
    "trec": LoadRequest("trec", DATA / "trec", {"unknown": "create"}, "toy"),
}


def _gaps(summary: LoadSummary) -> tuple[int, int, int]:
    quality = summary.quality
    return summary.papers, quality["papers_without_title"], quality["papers_without_abstract"]


def _counts(summary: LoadSummary) -> list[tuple[str, int, int, int, int, int]]:
    return [
        (f.file, f.rows_in, f.rows_loaded, f.rows_updated, f.rows_unchanged, f.rows_rejected)
        for f in summary.files
    ]


def _load_both(both: tuple[Database, Database], request: LoadRequest) -> tuple[LoadSummary, LoadSummary]:
    duck, post = (load(database, request) for database in both)
    assert _counts(duck) == _counts(post)
    return duck, post


@pytest.mark.parametrize("loader", OWN_SOURCES)
def test_both_databases_hold_the_same_rows(both_databases: tuple[Database, Database], loader: str) -> None:
    _load_both(both_databases, OWN_SOURCES[loader])
    duck, post = (dump_tables(database) for database in both_databases)
    assert duck == post
    assert {"corpora", "papers", "benchmark_queries", "judgments", "load_batches"} <= duck.keys()


@needs_real_data
@pytest.mark.parametrize("loader", [long("csfcube"), "beir", long("smart"), "trec"])
def test_both_databases_hold_the_same_rows_of_the_real_corpora(
    both_databases: tuple[Database, Database], loader: str
) -> None:
    for request in REAL_SOURCES[loader]:
        summary, _ = _load_both(both_databases, request)
        assert (summary.rows_rejected, summary.reasons) == (0, {})
    duck, post = (dump_tables(database) for database in both_databases)
    assert duck == post


@pytest.mark.in_turn
@pytest.mark.parametrize("loader", OWN_SOURCES)
def test_the_same_files_again_change_nothing(database: Database, loader: str) -> None:
    first = load(database, OWN_SOURCES[loader])
    before = dump_tables(database)
    again = load(database, OWN_SOURCES[loader])
    assert dump_tables(database) == before
    assert again.files == [
        FileSummary(
            file.file,
            file.role,
            was_loaded_before=True,
            rows_in_before=file.rows_in,
            rows_rejected_before=file.rows_rejected,
        )
        for file in first.files
    ]
    assert again.rejected_share == first.rejected_share
    assert again.reasons == {}
    assert (again.corpus, again.quality) == (first.corpus, first.quality)


def test_a_beir_folder_gives_these_rows(database: Database) -> None:
    summary = load(database, LoadRequest("beir", DATA / "beir", version="1", licence="CC0-1.0"))
    assert _counts(summary) == [
        ("corpus.jsonl", 5, 5, 0, 0, 0),
        ("queries.jsonl", 2, 2, 0, 0, 0),
        ("qrels/dev.tsv", 1, 1, 0, 0, 0),
        ("qrels/test.tsv", 3, 3, 0, 0, 0),
    ]
    assert _gaps(summary) == (5, 2, 2)
    dumped = dump_tables(database, without=("file_digest", "options_digest"))
    assert dumped["corpora"] == [(1, "beir", "beir", "1", "CC0-1.0", "BEIR folder")]
    assert dumped["papers"] == [
        (1, 1, "d1", "Graphs of citations", "Who cites whom.", 1999, None, None, 1),
        (2, 1, "d2", None, "A paper without a title.", None, None, None, 1),
        (3, 1, "d3", "A paper without an abstract", None, 2001, None, None, 1),
        (4, 1, "4", "Zażółć gęślą jaźń", "Ünïcode, 漢字 and 🎓.", None, None, None, 1),
        (5, 1, "d5", None, None, None, None, None, 1),
    ]
    assert dumped["judgments"] == [
        (1, "q1", 1, "published", "test", 2, 4),
        (1, "q1", 2, "published", "test", 0, 4),
        (1, "q1", 3, "published", "dev", 1, 3),
        (1, "q2", 4, "published", "test", 1, 4),
    ]
    size = (DATA / "beir" / "corpus.jsonl").stat().st_size
    assert dumped["load_batches"][0][1:9] == (1, "beir", "corpus.jsonl", "papers", 1, 1, 6, 0)
    assert dumped["load_batches"][0][9:] == (size, True, 5, 5, 0, 0, 0, 0)


def test_csfcubes_pools_and_judgments_make_the_papers_that_it_lacks(database: Database) -> None:
    summary = load(database, OWN_SOURCES["csfcube"])
    assert _gaps(summary) == (3, 1, 1)
    with database.read() as session:
        papers = session.rows("SELECT paper_id, source_id, title FROM papers ORDER BY paper_id")
    assert [tuple(row.values()) for row in papers] == [
        (1, "11", "Query paper"),
        (2, "12", "Candidate"),
        (3, "13", None),
    ]


def test_an_empty_abstract_is_null_and_counted(database: Database, tmp_path: Path) -> None:
    folder = write_beir(
        tmp_path / "c", [paper(1, text=""), paper(2, title=" "), paper(3, title="", text=" ")]
    )
    summary = load(database, LoadRequest("beir", folder))
    assert _gaps(summary) == (3, 2, 2)
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM papers WHERE title = '' OR abstract = ''") == 0


def test_empty_files_are_loaded_and_known(database: Database, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "c", [], queries=0)
    (folder / "qrels" / "test.tsv").write_bytes(b"")
    summary = load(database, LoadRequest("beir", folder))
    assert [(f.rows_in, f.was_loaded_before) for f in summary.files] == [(0, False)] * 3
    assert [f.was_loaded_before for f in load(database, LoadRequest("beir", folder)).files] == [True] * 3
    with database.read() as session:
        batches = session.rows("SELECT first_row, last_row, is_last FROM load_batches ORDER BY batch_id")
    assert batches == [{"first_row": 1, "last_row": 0, "is_last": True}] * 3


@pytest.mark.in_turn
@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_rejected_rows_keep_their_raw_text(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_rows: int
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", chunk_rows)
    lines: list[dict[str, Any] | bytes] = [
        paper(1),
        b"[1]",
        b"{",
        b'"\xff"',
        {"title": "T"},
        paper(1),
        paper(2),
    ]
    lines.append(b'{"_id": "n", "text": "\\u0000"}')
    qrels = "q1\tp1\t1\nq1\tp9\t1\nq9\tp1\t1\nq1\tp2\nq1\tp2\tx\nq1\tp1\t2\nq9\tp9\t1\n"
    summary = load(database, LoadRequest("beir", write_beir(tmp_path / "c", lines, qrels)))
    assert _counts(summary) == [
        ("corpus.jsonl", 8, 2, 0, 0, 6),
        ("queries.jsonl", 1, 1, 0, 0, 0),
        ("qrels/test.tsv", 7, 1, 0, 0, 6),
    ]
    assert summary.reasons == {
        "duplicate_id": 2,
        "invalid_utf8": 1,
        "invalid_value": 2,
        "malformed_line": 1,
        "missing_field": 1,
        "not_an_object": 1,
        "not_json": 1,
        "unknown_paper": 2,
        "unknown_query": 1,
    }
    with database.read() as session:
        found = session.rows(
            "SELECT load_batches.role, rejected_rows.location, rejected_rows.reason, rejected_rows.raw "
            "FROM rejected_rows INNER JOIN load_batches ON rejected_rows.batch_id = load_batches.batch_id "
            "ORDER BY load_batches.batch_id, rejected_rows.row_number"
        )
    assert [tuple(row.values()) for row in found] == [
        ("papers", "line 2", "not_an_object", "[1]"),
        ("papers", "line 3", "not_json", "{"),
        ("papers", "line 4", "invalid_utf8", '"\\xff"'),
        ("papers", "line 5", "missing_field", '{"title":"T"}'),
        ("papers", "line 6", "duplicate_id", '{"_id":"p1","title":"Title 1","text":"Text 1"}'),
        ("papers", "line 8", "invalid_value", '{"_id": "n", "text": "\\u0000"}'),
        ("judgments", "line 3", "unknown_paper", "q1\tp9\t1"),
        ("judgments", "line 4", "unknown_query", "q9\tp1\t1"),
        ("judgments", "line 5", "malformed_line", "q1\tp2"),
        ("judgments", "line 6", "invalid_value", "q1\tp2\tx"),
        ("judgments", "line 7", "duplicate_id", "q1\tp1\t2"),
        ("judgments", "line 8", "unknown_paper", "q9\tp9\t1"),
    ]


def test_a_message_names_what_is_unknown(database: Database, tmp_path: Path) -> None:
    load(database, LoadRequest("beir", write_beir(tmp_path / "c", [paper(1)], "q1\tp9\t1\nq9\tp1\t1\n")))
    with database.read() as session:
        found = session.rows("SELECT message FROM rejected_rows ORDER BY row_number")
    assert [row["message"] for row in found] == [
        "the row names a paper that the corpus does not hold: p9",
        "the row names a query that the corpus does not hold: q9",
    ]


def test_qrels_of_unknown_papers_and_queries_create_them_on_demand(
    database: Database, tmp_path: Path
) -> None:
    load(database, LoadRequest("beir", write_beir(tmp_path / "c", [paper(1)])))
    qrels = tmp_path / "more.qrels"
    qrels.write_text("q1 0 p1 1\nq1 0 p9 2\nq7 0 p1 0\n")
    rejecting = load(database, LoadRequest("trec", qrels, corpus="c"))
    assert _counts(rejecting) == [("more.qrels", 3, 1, 0, 0, 2)]
    assert rejecting.reasons == {"unknown_paper": 1, "unknown_query": 1}
    creating = load(database, LoadRequest("trec", qrels, {"unknown": "create"}, "c"))
    assert _counts(creating) == [("more.qrels", 3, 3, 0, 1, 0)]
    assert (creating.reasons, creating.papers, creating.quality["papers_without_title"]) == ({}, 2, 1)
    with database.read() as session:
        graded = session.rows(
            "SELECT judgments.query_id, papers.source_id, judgments.grade FROM judgments "
            "INNER JOIN papers ON judgments.paper_id = papers.paper_id ORDER BY query_id, source_id"
        )
    assert [tuple(row.values()) for row in graded] == [("q1", "p1", 1), ("q1", "p9", 2), ("q7", "p1", 0)]


def test_trec_files_leave_the_corpus_as_it_is_described(database: Database, tmp_path: Path) -> None:
    load(database, LoadRequest("beir", write_beir(tmp_path / "c", [paper(1)]), version="1"))
    (tmp_path / "q").write_text("q1 0 p1 1\n")
    load(database, LoadRequest("trec", tmp_path / "q", corpus="c", licence="CC0-1.0"))
    assert dump_tables(database)["corpora"] == [(1, "c", "c", "1", "CC0-1.0", "BEIR folder")]


def test_a_corpus_that_is_not_loaded_is_refused(database: Database, tmp_path: Path) -> None:
    load(database, LoadRequest("beir", write_beir(tmp_path / "c", [])))
    before = dump_tables(database)
    (tmp_path / "q").write_text("q1 0 p1 1\n")
    with pytest.raises(UnknownNameError, match=r"unknown corpus 'd'; known: c\. Load its papers first\."):
        load(database, LoadRequest("trec", tmp_path / "q", corpus="d"))
    with pytest.raises(
        InputError, match="the loader trec needs a corpus; name one that is loaded with --corpus"
    ):
        load(database, LoadRequest("trec", tmp_path / "q"))
    assert dump_tables(database) == before


def test_unknown_loaders_and_options_list_the_known_ones(database: Database) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown loader 'bier'; known: .*beir, .*mean beir"):
        load(database, LoadRequest("bier"))
    with pytest.raises(
        UnknownNameError, match=r"unknown option of the loader trec 'splits'; known: .*Did you mean split\?"
    ):
        load(database, LoadRequest("trec", DATA / "trec", {"splits": "x"}))
    with pytest.raises(UnknownNameError, match="unknown option of the loader beir 'split'; known: columns"):
        load(database, LoadRequest("beir", DATA / "beir", {"split": "x"}))


def test_a_source_that_is_not_there_leaves_nothing_behind(database: Database, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        load(database, LoadRequest("beir", tmp_path / "nowhere"))
    assert dump_tables(database).keys() == {"schema_version"}


def test_a_changed_file_updates_what_changed_and_leaves_the_rest(database: Database, tmp_path: Path) -> None:
    first = write_beir(tmp_path / "c", [paper(1), paper(2), paper(3)], "q1\tp1\t1\nq1\tp2\t1\n", queries=2)
    load(database, LoadRequest("beir", first))
    newer = [paper(4), paper(3), paper(2, text="New text"), paper(1, metadata={"year": 2000})]
    write_beir(tmp_path / "c", newer, "q1\tp1\t1\nq1\tp2\t0\nq2\tp4\t2\n", queries=3)
    summary = load(database, LoadRequest("beir", first))
    assert _counts(summary) == [
        ("corpus.jsonl", 4, 4, 2, 1, 0),
        ("queries.jsonl", 3, 3, 0, 2, 0),
        ("qrels/test.tsv", 3, 3, 1, 1, 0),
    ]
    dumped = dump_tables(database)
    assert dumped["papers"] == [
        (1, 1, "p1", "Title 1", "Text 1", 2000, None, None, 4),
        (2, 1, "p2", "Title 2", "New text", None, None, None, 4),
        (3, 1, "p3", "Title 3", "Text 3", None, None, None, 4),
        (4, 1, "p4", "Title 4", "Text 4", None, None, None, 4),
    ]
    assert dumped["judgments"] == [
        (1, "q1", 1, "published", "test", 1, 6),
        (1, "q1", 2, "published", "test", 0, 6),
        (1, "q2", 4, "published", "test", 2, 6),
    ]
    assert [row[-1] for row in dumped["benchmark_queries"]] == [5, 5, 5]


def test_an_id_repeated_in_a_changed_file_is_rejected_though_the_paper_was_known(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 1)
    folder = write_beir(tmp_path / "c", [paper(1)])
    load(database, LoadRequest("beir", folder))
    write_beir(folder, [paper(1), paper(1, text="second"), paper(2)])
    summary = load(database, LoadRequest("beir", folder))
    assert _counts(summary)[0] == ("corpus.jsonl", 3, 2, 0, 1, 1)
    with database.read() as session:
        assert session.scalar("SELECT abstract FROM papers WHERE source_id = 'p1'") == "Text 1"


def test_several_grades_of_one_record_count_as_one_record(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "csfcube"
    folder.mkdir()
    for file in (DATA / "csfcube").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    load(database, LoadRequest("csfcube", folder))
    changed = folder / "test-pid2anns-csfcube-background.json"
    changed.write_text(changed.read_text().replace('"relevance_adju": [3, 0]', '"relevance_adju": [2, 0]'))
    pools = folder / "test-pid2pool-csfcube.json"
    pools.write_text(pools.read_text().replace('["cited", "specter"]', '["cited", "specter", "bm25"]'))
    summary = load(database, LoadRequest("csfcube", folder))
    assert {f.file: (f.rows_in, f.rows_updated, f.rows_unchanged) for f in summary.files if f.rows_in} == {
        changed.name: (2, 1, 1),
        pools.name: (2, 1, 1),
    }


def test_sentences_are_replaced_where_the_paper_changed(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "csfcube"
    folder.mkdir()
    for file in (DATA / "csfcube").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    load(database, LoadRequest("csfcube", folder))
    papers = folder / "abstracts-csfcube-preds.jsonl"
    papers.write_text(
        papers.read_text().replace('["objective_label", "result_label"]', '["other_label", "result_label"]')
    )
    summary = load(database, LoadRequest("csfcube", folder))
    assert _counts(summary)[0] == (papers.name, 2, 2, 1, 1, 0)
    dumped = dump_tables(database)
    assert dumped["sentences"] == [
        (1, 0, 1, "We ask.", "other", "other_label", "csfcube", None),
        (1, 0, 2, "We answer.", "result", "result_label", "csfcube", None),
        (2, 0, 1, "We try this.", "method", "method_label", "csfcube", None),
    ]
    assert [(row[2], row[-1]) for row in dumped["papers"]] == [("11", 7), ("12", 7), ("13", 3)]


def test_the_same_file_in_two_corpora_is_in_both(database: Database) -> None:
    for corpus in ("one", "two"):
        assert load(database, LoadRequest("beir", DATA / "beir", corpus=corpus)).papers == 5
    with database.read() as session:
        found = session.rows(
            "SELECT corpus_id, COUNT(*) AS papers FROM papers GROUP BY corpus_id ORDER BY corpus_id"
        )
    assert [tuple(row.values()) for row in found] == [(1, 5), (2, 5)]
