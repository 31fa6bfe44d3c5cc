"""Every loader of the registry, on small sources of our own and on samples of the real corpora.

Leaves out: what each format's records become (`tests/unit/loaders`), and how loads merge (`test_load_merge`).
"""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.database import Database, connect
from pinakes.errors import PinakesError
from pinakes.loaders.registry import LOADERS
from pinakes.pipeline.load import LoadRequest, LoadSummary, load
from pinakes.pipeline.status import find_orphans
from pinakes.schema import create_schema
from tests.loading import DATA, dump_tables
from tests.real_data import REAL_DATA, needs_real_data


def _own(loader: str, source: str = "", **options: str) -> LoadRequest:
    return LoadRequest(loader, DATA / (source or loader.replace("-", "_")), options, corpus="toy")


SOURCES = {
    "aan": _own("aan"),
    "acl-anthology": _own("acl-anthology"),
    "acl-anthology as BibTeX": _own("acl-anthology", "acl_anthology/anthology+abstracts.bib"),
    "arxiv": _own("arxiv"),
    "beir": _own("beir"),
    "csfcube": _own("csfcube"),
    "csv": _own("csv", "csv/papers.csv"),
    "drsm": _own("drsm"),
    "grobid": _own("grobid"),
    "jats": _own("jats"),
    "jsonl": _own("jsonl", "jsonl/library.jsonl"),
    "jsonl with a mapping": _own(
        "jsonl", "mapped/library.jsonl", mapping=str(DATA / "mapped" / "library.toml")
    ),
    "mdcr": _own("mdcr"),
    "multicite": _own("multicite"),
    "openalex": _own("openalex"),
    "openreview": _own("openreview"),
    "openreview as tables": _own("openreview", "openreview_tables"),
    "paperlists": _own("paperlists"),
    "parquet": _own("parquet", "parquet/papers.parquet"),
    "petal": _own("petal"),
    "pubmed": _own("pubmed"),
    "relish": _own("relish"),
    "s2and": _own("s2and"),
    "s2orc": _own("s2orc"),
    "s2orc of 2019": _own("s2orc", "s2orc_2019"),
    "s2orc of 2020": _own("s2orc", "s2orc_2020", citations="both"),
    "s2orc with diffs": _own("s2orc", "s2orc_diffs"),
    "s2orc-json": _own("s2orc-json"),
    "scidocs": _own("scidocs"),
    "science-parse": _own("science-parse"),
    "scirepeval": _own("scirepeval"),
    "scisumm": _own("scisumm"),
    "smart": _own("smart"),
    "specter": _own("specter"),
    "synthetic": LoadRequest("synthetic", options={"papers": "60"}, corpus="toy"),
    "trec": _own("trec", unknown="create"),
    "trec-covid": _own("trec-covid"),
    "tweetpap": _own("tweetpap"),
    "unarxive": _own("unarxive"),
}

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
    "specter": "specter",
    "trec-covid": "trec",
    "tweetpap": "tweetpap",
    "unarxive": "unarxive",
}

LINE_FILES = {
    "arxiv": ["arxiv-metadata-oai-snapshot.json"],
    "beir": ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"],
    "csv": ["papers.csv"],
    "drsm": ["gold.tsv", "qol.tsv", "raw.tsv"],
    "jsonl": ["library.jsonl"],
    "mdcr": ["mdcr_val_data.jsonl", "mdcr_val.json"],
    "openreview": ["notes.jsonl"],
    "paperlists": ["acl2022.jsonl", "iclr.jsonl"],
    "relish": ["documents.tsv", "RELISH_v1.json"],
    "s2orc": ["papers/0.jsonl", "abstracts/0.jsonl", "citations/0.jsonl", "s2orc/0.jsonl"],
    "tweetpap": ["papers.csv"],
    "unarxive": ["21/arXiv_src_2104_001.jsonl", "22/arXiv_src_2212_086.jsonl"],
}
"""source -> files that stay as they are when a blank line is added at their end"""

GARBAGE = (b'\x00\xff{]<&"\t\n', b"9" * 40, b'"]}', b"<a>\xc3(\n\n")

Both = tuple[Database, Database]


def _get_real(name: str) -> LoadRequest:
    """The first records of each file of a real corpus."""
    return LoadRequest(name.split()[0], REAL_DATA / REAL_SOURCES[name], corpus="real", limit=300)


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


def _change(request: LoadRequest, change: Callable[[bytes], bytes], names: list[str] | None = None) -> None:
    """Change the bytes of the source's files."""
    assert request.source is not None
    source = request.source
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    wanted = [path for path in files if names is None or path.relative_to(source).as_posix() in names]
    for path in [source] if names and source.is_file() else wanted:
        path.write_bytes(change(path.read_bytes()))


def _check_counts(summary: LoadSummary) -> None:
    assert all(file.rows_in == file.rows_loaded + file.rows_rejected for file in summary.files)
    assert sum(summary.reasons.values()) == summary.rows_rejected


