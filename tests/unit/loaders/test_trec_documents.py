"""TREC's documents: what their elements become, what is rejected, and how large files are read."""

import gzip
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.registry import find_loader
from pinakes.loaders.trec import documents
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import compress_lzw

FOLDER = DATA / "trec_documents"


def _stage(path: Path, content: bytes, **options: str) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
    """Of a file of documents, the papers; place, reason and message of what is rejected."""
    path.write_bytes(content)
    staged, rejected = stage_all("trec", path, options)
    rows = staged[path.name].get("papers", [])
    return rows, [(row.location, row.reason, row.message) for row in rejected]


def test_a_folder_has_documents_topics_and_qrels_and_names_the_rest() -> None:
    files = find_loader("trec").find_files(FOLDER, {})
    assert [(file.name, file.role) for file in files] == [
        ("ap880212.sgml", "papers"),
        ("topics.1-2.txt", "queries"),
        ("qrels.51-52", "judgments"),
    ]
    assert [(one.name, one.reason, one.message) for one in files[0].unread] == [
        ("README.md", "other_content", ""),
        ("run.txt", "other_content", "a run; it is for pinakes import-run"),
    ]
    assert find_loader("trec").describe_corpus(FOLDER, {}).name == "trec_documents"
    assert find_loader("trec").describe_corpus(DATA / "trec", {}).name == ""


def test_documents_become_these_rows() -> None:
    staged, rejected = stage_all("trec", FOLDER, with_left_out=True)
    assert rejected == []
    rows = staged["ap880212.sgml"]
    assert rows["papers"] == [
        {
            "row_number": 1,
            "source_id": "AP880212-0001",
            "title": "Reports of AT&T's-led growth Second head",
            "abstract": "Growth was 5 < 6. More text .",
        },
        {
            "row_number": 2,
            "source_id": "2",
            "title": "simple shear flow past a flat plate .",
            "abstract": "in the study of high-speed viscous flow .",
            "year": 1949,
            "venue": "naca tn.1928, 1949.",
        },
        {"row_number": 3, "source_id": "3", "abstract": "compact memories have flexible capacities"},
    ]
    assert [row["author_name"] for row in rows["authorships"]] == ["ting-yili", "smith,a."]
    assert [(row["kind"], row["reason"], row["items"]) for row in rows["left_out"]] == [
        ("field FILEID", "no_column", 1),
        ("field DATELINE", "no_column", 1),
    ]


def test_a_topic_of_tipster_is_called_as_its_qrels_call_it() -> None:
    staged, _ = stage_all("trec", FOLDER, with_left_out=True)
    topics = staged["topics.1-2.txt"]
    assert [(row["query_id"], row["text"]) for row in topics["queries"]] == [("51", "Growth"), ("52", "Flow")]
    assert [row["kind"] for row in topics["left_out"]] == ["field head", "field dom", "field con"]


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_where_blocks_end_does_not_show(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (FOLDER / "ap880212.sgml").read_bytes()
    expected = _stage(tmp_path / "whole", content)
    monkeypatch.setattr(documents, "BLOCK_BYTES", block)
    assert _stage(tmp_path / "blocks", content) == (expected[0], [])


def test_what_is_no_document_is_rejected_and_the_next_one_read(tmp_path: Path) -> None:
    content = (
        b'\xef\xbb\xbf<?xml version="1.0"?>\n<root>\n<DOC><DOCNO>1</DOCNO>a</DOC>\n'
        b"loose words\n<DOC>no id</DOC><DOC><DOCNO>2</DOCNO>no end\n<DOC><DOCNO>3</DOCNO>b</DOC>"
        b"<DOC><DOCNO>1</DOCNO>again</DOC><DOC><DOCNO>4</DOCNO>caf\xe9</DOC></root><DOC><DOCNO>5"
    )
    rows, rejected = _stage(tmp_path / "docs", content)
    assert [(row["source_id"], row["abstract"]) for row in rows] == [("1", "a"), ("3", "b")]
    assert [row[:2] for row in rejected] == [
        ("document 2", "malformed_line"),
        ("document 3", "missing_field"),
        ("document 4", "malformed_line"),
        ("document 6", "duplicate_id"),
        ("document 7", "invalid_utf8"),
        ("document 8", "malformed_line"),
    ]
    assert rejected[4][2].endswith("if it is Latin-1, say --option encoding=latin-1")


def test_the_encoding_is_told_by_the_option_or_the_declaration(tmp_path: Path) -> None:
    content = b"<DOC><DOCNO>1</DOCNO>caf\xe9</DOC>"
    assert _stage(tmp_path / "a", content, encoding="latin-1")[0][0]["abstract"] == "café"
    declared = b'<?xml version="1.0" encoding="ISO-8859-1"?><d>' + content + b"</d>"
    assert _stage(tmp_path / "b", declared)[0][0]["abstract"] == "café"
    with pytest.raises(InputError, match="encoding='latin-9000': there is no such encoding"):
        _stage(tmp_path / "c", content, encoding="latin-9000")


def test_a_document_may_be_named_by_an_attribute_and_have_no_text(tmp_path: Path) -> None:
    rows, rejected = _stage(tmp_path / "d", b'<DOC id="APW1" type="story">\n</DOC>')
    assert (rows, rejected) == ([{"row_number": 1, "source_id": "APW1"}], [])


def test_a_document_that_is_too_large_is_rejected_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 500)
    monkeypatch.setattr(documents, "BLOCK_BYTES", 100)
    large = b"<DOC><DOCNO>1</DOCNO>" + b"x " * 2000 + b"</DOC>"
    rows, rejected = _stage(tmp_path / "d", large + b"<DOC><DOCNO>2</DOCNO>b</DOC>")
    assert [row["source_id"] for row in rows] == ["2"]
    assert [row[:2] for row in rejected] == [("document 1", "too_large")]


