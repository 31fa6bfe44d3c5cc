"""Every loader of the registry, on small sources of our own and on samples of the real corpora.

Leaves out: what each format's records become (`tests/unit/loaders`), and how loads merge (`test_load_merge`).
"""

import gzip
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database, connect
from pinakes.errors import PinakesError
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.loaders import staging
from pinakes.loaders.registry import LOADERS
from pinakes.report.status import find_orphans
from tests.loading import dump_tables
from tests.long import sample
from tests.real_data import REAL_DATA, needs_real_data
from tests.sources import SOURCES

BEFORE = {"sentence-selections": "csfcube"}
"""source that adds to a corpus -> the source whose corpus that is"""

REAL_SOURCES = {
    "aan": "aan",
    "beir": "scifact",
    "csfcube": "csfcube",
    "drsm": "drsm",
    "grobid": "s2orc_doc2json",
    "jats": "pubmed",
    "jats of another publisher": "s2orc_doc2json",
    "multicite": "multicite",
    "openreview": "openreview",
    "paperlists": "paperlists",
    "petal": "petal",
    "pubmed": "pubmed",
    "relish": "relish",
    "s2and": "s2and/dummy",
    "s2and without papers": "s2and/qian",
    "s2orc": "s2orc",
    "s2orc-json": "s2orc_doc2json",
    "science-parse": "science_parse",
    "scirepeval": "scirepeval",
    "scisumm": "scisumm/scisumm-train.tar.gz",
    "smart": "smart/cran.tar.gz",
    "smart of another collection": "smart/adi.tar.gz",
    "specter": "specter",
    "trec-covid": "trec",
    "tweetpap": "tweetpap",
    "unarxive": "unarxive",
}

EDITABLE = [
    "aan",
    "arxiv",
    "beir",
    "csv",
    "drsm",
    "jsonl",
    "mdcr",
    "paperlists",
    "relish",
    "s2and",
    "s2orc",
    "scidocs",
    "sentence-selections",
    "specter",
    "trec-covid",
    "tweetpap",
    "unarxive",
]
"""sources whose files are text in which a blank line at the end says nothing"""

UNCOUNTED = {
    "openreview": "a reply in a line of its own has no rows, and counts as new each time",
}
"""source -> why not all of its records are seen to be unchanged"""

GARBAGE = (b'\x00\xff{]<&"\t\n', b"9" * 40, b'"]}', b"<a>\xc3(\n\n")

LIMIT = 300

Both = tuple[Database, Database]
Tables = dict[str, list[tuple[Any, ...]]]


def _get_real(name: str) -> LoadRequest:
    """The first records of each file of a real corpus."""
    limit = LIMIT // 10 if name in ("scisumm", "scirepeval", "unarxive", "s2orc") else LIMIT
    return LoadRequest(name.split()[0], REAL_DATA / REAL_SOURCES[name], corpus="real", limit=limit)


def _copy(request: LoadRequest, folder: Path) -> LoadRequest:
    """The request for a copy of its source."""
    assert request.source is not None
    folder.mkdir(exist_ok=True)
    copied = folder / request.source.name
    if request.source.is_dir():
        shutil.copytree(request.source, copied)
    else:
        shutil.copy(request.source, copied)
    return replace(request, source=copied)


