"""What stands before the damage of a compressed file is read, whatever reads it, and the error says where."""

import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from pinakes.errors import LoadError
from pinakes.load.unread import check_archives
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk
from tests.loading import DATA
from tests.long import alternate
from tests.writing import COMPRESS


@dataclass(frozen=True, slots=True)
class Case:
    """A file of a loader: its name, its content up to the damage and behind, and the last place before."""

    loader: str
    name: str
    before: bytes
    behind: bytes
    place: str
    rows: int = 1


def _build_tar(contents: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return held.getvalue()


def _split(loader: str, name: str, content: bytes, behind: bytes, place: str, rows: int = 1) -> Case:
    cut = content.index(behind)
    assert 0 < cut < len(content)
    return Case(loader, name, content[:cut], content[cut:], place, rows)


LINES: Final = b"".join(b'{"_id": "%d", "source_id": "%d", "title": "T"}\n' % (n, n) for n in range(9))
TEI: Final = (DATA / "grobid" / "p1.tei.xml").read_bytes()
UNARXIVE: Final = (DATA / "unarxive" / "22" / "arXiv_src_2212_086.jsonl").read_bytes()
PUBMED: Final = (DATA / "pubmed" / "pubmed24n0001.xml").read_bytes()
PETAL: Final = b'[{"id": "1", "title": "T", "abstract": "A"}, {"id": "2", "title": "T", "abstract": "A"}]'
BIB: Final = b"@article{a-1, title={One}}\n@article{a-2, title={Two}}\n@article{a-3, title={X}}\n"
MARK: Final = b"---"

CASES: Final = {
    "columns": _split("beir", "corpus.jsonl", LINES, b'{"_id": "7"', r"line \d", 7),
    "mapped lines": _split("jsonl", "a.jsonl", LINES, b'{"_id": "7"', r"line \d", 7),
    "mapped table": Case("csv", "a.csv", b"source_id,title\n1,T\n2,T\n3,", b"T\n", r"line \d", 2),
    "table": Case(
        "tweetpap",
        "papers.csv",
        b"Arxiv_id,cite,publish_year,retweets,favorites\n0704.0001,1,2010,1,1\n",
        b"0704.0002,1,2010,1,1\n",
        r"line \d",
    ),
    "array": _split("petal", "golden.json", PETAL, b'{"id": "2"', r"\[\d\]"),
    "elements": _split("pubmed", "pubmed24n0001.xml", PUBMED, b"</PubmedArticleSet>", "PubmedArticleSet/", 4),
    "entries of BibTeX": _split("acl-anthology", "anthology.bib", BIB, b"@article{a-3", r"line \d", 1),
    "documents": _split(
        "grobid", "a.tar", _build_tar({"a.tei.xml": TEI, "b.tei.xml": TEI + MARK}), MARK, r"[ab]\.tei\.xml"
    ),
    "lines of entries": _split(
        "unarxive", "a.tar", _build_tar({"a.jsonl": UNARXIVE * 9 + MARK}), MARK, r"a\.jsonl: line \d+", 9
    ),
}


MARKED: Final = [suffix for suffix in COMPRESS if suffix not in (".Z", ".z")]
"""compressed files whose end is marked; `test_compression.py` damages the others"""


def write_cut(folder: Path, case: Case, suffix: str) -> Path:
    """The file as two compressed streams, of which the second is cut short."""
    folder.mkdir()
    pack = COMPRESS[suffix]
    (folder / f"{case.name}{suffix}").write_bytes(pack(case.before) + pack(case.behind)[:-5])
    if case.loader == "beir":
        (folder / "queries.jsonl").write_bytes(b"")
    return folder if case.loader == "beir" else folder / f"{case.name}{suffix}"


def _read(case: Case, source: Path) -> Iterator[Chunk]:
    loader = find_loader(case.loader)
    files = loader.find_files(source, {})
    for file in files[:1]:
        yield from loader.read_chunks(file, {}, 1)
    check_archives(files)


@pytest.mark.parametrize(("name", "suffix"), alternate([*CASES], MARKED))
def test_records_before_the_damage_come_before_the_error(tmp_path: Path, name: str, suffix: str) -> None:
    case = CASES[name]
    chunks: list[Chunk] = []
    with pytest.raises(LoadError, match=r"damaged or cut short: it breaks off after " + case.place) as raised:
        chunks.extend(_read(case, write_cut(tmp_path / "source", case, suffix)))
    assert case.name in str(raised.value)
    assert "what is in already stays" in str(raised.value)
    assert chunks
    assert sum(chunk.rows_in for chunk in chunks) >= max(1, case.rows)