def test_many_files_are_read_in_bundles_and_archives_in_place(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    (folder / "ft").mkdir(parents=True)
    for number in range(25):
        content = b"<DOC><DOCNO>%d</DOCNO>text</DOC>" % number
        (folder / "ft" / f"{number:02}.gz").write_bytes(gzip.compress(content))
    files = find_loader("trec").find_files(folder, {})
    assert [len(file.documents) for file in files] == [25]
    with tarfile.open(tmp_path / "many.tar.gz", "w:gz") as archive:
        archive.add(folder, arcname="many")
        archive.add(FOLDER / "README.md", arcname="README.md")
    for source in (folder, tmp_path / "many.tar.gz"):
        staged, rejected = stage_all("trec", source)
        (rows,) = staged.values()
        assert ([row["source_id"] for row in rows["papers"]], rejected) == ([*map(str, range(25))], [])
    (packed,) = find_loader("trec").find_files(tmp_path / "many.tar.gz", {})
    assert [one.name for one in packed.unread] == ["README.md"]


@pytest.mark.parametrize("name", ["AP880212.Z", "ft911_1.z", "fr940104.0z"])
def test_files_of_compress_are_read_as_the_disks_name_them(tmp_path: Path, name: str) -> None:
    content = (FOLDER / "ap880212.sgml").read_bytes()
    (tmp_path / name).write_bytes(compress_lzw(content))
    assert _stage(tmp_path / name, (tmp_path / name).read_bytes()) == _stage(tmp_path / "plain", content)


def test_a_file_that_compress_did_not_write_is_named(tmp_path: Path) -> None:
    (tmp_path / "docs.sgml").write_bytes((FOLDER / "ap880212.sgml").read_bytes())
    (tmp_path / "read.z").write_bytes(b"what pack wrote")
    (first,) = find_loader("trec").find_files(tmp_path, {})
    assert [(one.name, one.reason, one.message) for one in first.unread] == [
        ("read.z", "other_content", "read.z is not what compress (.Z) writes")
    ]


def test_a_file_that_breaks_off_says_behind_which_document(tmp_path: Path) -> None:
    content = b"".join(b"<DOC><DOCNO>%d</DOCNO>%d</DOC>" % (n, n * n * 7919) for n in range(9000))
    packed = gzip.compress(content)
    (tmp_path / "d.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(
        LoadError, match=r"d\.gz is damaged or cut short: it breaks off after document \d+\. Fetch"
    ):
        stage_all("trec", tmp_path / "d.gz")


def test_of_damaged_documents_nothing_is_lost(tmp_path: Path) -> None:
    content = (FOLDER / "ap880212.sgml").read_bytes()
    check_damage("trec", tmp_path / "docs.sgml", content, (3, 3, 0))


@needs_real_data
def test_vaswani_has_its_published_records() -> None:
    staged, rejected = stage_all("trec", REAL_DATA / "trec" / "vaswani")
    assert rejected == []
    papers = staged["doc-text.trec.gz"]["papers"]
    assert [len(papers), *(papers[i]["source_id"] for i in (0, 9, -1))] == [11429, "1", "10", "11429"]
    assert papers[0]["abstract"].startswith("compact memories have flexible capacities a digital data")
    queries = staged["query-text.trec.gz"]["queries"]
    assert [len(queries), queries[0]["text"][:34]] == [93, "MEASUREMENT OF DIELECTRIC CONSTANT"]
    judgments = staged["qrels.gz"]["judgments"]
    assert [len(judgments), judgments[0]["source_id"], judgments[-1]["query_id"]] == [2083, "1239", "93"]


def test_a_document_of_the_web_keeps_the_text_of_its_elements(tmp_path: Path) -> None:
    web = b"<DOC><DOCNO>WTX1</DOCNO><DOCHDR>http://x</DOCHDR><h1>Head</h1> a <b>bold</b><p>word<br>end</DOC>"
    assert _stage(tmp_path / "d", web)[0][0]["abstract"] == "Head a bold word end"


@pytest.mark.parametrize("part", [b"<!--", b"<p>", b"<![CDATA[", b"<doc ", b"&amp", b"<a<a>"])
def test_hostile_markup_is_read_once(tmp_path: Path, part: bytes) -> None:
    content = b"<DOC><DOCNO>1</DOCNO>" + part * 100_000 + b"</DOC>"
    rows, rejected = _stage(tmp_path / "d", content)
    assert len(rows) + len(rejected) == 1


def test_a_comment_and_a_section_may_hold_marks(tmp_path: Path) -> None:
    content = b"<DOC><DOCNO>1</DOCNO><TEXT>a<!-- <TEXT> x --> <![CDATA[b < c <d>]]> &lt;e&gt;</TEXT></DOC>"
    assert _stage(tmp_path / "d", content)[0][0]["abstract"] == "a b < c <d> <e>"
