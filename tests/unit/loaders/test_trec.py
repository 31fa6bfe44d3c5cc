"""TREC topics and qrels: XML, classic SGML, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.registry import find_loader
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data


def _judgment(
    row_number: int, query_id: str, source_id: str, grade: int, split: str = "test"
) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": split,
        "grade": grade,
    }


def test_classic_topics_become_these_queries() -> None:
    staged, rejected = stage_all("trec", DATA / "trec" / "topics.sgml")
    assert rejected == []
    assert staged["topics.sgml"]["queries"] == [
        {
            "row_number": 1,
            "query_id": "301",
            "text": "International Organized Crime",
            "description": "Identify organizations that take part in international crime.",
            "narrative": "A relevant document names the organization.",
        },
        {
            "row_number": 2,
            "query_id": "302",
            "text": "Poliomyelitis",
            "description": "Is polio under control?",
        },
    ]


def test_xml_topics_become_these_queries() -> None:
    staged, rejected = stage_all("trec", DATA / "trec" / "topics.xml")
    assert rejected == []
    assert staged["topics.xml"]["queries"] == [
        {
            "row_number": 1,
            "query_id": "1",
            "text": "wing lift",
            "description": "what lifts a wing",
            "narrative": "air & speed",
        },
        {"row_number": 2, "query_id": "2", "text": "old style", "description": "a description"},
    ]


def test_a_folder_gives_its_topics_before_its_qrels() -> None:
    files = find_loader("trec").find_files(DATA / "trec", {})
    assert [(file.name, file.role) for file in files] == [
        ("topics.sgml", "queries"),
        ("topics.xml", "queries"),
        ("qrels.txt", "judgments"),
    ]


def test_qrels_carry_the_split_that_the_option_names() -> None:
    staged, rejected = stage_all("trec", DATA / "trec" / "qrels.txt", {"split": "dev"})
    assert rejected == []
    assert staged["qrels.txt"]["judgments"] == [
        _judgment(2, "1", "d1", 2, "dev"),
        _judgment(3, "1", "d9", 1, "dev"),
        _judgment(4, "2", "d1", 0, "dev"),
    ]


@needs_real_data
def test_trec_covid_has_its_published_records() -> None:
    staged, rejected = stage_all("trec", REAL_DATA / "trec" / "covid")
    assert rejected == []
    queries = staged["topics.covid-round5.xml"]["queries"]
    assert [len(queries), *(queries[i]["query_id"] for i in (0, 9, -1))] == [50, "1", "10", "50"]
    assert [queries[i]["text"] for i in (0, 9, -1)] == [
        "coronavirus origin",
        "coronavirus social distancing impact",
        "mRNA vaccine coronavirus",
    ]
    assert queries[0]["description"] == "what is the origin of COVID-19"
    judgments = staged["qrels.covid-complete.txt.gz"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        69318,
        _judgment(1, "1", "005b2j4b", 2),
        _judgment(10, "1", "05vx82oo", 0),
        _judgment(69318, "50", "zz8wvos9", 1),
    ]


@needs_real_data
def test_trec_evals_qrels_have_their_published_records() -> None:
    staged, rejected = stage_all("trec", REAL_DATA / "trec" / "trec_eval" / "qrels.test")
    assert rejected == []
    judgments = staged["qrels.test"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        3681,
        _judgment(1, "301", "CR93E-10279", 0),
        _judgment(10, "301", "CR93E-3284", 0),
        _judgment(3681, "303", "LA122990-0030", 0),
    ]


def test_a_topic_without_number_or_query_is_rejected_with_its_raw_text(tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text('<topics><topic number="1"/><topic><query>q</query></topic></topics>')
    (tmp_path / "t.sgml").write_text("<top>\n<num> Number: 7\n</top>\n")
    _, rejected = stage_all("trec", tmp_path)
    assert [(row.location, row.reason, row.raw) for row in rejected] == [
        ("topic 1", "missing_field", "<top>\n<num> Number: 7\n</top>"),
        ("topic 1", "missing_field", '<topic number="1" />'),
        ("topic 2", "missing_field", "<topic><query>q</query></topic>"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '<!DOCTYPE topics [<!ENTITY a "b">]><topics><topic number="1">&a;</topic></topics>',
            "declares XML entities, which topics do not need; they are refused",
        ),
        ("<topics><topic>", "is not XML: no element found"),
        ("<topics></topics>", "has no <topic> and no <top>; expected TREC topics"),
        (
            "<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n</top>\n",
            "has 2 <top>, but 1 </top> that close them",
        ),
    ],
)
def test_topics_of_another_shape_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "topics").write_text(content)
    with pytest.raises(InputError, match=message):
        stage_all("trec", tmp_path / "topics")


def test_topics_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(b"<top>\n<num> 1\n<title> caf\xe9\n</top>\n")
    with pytest.raises(InputError, match="topics: byte 26 is not UTF-8; if it is Latin-1, say --option enc"):
        stage_all("trec", tmp_path / "topics")


def test_an_unknown_way_with_unknown_papers_is_refused() -> None:
    with pytest.raises(InputError, match="unknown='perhaps': expected reject or create"):
        find_loader("trec").find_files(DATA / "trec", {"unknown": "perhaps"})


def test_a_missing_source_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file or folder"):
        find_loader("trec").find_files(tmp_path / "nowhere", {})
    with pytest.raises(InputError, match="is empty; expected TREC documents, topics or qrels"):
        find_loader("trec").find_files(tmp_path, {})


def test_an_empty_compressed_file_is_cut_short(tmp_path: Path) -> None:
    (tmp_path / "qrels.gz").write_bytes(b"")
    with pytest.raises(LoadError, match=r"qrels\.gz is cut short: it is empty, and should be compressed"):
        find_loader("trec").find_files(tmp_path, {})


def _stage_topics(path: Path, content: str) -> tuple[list[tuple[str, ...]], dict[str, int]]:
    """The queries of a file of topics: id, text, description, narrative; the elements that are left out."""
    path.write_text(content, encoding="utf-8")
    staged, rejected = stage_all("trec", path, with_left_out=True)
    assert rejected == []
    rows = staged[path.name]
    columns = ("query_id", "text", "description", "narrative")
    queries = [tuple(row[name] for name in columns if name in row) for row in rows["queries"]]
    return queries, {row["kind"]: row["items"] for row in rows.get("left_out", [])}


@pytest.mark.parametrize(
    ("content", "queries", "left_out"),
    [
        (
            "<top>\n<num> Number: 401\n<title> a\n<top>\n<num> Number: 402\n<title> b\n",
            [("401", "a"), ("402", "b")],
            {},
        ),
        ("<TOP><NUM>MB01</NUM><TITLE>AT&amp;T</TITLE></TOP>", [("MB01", "AT&T")], {}),
        (
            "<top>\n<num> C041 </num>\n<EN-title> Pesticides </EN-title>\n<EN-desc> d </EN-desc></top>",
            [("C041", "Pesticides", "d")],
            {},
        ),
        (
            '<?xml version="1.0" encoding="UTF-8"?><topics><topic number="1"><disease>Liposarcoma</disease>'
            "<gene>CDK4</gene></topic></topics>",
            [("1", "Liposarcoma CDK4")],
            {},
        ),
        (
            '<topics><topic number="7"> A 58-year-old woman. </topic></topics>',
            [("7", "A 58-year-old woman.")],
            {},
        ),
        (
            "<topics><topic><identifier>551-AH</identifier><title>a</title><narrative>n</narrative>"
            "<note>x</note><note>y</note></topic></topics>",
            [("551-AH", "a", "n")],
            {"field note": 2},
        ),
        ('<queries><query id="q1">heat flow</query></queries>', [("q1", "heat flow")], {}),
        (
            "<parameters><query><number>51</number><text>heat</text></query></parameters>",
            [("51", "heat")],
            {},
        ),
    ],
)
def test_topics_of_other_tracks_become_these_queries(
    tmp_path: Path, content: str, queries: list[tuple[str, ...]], left_out: dict[str, int]
) -> None:
    assert _stage_topics(tmp_path / "topics", content) == (queries, left_out)


@pytest.mark.parametrize("line", ["{}\t{}", "{}:{}"])
def test_lines_of_id_and_query_are_topics_where_the_name_says_so(tmp_path: Path, line: str) -> None:
    content = "".join(
        line.format(*pair) + "\n" for pair in (("1", "obama family tree"), ("2", "why: a test"))
    )
    expected = [("1", "obama family tree"), ("2", "why: a test")]
    assert _stage_topics(tmp_path / "queries.dev.tsv", content) == (expected, {})


def test_a_folder_with_other_files_gives_what_is_there_and_names_the_rest(tmp_path: Path) -> None:
    for name, content in {
        "README.md": b"# Topics\n\nof 2004, with 50 lines\n",
        "manifest.json": b'{"topics": 2}\n',
        "cover.png": b"\x89PNG\r\n\x1a\n\x00\x00",
        "nothing.txt": b"",
        "numbers.txt": b"1 2 3\n4 5 6\n",
        "topics.txt": b"<top><num>1<title>a</top>",
        "qrels.txt": b"1 0 d1 1\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    files = find_loader("trec").find_files(tmp_path, {})
    assert [(file.name, file.role) for file in files] == [
        ("topics.txt", "queries"),
        ("qrels.txt", "judgments"),
    ]
    assert {one.name: one.reason for one in files[0].unread} == {
        "README.md": "other_content",
        "cover.png": "other_content",
        "manifest.json": "other_content",
        "nothing.txt": "empty",
        "numbers.txt": "other_content",
    }
