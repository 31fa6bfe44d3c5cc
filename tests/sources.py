"""A small source of our own for each loader, and what a loader makes of the files that it is handed."""

import shutil
import tarfile
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.errors import OtherContentError
from pinakes.load.load import LoadRequest
from pinakes.load.unread import find_handed_in
from pinakes.loaders.merge.refusals import describe_refused, find_textless
from pinakes.loaders.reading.finding import explain_other
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Rejected
from tests.loading import DATA


def _own(loader: str, source: str = "", **options: str) -> LoadRequest:
    return LoadRequest(loader, DATA / (source or loader.replace("-", "_")), options, corpus="toy")


SOURCES: Final = {
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
        "jsonl", "mapped/library.jsonl", mapping=str(DATA / "mapped" / "library.sql")
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
    "pubmed as text": _own("pubmed", "pubmed_text"),
    "relish": _own("relish"),
    "s2and": _own("s2and"),
    "s2orc": _own("s2orc"),
    "s2orc of 2019": _own("s2orc", "s2orc_2019"),
    "s2orc of 2020": _own("s2orc", "s2orc_2020", citations="inbound"),
    "s2orc with diffs": _own("s2orc", "s2orc_diffs"),
    "s2orc-json": _own("s2orc-json"),
    "scidocs": _own("scidocs"),
    "science-parse": _own("science-parse"),
    "scirepeval": _own("scirepeval"),
    "scisumm": _own("scisumm"),
    "sentence-selections": _own("sentence-selections"),
    "smart": _own("smart"),
    "specter": _own("specter"),
    "synthetic": LoadRequest("synthetic", options={"papers": "60"}, corpus="toy"),
    "trec": _own("trec", unknown="create"),
    "trec with documents": _own("trec", "trec_documents"),
    "trec of Genomics": _own("trec", "trec_genomics"),
    "trec of OHSUMED": _own("trec", "trec_ohsumed"),
    "trec-covid": _own("trec-covid"),
    "tweetpap": _own("tweetpap"),
    "unarxive": _own("unarxive"),
}


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What became of the files of a source.

    Attributes:
        read: names of the files that were read.
        unread: name -> why it was not.
        rows: the staged rows of all files, without the numbers of their records, and how often each stands.
    """

    read: frozenset[str]
    unread: dict[str, str]
    rows: Counter[tuple[str, str]]
    rejected: list[Rejected]


def hand_in(request: LoadRequest) -> HandedIn:
    """Read all files of the request's source, as a load does, without a database."""
    loader = find_loader(request.loader)
    files = loader.find_files(request.source, request.options)
    found = find_handed_in(request.source, files)
    unread: dict[str, str] = {one.name: one.reason for one in found.unread}
    rows: Counter[tuple[str, str]] = Counter()
    rejected: list[Rejected] = []
    for file in files:
        try:
            for chunk in loader.read_chunks(file, request.options, 1):
                rejected += chunk.rejected
                refused = (
                    {} if loader.may_lack_text else find_textless(chunk.tables, loader.describes(file.role))
                )
                rejected += describe_refused(chunk, refused)
                numbers = pa.array(sorted(refused), pa.int64())
                for table, staged in chunk.tables.items():
                    staged = staged.filter(pc.invert(pc.is_in(staged["row_number"], value_set=numbers)))
                    kept = staged.drop_columns(["row_number"]).to_pylist()
                    rows.update((table, repr(sorted(row.items(), key=str))) for row in kept)
        except OtherContentError as error:
            told = explain_other(file, error)
            unread[told.name] = told.reason
    read = frozenset[str]().union(*found.read.values())
    return HandedIn(read - unread.keys(), unread, rows, rejected)


def list_all_files(folder: Path) -> set[str]:
    """The names of all files below the folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def copy_folder(request: LoadRequest, target: Path) -> Path:
    """A copy of the folder that the request's source is or lies in."""
    assert request.source is not None
    folder = request.source if request.source.is_dir() else request.source.parent
    shutil.copytree(folder, target / request.loader)
    return target / request.loader


def pack_folder(folder: Path, suffix: str) -> Path:
    """An archive of the folder's files beside it: `.zip` or a tar archive."""
    path = folder.with_name(f"{folder.name}{suffix}")
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in sorted(list_all_files(folder)):
                archive.write(folder / name, name)
        return path
    mode: Any = f"w:{suffix.rpartition('.')[2]}" if suffix.count(".") == 2 else "w"
    with tarfile.open(path, mode) as tar:
        for name in sorted(list_all_files(folder)):
            tar.add(folder / name, name)
    return path