def _change(request: LoadRequest, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of every file of the source."""
    source = request.source
    assert source is not None
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        if path.is_file():
            path.write_bytes(change(path.read_bytes()))


def _load_before(name: str, *databases: Database, corpus: str = "toy") -> None:
    """What the source of that name adds to."""
    for database in databases if name in BEFORE else ():
        load(database, replace(SOURCES[BEFORE[name]], corpus=corpus))


def _check_counts(summary: LoadSummary) -> None:
    assert all(file.rows_in == file.rows_loaded + file.rows_rejected for file in summary.files)
    assert sum(summary.reasons.values()) == summary.rows_rejected


def _load_both(both: Both, request: LoadRequest) -> tuple[LoadSummary, list[Tables]]:
    """What both databases say of the load, and the tables of each, which the caller finds to be equal."""
    duck, post = (load(database, request) for database in both)
    assert (duck.files, duck.reasons, duck.quality) == (post.files, post.reasons, post.quality)
    _check_counts(duck)
    assert find_orphans(both[1]) == {}
    return duck, [dump_tables(database) for database in both]


def test_every_loader_of_the_registry_has_a_source() -> None:
    # ir_datasets is read in tests/integration/test_ir_datasets.py, where its package is installed
    assert {request.loader for request in SOURCES.values()} == set(LOADERS) - {"ir-datasets"}


@pytest.mark.parametrize("name", sample(SOURCES, 4))
def test_both_databases_hold_the_same_rows(both_databases: Both, name: str) -> None:
    _load_before(name, *both_databases)
    _, (duck, post) = _load_both(both_databases, SOURCES[name])
    assert duck == post
    again = [load(database, SOURCES[name]) for database in both_databases]
    assert (again[0].files, again[0].quality) == (again[1].files, again[1].quality)


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SOURCES)
def test_the_same_files_again_change_nothing(database: Database, name: str) -> None:
    _load_before(name, database)
    first = load(database, SOURCES[name])
    _check_counts(first)
    assert first.rows_in > 0
    assert find_orphans(database) == {}
    before = dump_tables(database)
    assert before.keys() & {"papers", "citations", "judgments", "labels"}
    again = load(database, SOURCES[name])
    assert (again.rows_in, again.rows_rejected, again.reasons) == (0, 0, {})
    assert all(file.was_loaded_before for file in again.files)
    assert dump_tables(database) == before


@needs_real_data
@pytest.mark.parametrize("name", sample(REAL_SOURCES, 5))
def test_both_databases_hold_the_same_rows_of_the_real_corpora(
    both_databases: Both, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("CHUNK_ROWS", "BULK_CHUNK_ROWS"):  # else far more is read than the limit lets in
        monkeypatch.setattr(staging, size, LIMIT)
    summary, (duck, post) = _load_both(both_databases, _get_real(name))
    assert summary.rows_in > summary.rows_rejected
    assert duck == post


@pytest.mark.parametrize("name", sample(["s2orc", "science-parse", "relish", "unarxive"], 4))
def test_files_read_ahead_by_other_processes_give_the_same_tables(
    tables_duckdb: Path, tmp_path: Path, name: str
) -> None:
    tables = []
    for jobs in (1, 2):
        copied = shutil.copy(tables_duckdb, tmp_path / f"{jobs}.duckdb")
        with connect(f"duckdb:///{copied}") as database:
            summary = load(database, replace(SOURCES[name], jobs=jobs))
            assert len(summary.files) > 1
            tables.append(dump_tables(database))
    assert tables[0] == tables[1]


_UNCOUNTED = [
    pytest.param(name, marks=pytest.mark.xfail(reason=reason, raises=AssertionError))
    for name, reason in UNCOUNTED.items()
]


@pytest.mark.parametrize("name", [*sample(EDITABLE, 3), *_UNCOUNTED])
def test_a_blank_line_more_leaves_every_record_unchanged(
    duckdb_database: Database, tmp_path: Path, name: str
) -> None:
    request = _copy(SOURCES[name], tmp_path / "source")
    _load_before(name, duckdb_database)
    first, before = load(duckdb_database, request), _dump_records(duckdb_database)
    _change(request, lambda content: content + b"\n")
    again, after = load(duckdb_database, request), _dump_records(duckdb_database)
    assert after == before
    assert [(file.file, file.rows_in, file.rows_rejected) for file in again.files] == [
        (file.file, file.rows_in, file.rows_rejected) for file in first.files
    ]
    assert [(file.rows_updated, file.rows_unchanged) for file in again.files] == [
        (0, file.rows_loaded) for file in first.files
    ]


def _dump_records(database: Database) -> Tables:
    """The tables that do not tell of the loads themselves, without the batches of their rows."""
    loads = (
        "load_batches",
        "load_reports",
        "rejected_rows",
        "left_out_items",
        "repeated_rows",
        "restated_citations",
    )
    return {name: rows for name, rows in dump_tables(database, ["batch_id"]).items() if name not in loads}


def test_newer_metadata_of_2020_leaves_the_mentions_of_the_full_texts(
    both_databases: Both, tmp_path: Path
) -> None:
    request = _copy(replace(SOURCES["s2orc of 2020"], options={"citations": "outbound"}), tmp_path)
    _load_both(both_databases, request)
    before = [_dump_records(database) for database in both_databases]
    assert request.source is not None
    metadata = request.source / "metadata" / "metadata_0.jsonl.gz"
    metadata.write_bytes(gzip.compress(gzip.decompress(metadata.read_bytes()) + b"\n"))
    _load_both(both_databases, request)
    assert [_dump_records(database) for database in both_databases] == before


def test_tasks_of_scirepeval_give_the_same_papers_in_any_order(tables_duckdb: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text(
        '{"corpus_id": 1, "title": "T", "abstract": "A", "year": 1964, "label": 1}\n'
    )
    (tmp_path / "less.jsonl").write_text('{"corpus_id": 1, "title": "T", "abstract": "A", "label": 3}\n')
    found = []
    for names in (("more", "less"), ("less", "more")):
        copied = shutil.copy(tables_duckdb, tmp_path / f"{names[0]}.duckdb")
        with connect(f"duckdb:///{copied}") as database:
            for name in names:
                load(database, LoadRequest("scirepeval", tmp_path / f"{name}.jsonl", {"task": name}, "toy"))
            with database.read() as session:
                found.append(session.rows("SELECT source_id, title, year FROM papers"))
    assert found[0] == found[1]


def _check_batches(database: Database) -> None:
    """Whatever came in is loaded or rejected, and each rejected record is kept."""
    with database.read() as session:
        batches = session.rows("SELECT rows_in, rows_loaded, rows_rejected FROM load_batches")
        kept = session.scalar("SELECT COUNT(*) FROM rejected_rows")
    assert all(batch["rows_in"] == batch["rows_loaded"] + batch["rows_rejected"] for batch in batches)
    assert kept == sum(batch["rows_rejected"] for batch in batches)


@pytest.mark.parametrize("name", sample((name for name, one in SOURCES.items() if one.source), 6))
def test_of_damaged_files_every_record_is_loaded_or_rejected(
    duckdb_database: Database, name: str, tmp_path: Path
) -> None:
    """No error leaves but those that a user can mend."""
    place = random.Random(name)
    damages: list[Callable[[bytes], bytes]] = [
        lambda content: content[: len(content) // 3],
        lambda content: content[: 2 * len(content) // 3],
        lambda content: content[:-2],
        lambda content: _insert(content, place.randrange(len(content) + 1), place.choice(GARBAGE)),
    ]
    for number, damage in enumerate(damages):
        request = _copy(SOURCES[name], tmp_path / str(number))
        _change(request, damage)
        _load_before(name, duckdb_database, corpus=str(number))
        with suppress(PinakesError):
            _check_counts(load(duckdb_database, replace(request, corpus=str(number))))
    _check_batches(duckdb_database)
    assert find_orphans(duckdb_database) == {}


def _insert(content: bytes, place: int, inserted: bytes) -> bytes:
    return content[:place] + inserted + content[place:]
