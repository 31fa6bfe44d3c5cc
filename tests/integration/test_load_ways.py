"""How a load goes about it: dry, limited, stopped at a bad record, read ahead, and of older versions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, LoadError
from pinakes.load import load as load_module
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.loaders import staging
from pinakes.loaders.base import CorpusDescription, InputFile, Loader
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.staging import Accepted, Chunk
from tests.integration.toy_loading import toy_paper
from tests.loading import DATA, dump_tables, paper, write_beir

pytestmark = pytest.mark.in_turn


def _counts(summary: LoadSummary) -> list[tuple[int, int, int, int]]:
    return [(f.rows_in, f.rows_updated, f.rows_unchanged, f.rows_rejected) for f in summary.files]


def test_a_dry_run_reports_what_a_load_would_and_leaves_nothing(database: Database, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "c", [paper(1), b"no JSON", paper(2)], "q1\tp2\t1\nq1\tp9\t1\n")
    before = dump_tables(database)
    dry = load(database, LoadRequest("beir", folder, dry_run=True))
    assert dump_tables(database) == before
    real = load(database, LoadRequest("beir", folder))
    assert _counts(dry) == _counts(real) == [(3, 0, 0, 1), (1, 0, 0, 0), (2, 0, 0, 1)]
    assert (dry.reasons, dry.quality) == (real.reasons, real.quality)
    assert dry.reasons == {"not_json": 1, "unknown_paper": 1}
    assert (dry.is_dry, real.is_dry) == (True, False)


def test_a_limited_load_takes_the_first_records_and_a_later_one_the_rest(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", 2)
    monkeypatch.setattr(staging, "TRANSACTION_ROWS", 1)
    folder = write_beir(tmp_path / "c", [*(paper(number) for number in range(1, 8))])
    limited = load(database, LoadRequest("beir", folder, limit=3))
    assert (limited.files[0].rows_in, limited.papers) == (3, 3)
    again = load(database, LoadRequest("beir", folder, limit=3))
    assert (again.files[0].rows_in, again.papers) == (0, 3)
    rest = load(database, LoadRequest("beir", folder))
    assert (rest.files[0].rows_in, rest.papers) == (4, 7)
    with database.read() as session:
        batches = session.rows(
            "SELECT first_row, last_row, is_last FROM load_batches WHERE role = 'papers' ORDER BY batch_id"
        )
    assert [tuple(row.values()) for row in batches] == [
        (1, 2, False),
        (3, 3, False),
        (4, 5, False),
        (6, 7, True),
    ]


def test_a_limit_at_the_end_of_a_chunk_leaves_no_empty_batch(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", 2)
    folder = write_beir(tmp_path / "c", [*(paper(number) for number in range(1, 6))])
    load(database, LoadRequest("beir", folder, limit=4))
    load(database, LoadRequest("beir", folder))
    with database.read() as session:
        batches = session.rows(
            "SELECT first_row, last_row, is_last FROM load_batches WHERE role = 'papers' ORDER BY batch_id"
        )
    assert [tuple(row.values()) for row in batches] == [(1, 2, False), (3, 4, False), (5, 5, True)]


@pytest.mark.parametrize(("field", "value"), [("limit", 0), ("jobs", 0)])
def test_a_limit_and_a_number_of_processes_begin_at_one(database: Database, field: str, value: int) -> None:
    with pytest.raises(InputError, match=f"--{field} is {value}; expected a whole number from 1"):
        load(database, LoadRequest("beir", DATA / "beir", **{field: value}))  # type: ignore[arg-type]


def test_a_load_told_to_stop_fails_before_the_batch_with_the_bad_record(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", 2)
    monkeypatch.setattr(staging, "TRANSACTION_ROWS", 1)
    folder = write_beir(tmp_path / "c", [paper(1), paper(2), paper(3), b"no JSON", paper(5)])
    with pytest.raises(LoadError, match=r"corpus\.jsonl, line 4: not_json: .* --on-error reject"):
        load(database, LoadRequest("beir", folder, on_error="stop"))
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM papers") == 2
        assert session.scalar("SELECT COUNT(*) FROM rejected_rows") == 0
    summary = load(database, LoadRequest("beir", folder))
    assert (summary.papers, summary.rows_rejected) == (4, 1)


@pytest.mark.usefixtures("spawned")
def test_files_read_ahead_by_other_processes_give_the_same_tables(
    both_databases: tuple[Database, Database], tmp_path: Path
) -> None:
    folder = write_beir(
        tmp_path / "c",
        [*(paper(number) for number in range(1, 30)), b"no JSON", paper(1)],
        "".join(f"q1\tp{number}\t1\n" for number in range(1, 40)),
    )
    alone, ahead = both_databases
    first = load(alone, LoadRequest("beir", folder))
    second = load(ahead, LoadRequest("beir", folder, jobs=2))
    assert _counts(first) == _counts(second)
    assert first.rows_rejected == 2 + 10
    assert dump_tables(alone) == dump_tables(ahead)


def test_what_a_reading_process_raises_comes_out_as_it_was(database: Database, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "c", [paper(1)], "q1\tp1\t1\n")
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(b"")
    with pytest.raises(LoadError, match=r"corpus\.jsonl\.gz is cut short"):
        load(database, LoadRequest("beir", folder, jobs=2))


def test_an_older_version_that_comes_back_is_loaded_again(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    versions = [paper(1, text="old"), paper(1, text="new"), paper(1, text="old")]
    found = []
    for version in versions:
        summary = load(database, LoadRequest("beir", write_beir(folder, [version])))
        with database.read() as session:
            abstract = session.scalar("SELECT abstract FROM papers")
        found.append((abstract, *_counts(summary)[0]))
    assert found == [("old", 1, 0, 0, 0), ("new", 1, 1, 0, 0), ("old", 1, 1, 0, 0)]
    again = load(database, LoadRequest("beir", folder))
    assert again.rows_in == 0
    with database.read() as session:
        rounds = session.rows("SELECT round FROM load_batches WHERE role = 'papers' ORDER BY batch_id")
    assert [row["round"] for row in rounds] == [1, 1, 2]


def test_the_quality_of_a_corpus_is_counted_and_kept(database: Database, tmp_path: Path) -> None:
    folder = write_beir(
        tmp_path / "c",
        [
            paper(1, metadata={"year": 1999}),
            paper(2, metadata={"year": 3}, text=""),
            paper(3, title=""),
            b"{",
            paper(1),
        ],
        "q1\tp9\t1\n",
    )
    summary = load(database, LoadRequest("beir", folder))
    assert summary.quality == {
        "papers": 3,
        "papers_without_title": 1,
        "papers_without_abstract": 1,
        "papers_without_year": 1,
        "papers_with_odd_year": 1,
        "papers_in_duplicate": 0,
        "citations": 0,
        "citations_pending": 0,
        "citations_dangling": 0,
        "references_ambiguous": 0,
    }
    with database.read() as session:
        stored = session.rows("SELECT measure, row_count FROM load_reports")
    assert {row["measure"]: row["row_count"] for row in stored} == {
        **summary.quality,
        "rows_in": 7,
        "rows_loaded": 4,
        "rows_updated": 0,
        "rows_unchanged": 0,
        "rows_rejected": 3,
        "rejected.duplicate_id": 1,
        "rejected.not_json": 1,
        "rejected.unknown_paper": 1,
    }


def test_two_files_of_one_name_are_no_versions_of_each_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [InputFile(None, "part0", "papers", digest=digest) for digest in ("1", "2")]

    def read_chunks(file: InputFile, _options: object, first_row: int) -> Iterator[Chunk]:
        return gather_chunks([Accepted(1, toy_paper(f"p{file.digest}"))], first_row=first_row)

    describe = CorpusDescription("toy")
    loader = Loader(
        "toy", "", lambda _source, _options: describe, lambda *_: files, read_chunks, may_lack_text=True
    )
    monkeypatch.setattr(load_module, "choose_loader", lambda _request: loader)
    assert load(database, LoadRequest("toy")).rows_in == 2
    before = dump_tables(database)
    assert load(database, LoadRequest("toy")).rows_in == 0
    assert dump_tables(database) == before
