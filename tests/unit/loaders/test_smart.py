"""SMART collections: archives and folders, and what their records become."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data

TOY = {
    "toy.all": {
        "papers": [
            {
                "row_number": 1,
                "source_id": "1",
                "title": "the wing in a slipstream",
                "abstract": "a study of a wing .",
                "venue": "j. of wings, 1950.",
                "year": 1950,
            },
            {"row_number": 2, "source_id": "2", "title": ".Ideal gases"},
            {"row_number": 3, "source_id": "3", "abstract": "only an abstract"},
        ],
        "authorships": [
            {
                "row_number": 1,
                "source_id": "1",
                "position": 1,
                "author_source_id": "name:a. person",
                "author_name": "a. person",
            }
        ],
    },
    "toy.qry": {
        "queries": [
            {"row_number": 1, "query_id": "1", "text": "what is known of wings"},
            {"row_number": 2, "query_id": "2", "text": "gases"},
        ],
    },
}


def _judgment(row_number: int, query_id: str, source_id: str, grade: int) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": "test",
        "grade": grade,
    }


TOY_JUDGMENTS = [_judgment(1, "1", "1", 2), _judgment(2, "1", "3", -1), _judgment(3, "2", "2", 1)]


def _pack(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for file in sorted((DATA / "smart").iterdir()):
            archive.add(file, arcname=file.name)
    return path


def test_a_folder_and_an_archive_become_the_same_rows(tmp_path: Path) -> None:
    expected = {**TOY, "toyqrel": {"judgments": TOY_JUDGMENTS}}
    assert stage_all("smart", DATA / "smart") == (expected, [])
    assert stage_all("smart", _pack(tmp_path / "toy.tar.gz")) == (expected, [])


def test_the_corpus_is_named_after_the_archive() -> None:
    loader = find_loader("smart")
    assert loader.describe_corpus(Path("cran.tar.gz"), {}).name == "cranfield"
    assert loader.describe_corpus(Path("ADI.tar.gz"), {}).name == "adi"


@needs_real_data
def test_cranfield_has_its_published_records() -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "smart" / "cran.tar.gz")
    assert rejected == []
    papers = staged["cran.all.1400"]["papers"]
    assert len(papers) == 1400
    assert [papers[i]["source_id"] for i in (0, 9, -1)] == ["1", "10", "1400"]
    assert papers[9]["title"] == "the theory of the impact tube at low pressure ."
    assert [papers[i]["venue"] for i in (0, 9, -1)] == [
        "j. ae. scs. 25, 1958, 324.",
        "j. ae. scs. 15, 1948, 735.",
        "arc r + m.2971, 1953.",
    ]
    queries = staged["cran.qry"]["queries"]
    assert [len(queries), *(queries[i]["query_id"] for i in (0, 9, -1))] == [225, "1", "10", "225"]
    assert [queries[i]["text"][:40] for i in (0, 9, -1)] == [
        "what similarity laws must be obeyed when",
        "are real-gas transport properties for ai",
        "what design factors can be used to contr",
    ]
    judgments = staged["cranqrel"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        1837,
        _judgment(1, "1", "184", 2),
        _judgment(10, "1", "57", 2),
        _judgment(1837, "225", "1188", -1),
    ]


@needs_real_data
def test_adi_has_its_published_records() -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "smart" / "adi.tar.gz")
    assert rejected == []
    papers = staged["ADI.ALL"]["papers"]
    assert [len(papers), *(papers[i]["source_id"] for i in (0, 9, -1))] == [82, "1", "10", "82"]
    assert papers[9]["title"] == "accrediting information science programs ."
    queries = staged["ADI.QRY"]["queries"]
    assert [len(queries), *(queries[i]["query_id"] for i in (0, 9, -1))] == [35, "1", "10", "35"]
    judgments = staged["ADI.REL"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        170,
        _judgment(1, "1", "17", 1),
        _judgment(10, "4", "29", 1),
        _judgment(170, "35", "79", 1),
    ]


def _write_collection(folder: Path, papers: bytes, queries: bytes = b".I 1\n.W\nx\n") -> Path:
    (folder / "toy.all").write_bytes(papers)
    (folder / "toy.qry").write_bytes(queries)
    (folder / "toyqrel").write_bytes(b"")
    return folder


def test_records_that_break_the_format_are_rejected_with_their_raw_text(tmp_path: Path) -> None:
    papers = b"loose text\n.I\n.W\nno number\n.I 3\n.W\ncaf\xe9\n.I 4\n.W\ngood\n.I 4\n.W\nagain\n"
    staged, rejected = stage_all("smart", _write_collection(tmp_path, papers))
    assert [row["source_id"] for row in staged["toy.all"]["papers"]] == ["4"]
    assert [(row.row_number, row.location, row.reason, row.raw) for row in rejected] == [
        (1, "record 1", "malformed_line", "loose text"),
        (2, "record 2", "malformed_line", ".I\n.W\nno number"),
        (3, "record 3", "invalid_utf8", ".I 3\n.W\ncaf\\xe9"),
        (5, "record 5", "duplicate_id", ".I 4\n.W\nagain"),
    ]


def test_a_query_without_a_text_keeps_its_ordinal(tmp_path: Path) -> None:
    queries = b".I 1\n.W\n.I 2\n.W\nsecond\n"
    staged, rejected = stage_all("smart", _write_collection(tmp_path, b".I 1\n.W\nx\n", queries))
    assert [row["query_id"] for row in staged["toy.qry"]["queries"]] == ["2"]
    assert [(row.row_number, row.reason, row.message) for row in rejected] == [
        (1, "missing_field", "a query without .W")
    ]


def test_a_source_without_relevance_list_is_refused(tmp_path: Path) -> None:
    (_write_collection(tmp_path, b"") / "toyqrel").unlink()
    with pytest.raises(
        InputError, match=r"is no SMART collection; expected documents .* found toy\.all, toy\.qry"
    ):
        find_loader("smart").find_files(tmp_path, {})


def test_a_missing_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file or folder"):
        find_loader("smart").find_files(tmp_path / "cran.tar.gz", {})


CACM = b""".I 1
.T
Later paper
.B
CACM May, 1959
.A
Perlis, A. J.
Samelson,K. and Bauer, F.
.K
checking, verification,
loops
.C
3.83 4.9
.N
CA590501
.X
2\t5\t1
1\t5\t1
2\t4\t1
3\t5\t1
3\t5\t1
.I 0002
.T
Earlier paper
.B
CACM December, 1958
.X
1\t5\t2
.I 3
.T
Of the same month
.B
CACM May, 1959
.X
1\t5\t3
.I
"""


def _write_cacm(folder: Path, papers: bytes = CACM) -> Path:
    (folder / "cacm.all").write_bytes(papers)
    (folder / "query.text").write_bytes(
        b".I 1\n.W\nloops\n.A\nPooch, U.\n.I 2\n.T\nA title\n.W\nand a text\n"
    )
    (folder / "qrels.text").write_bytes(b"01 0002  0 0\n01 0003  0 0\n02 0001  0 0\n")
    (folder / "cacm.qrels").write_bytes(b"1 0 0002 1\n1 0 0003 1\n2 0 0001 1\n")
    (folder / "cite.info").write_bytes(b"5 : links\n")
    return folder


def _count_left_out(rows: dict[str, list[dict[str, Any]]]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for row in rows.get("left_out", []):
        key = row["kind"], row["reason"]
        counts[key] = counts.get(key, 0) + row["items"]
    return counts


def test_cacm_in_its_published_names_becomes_these_rows(tmp_path: Path) -> None:
    staged, rejected = stage_all("smart", _write_cacm(tmp_path), with_left_out=True)
    assert rejected == []
    rows = staged["cacm.all"]
    assert [(row["source_id"], row["year"]) for row in rows["papers"]] == [
        ("1", 1959),
        ("2", 1958),
        ("3", 1959),
    ]
    names = [row["author_name"] for row in rows["authorships"]]
    assert names == ["Perlis, A. J.", "Samelson,K.", "Bauer, F."]
    assert [(row["assigned_by"], row["field"]) for row in rows["fields"]] == [
        ("keywords", "checking"),
        ("keywords", "verification"),
        ("keywords", "loops"),
        ("computing_reviews", "3.83"),
        ("computing_reviews", "4.9"),
    ]
    assert [(row["query_id"], row["text"]) for row in staged["query.text"]["queries"]] == [
        ("1", "loops"),
        ("2", "A title and a text"),
    ]
    assert _count_left_out(staged["query.text"]) == {("field A", "no_column"): 1}


def test_a_link_is_one_citation_of_the_earlier_paper_and_all_others_are_counted(tmp_path: Path) -> None:
    rows = stage_all("smart", _write_cacm(tmp_path), with_left_out=True)[0]["cacm.all"]
    links = [(row["citing_source_id"], row["reference_key"]) for row in rows["citations"]]
    assert links == [("1", "2"), ("3", "1")]
    assert _count_left_out(rows) == {
        ("field N", "no_column"): 1,
        ("field X", "no_value"): 1,
        ("field X", "no_column"): 1,
        ("citations", "repeated"): 3,
    }


def test_links_of_other_types_are_no_citations(tmp_path: Path) -> None:
    cisi = b".I 1\n.T\na\n.X\n1\t6\t1\n363\t1\t1\n2\t5\t1\n.I 2\n.T\nb\n.X\n.I 3\n.T\nc\n"
    rows = stage_all("smart", _write_cacm(tmp_path, cisi), with_left_out=True)[0]["cacm.all"]
    assert "citations" not in rows
    assert _count_left_out(rows) == {("field X", "no_column"): 3}


@pytest.mark.parametrize("name", ["cacm.qrels", "qrels.text"])
def test_of_two_relevance_lists_the_one_that_is_named_is_read(name: str, tmp_path: Path) -> None:
    source = _write_cacm(tmp_path)
    files = find_loader("smart").find_files(source, {"qrels": name})
    assert [file.name for file in files] == ["cacm.all", "query.text", name]
    (other,) = files[0].unread
    assert (other.name != name, other.reason, other.message) == (True, "copy", f"{name} is read")
    staged, rejected = stage_all("smart", source, {"qrels": name})
    assert rejected == []
    assert [(row["query_id"], row["source_id"], row["grade"]) for row in staged[name]["judgments"]] == [
        ("1", "2", 1),
        ("1", "3", 1),
        ("2", "1", 1),
    ]


def test_a_relevance_list_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"qrels='mine': no relevance list is called so; there is cacm\.qrels"
    ):
        find_loader("smart").find_files(_write_cacm(tmp_path), {"qrels": "mine"})


def test_npl_in_its_published_names_becomes_these_rows(tmp_path: Path) -> None:
    (tmp_path / "doc-text").write_bytes(b"1\ncompact memories\nhave\n   /\n2\nelectronic\n   /\n   /\n")
    (tmp_path / "query-text").write_bytes(b"1\nMEASUREMENT OF LIQUIDS\n/\n2\nUSE\n/\n")
    (tmp_path / "rlv-ass").write_bytes(b"1\n  1   2\n   /\n2\n    2\n /\n")
    staged, rejected = stage_all("smart", tmp_path)
    assert rejected == []
    assert [(row["source_id"], row["abstract"]) for row in staged["doc-text"]["papers"]] == [
        ("1", "compact memories have"),
        ("2", "electronic"),
    ]
    assert [row["text"] for row in staged["query-text"]["queries"]] == ["MEASUREMENT OF LIQUIDS", "USE"]
    assert staged["rlv-ass"]["judgments"] == [
        _judgment(1, "1", "1", 1),
        _judgment(2, "1", "2", 1),
        _judgment(3, "2", "2", 1),
    ]


def test_lisa_in_its_published_names_becomes_these_rows(tmp_path: Path) -> None:
    stars = b"*" * 44
    (tmp_path / "LISA0.001").write_bytes(
        b"Document    1\nA COURSE,\nHELSINKI.\n\nDESCRIBES IT.\nWELL.\n" + stars + b"\n"
    )
    (tmp_path / "LISA0.501").write_bytes(b"Document  501\nANOTHER.\n     \nTEXT.\n" + stars + b"\n")
    (tmp_path / "LISA.QUE").write_bytes(b"1\nI AM INTERESTED\nIN ALL. #\n2\nMORE. #\n")
    (tmp_path / "LISARJ.NUM").write_bytes(b"  1   2    1\n  501     \n   2   1   501\n")
    (tmp_path / "LISA.REL").write_bytes(b"Query 1\n2 Relevant Refs:\n1 501 -1\n")
    staged, rejected = stage_all("smart", tmp_path)
    assert rejected == []
    papers = [row for name in ("LISA0.001", "LISA0.501") for row in staged[name]["papers"]]
    assert [(row["source_id"], row["title"], row["abstract"]) for row in papers] == [
        ("1", "A COURSE, HELSINKI.", "DESCRIBES IT. WELL."),
        ("501", "ANOTHER.", "TEXT."),
    ]
    assert [row["text"] for row in staged["LISA.QUE"]["queries"]] == ["I AM INTERESTED IN ALL.", "MORE."]
    judged = [(row["query_id"], row["source_id"]) for row in staged["LISARJ.NUM"]["judgments"]]
    assert judged == [("1", "1"), ("1", "501"), ("2", "501")]
    assert [one.name for one in find_loader("smart").find_files(tmp_path, {})[0].unread] == ["LISA.REL"]


def test_time_in_its_published_names_becomes_these_rows(tmp_path: Path) -> None:
    (tmp_path / "TIME.ALL").write_bytes(
        b"*TEXT 017 01/04/63 PAGE 020\n\nTHE ALLIES\n\nAFTER NASSAU\n*TEXT 018 01/04/63 PAGE 21\n\nX\n*STOP\n"
    )
    (tmp_path / "TIME.QUE").write_bytes(
        b"*FIND     1\n\n KENNEDY\n\nNASSAU .\n\n*FIND     2\n\n X .\n*STOP\n"
    )
    (tmp_path / "TIME.REL").write_bytes(b"\n1   1  2\n\n2   2\n")
    staged, rejected = stage_all("smart", tmp_path)
    assert rejected == []
    papers = staged["TIME.ALL"]["papers"]
    assert [(row["source_id"], row["year"], row["abstract"]) for row in papers] == [
        ("1", 1963, "THE ALLIES AFTER NASSAU"),
        ("2", 1963, "X"),
    ]
    assert [(row["query_id"], row["text"]) for row in staged["TIME.QUE"]["queries"]] == [
        ("1", "KENNEDY NASSAU ."),
        ("2", "X ."),
    ]
    judged = [(row["query_id"], row["source_id"]) for row in staged["TIME.REL"]["judgments"]]
    assert judged == [("1", "1"), ("1", "2"), ("2", "2")]


def test_relevance_numbers_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    (tmp_path / "LISA0.001").write_bytes(b"Document 1\nT\n\nA\n")
    (tmp_path / "LISA.QUE").write_bytes(b"1\nQ #\n")
    (tmp_path / "LISARJ.NUM").write_bytes(b"1 3 1\n")
    with pytest.raises(InputError, match=r"LISARJ\.NUM, line 1: expected a query, how many documents"):
        stage_all("smart", tmp_path)


def test_of_a_damaged_collection_nothing_is_lost(tmp_path: Path) -> None:
    check_damage("smart", tmp_path / "cacm.all", CACM, (8, 5, 3), source=_write_cacm(tmp_path))


@needs_real_data
def test_medline_has_its_published_judgments() -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "smart" / "med.tar.gz")
    assert (rejected, len(staged["MED.ALL"]["papers"]), len(staged["MED.QRY"]["queries"])) == ([], 1033, 30)
    judgments = staged["MED.REL"]["judgments"]
    assert [len(judgments), judgments[0]] == [696, _judgment(1, "1", "13", 1)]


@needs_real_data
@pytest.mark.parametrize("name", ["cacm.qrels", "qrels.text"])
def test_cacm_has_its_published_records(name: str) -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "cacm", {"qrels": name}, with_left_out=True)
    assert rejected == []
    rows = staged["cacm.all.gz"]
    assert [len(rows[table]) for table in ("papers", "citations")] == [3204, 2720]
    assert {row["year"] for row in rows["papers"]} == set(range(1958, 1980))
    kept = _count_left_out(rows)
    links = sum(kept[key] for key in kept if key[0] in ("field X", "citations")) + len(rows["citations"])
    assert links == 46566
    assert len(staged["query.text"]["queries"]) == 64
    judged = {(row["query_id"], row["source_id"]) for row in staged[name]["judgments"]}
    assert (len(judged), len({query for query, _ in judged})) == (796, 52)