def _load_both(both: Both, request: LoadRequest) -> tuple[LoadSummary, list[dict[str, list[object]]]]:
    """What both databases say of the load, and the tables of each."""
    duck, post = (load(database, request) for database in both)
    assert (duck.files, duck.reasons, duck.quality) == (post.files, post.reasons, post.quality)
    _check_counts(duck)
    assert [find_orphans(database) for database in both] == [{}, {}]
    return duck, [dump_tables(database) for database in both]  # type: ignore[misc]


def test_every_loader_of_the_registry_has_a_source() -> None:
    assert {request.loader for request in SOURCES.values()} == set(LOADERS)


@pytest.mark.parametrize("name", SOURCES)
def test_both_databases_hold_the_same_rows_and_the_same_files_again_change_nothing(
    both_databases: Both, name: str
) -> None:
    first, (duck, post) = _load_both(both_databases, SOURCES[name])
    assert first.rows_in > 0
    assert duck == post
    assert duck.keys() & {"papers", "citations", "judgments", "labels"}
    again, tables = _load_both(both_databases, SOURCES[name])
    assert (again.rows_in, again.rows_rejected, again.reasons) == (0, 0, {})
    assert all(file.was_loaded_before for file in again.files)
    assert tables == [duck, post]


@needs_real_data
@pytest.mark.parametrize("name", REAL_SOURCES)
def test_both_databases_hold_the_same_rows_of_the_real_corpora(both_databases: Both, name: str) -> None:
    summary, (duck, post) = _load_both(both_databases, _get_real(name))
    assert summary.rows_in > summary.rows_rejected
    assert duck == post


@pytest.mark.parametrize("name", ["science-parse", "relish", "s2orc", "unarxive"])
def test_files_read_ahead_by_other_processes_give_the_same_tables(tmp_path: Path, name: str) -> None:
    tables = []
    for jobs in (1, 2):
        with connect(f"duckdb:///{tmp_path / str(jobs)}.duckdb") as database:
            create_schema(database)
            summary = load(database, replace(SOURCES[name], jobs=jobs))
            assert len(summary.files) > 1
            tables.append(dump_tables(database))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("name", LINE_FILES)
def test_a_blank_line_more_leaves_every_record_unchanged(
    both_databases: Both, tmp_path: Path, name: str
) -> None:
    request = _copy(SOURCES[name], tmp_path)
    first, before = _load_both(both_databases, request)
    _change(request, lambda content: content + b"\n", LINE_FILES[name])
    again, after = _load_both(both_databases, request)
    changed = [file for file in again.files if not file.was_loaded_before]
    assert len(changed) == len(LINE_FILES[name])
    assert [(file.rows_updated, file.rows_loaded) for file in changed] == [
        (0, file.rows_unchanged) for file in changed
    ]
    known = {file.file: file for file in first.files}
    assert [(file.rows_in, file.rows_rejected) for file in changed] == [
        (known[file.file].rows_in, known[file.file].rows_rejected) for file in changed
    ]
    for old, new in zip(before, after, strict=True):
        loads = ("load_batches", "rejected_rows", "load_reports")
        assert {table: rows for table, rows in new.items() if table not in loads} == {
            table: rows for table, rows in old.items() if table not in loads
        }


def _check_batches(database: Database) -> None:
    """Whatever came in is loaded or rejected, and each rejected record is kept."""
    with database.read() as session:
        batches = session.rows("SELECT rows_in, rows_loaded, rows_rejected FROM load_batches")
        kept = session.scalar("SELECT COUNT(*) FROM rejected_rows")
    assert all(batch["rows_in"] == batch["rows_loaded"] + batch["rows_rejected"] for batch in batches)
    assert kept == sum(batch["rows_rejected"] for batch in batches)


@pytest.mark.parametrize("name", [name for name, request in SOURCES.items() if request.source])
def test_of_damaged_files_every_record_is_loaded_or_rejected(name: str, tmp_path: Path) -> None:
    """No error leaves but those that a user can mend."""
    place = random.Random(name)
    damages: list[Callable[[bytes], bytes]] = [
        lambda content: content[: len(content) // 3],
        lambda content: content[: 2 * len(content) // 3],
        lambda content: content[:-2],
        lambda content: _insert(content, place.randrange(len(content) + 1), place.choice(GARBAGE)),
    ]
    with connect("duckdb:///:memory:") as database:
        create_schema(database)
        for number, damage in enumerate(damages):
            request = _copy(SOURCES[name], tmp_path / str(number))
            _change(request, damage)
            try:
                _check_counts(load(database, replace(request, corpus=str(number))))
            except PinakesError:
                pass
        _check_batches(database)
        assert find_orphans(database) == {}


def _insert(content: bytes, place: int, inserted: bytes) -> bytes:
    return content[:place] + inserted + content[place:]
