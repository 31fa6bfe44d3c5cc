"""CL-SciSumm: papers, citances, summaries, and what the release mixes."""

import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.load.unread import find_handed_in
from pinakes.loaders.base import WHOLE_PAPER
from pinakes.loaders.scisumm import LOADER
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

PAPER = (
    '<PAPER>\n<S sid="0">On   Search</S>\n<ABSTRACT><S sid ="1" ssid = "1">We search.</S>'
    '<S sid ="2" ssid = "2">It &amp; that works.</S></ABSTRACT>'
    '<SECTION title="1 Introduction" number = "1"><S sid ="3" ssid = "3">First.</S><S sid="4"> </S>'
    '<S sid="5">Second.</S><SUBSECTION/></SECTION>'
    '<SECTION title="Rest." number="2"><S sid="6">Third.</S></SECTION></PAPER>'
)
SENTENCES: list[Any] = [
    {
        "citance_No": 1,
        "citing_paper_id": "W00-1326",
        "citing_paper_authority": 13,
        "citing_paper_authors": "A, B",
        "raw_text": "Raw (Brants, 2000)",
        "clean_text": "Clean (Brants, 2000).",
        "keep_for_gold": 1,
    },
    {"citance_No": 2, "citing_paper_id": "P14-2043", "citing_paper_authority": 0, "raw_text": "Raw only"},
    {"citance_No": 3, "citing_paper_id": ""},
    ["no object"],
]


def _annotate(number: int, **values: str) -> str:
    """A line of an annotation, with NA where no value is given."""
    names = (
        "Reference Article",
        "Citing Article",
        "Citation Marker Offset",
        "Citation Marker",
        "Citation Offset",
        "Citation Text",
        "Reference Offset",
        "Reference Text",
        "Discourse Facet",
    )
    fields = [f"{name}:  {values.get(name.lower().replace(' ', '_'), 'NA')}" for name in names]
    return " | ".join((f"Citance Number: {number}", *fields))


CITED_TEXT = '<S sid ="1">We search.</S>'
ANNOTATION = "\n".join(
    (
        _annotate(
            1,
            reference_article="C00-2123.xml",
            citing_article="Q13-1024",
            citation_marker="Tillmann and Ney, 2000",
            citation_text='<S sid ="39">Many | most &amp; all.</S>'
            '<S sid ="41">As (Tillmann and Ney, 2000).</S>',
            reference_text=CITED_TEXT,
            discourse_facet="['Results_Citation','Method Citation']",
        )
        + " | Annotator:  Somebody |",
        "",
        _annotate(
            2,
            reference_article="C00-2123.txt",
            citing_article="P134_n09.xml",
            citation_text="<S sid =  ssid = ></S>",
        ),
        "Citance Number: 3 | Reference Article:  C00-2123.txt",
    )
)


def _stage(source: Path) -> tuple[dict[str, dict[str, list[dict[str, Any]]]], list[tuple[str, str]]]:
    staged, rejected = stage_all("scisumm", source)
    by_role = {name.rpartition(": ")[2]: tables for name, tables in staged.items()}
    return by_role, [(row.location, row.reason) for row in rejected]


def test_paper_is_staged_with_sections_and_sentences(tmp_path: Path) -> None:
    staged, rejected = _stage(write_files(tmp_path, {"C00-2123/Reference_XML/C00-2123.xml": PAPER}))
    assert rejected == []
    own = {"row_number": 1, "source_id": "C00-2123"}
    assert staged["papers"] == {
        "papers": [{**own, "title": "On Search", "abstract": "We search. It & that works."}],
        "identifiers": [{**own, "scheme": "acl", "identifier": "C00-2123"}],
        "sections": [
            {**own, "section_number": 1, "title": "1 Introduction", "text": "First. Second."},
            {**own, "section_number": 2, "title": "Rest.", "text": "Third."},
        ],
        "sentences": [
            {**own, "section_number": section, "position": position, "text": text}
            for section, position, text in (
                (0, 1, "We search."),
                (0, 2, "It & that works."),
                (1, 1, "First."),
                (1, 2, "Second."),
                (2, 1, "Third."),
            )
        ],
    }


def test_paper_without_sections_has_one_without_a_title(tmp_path: Path) -> None:
    content = '<PAPER><S sid="0">T</S><S sid="1">One.</S><S sid="2">Two.</S></PAPER>'
    staged, _ = _stage(write_files(tmp_path, {"X/Citance_XML/P134_n09.xml": content}))
    own = {"row_number": 1, "source_id": "P134_n09"}
    assert staged["papers"]["papers"] == [{**own, "title": "T"}]
    assert staged["papers"]["sections"] == [{**own, "section_number": 1, "text": "One. Two."}]
    assert staged["papers"]["identifiers"] == []


def test_windows_1252_is_read_and_other_bytes_are_rejected(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "X/Citance_XML/W01-0001.xml": b"<PAPER><ABSTRACT><S>\x93na\xefve\x94</S></ABSTRACT></PAPER>",
        "X/Citance_XML/W01-0002.xml": b"<PAPER><ABSTRACT><S>\x81</S></ABSTRACT></PAPER>",
        "X/Citance_XML/W01-0003.xml": "<PAPER><SECTION><S>x</S></PAPER></SECTION>",
        "X/Citance_XML/W01-0004.xml": "<PAPER></PAPER>",
        "X/Citance_XML/W01-0005.xml": "<BOOK/>",
    }
    staged, rejected = _stage(write_files(tmp_path, files))
    assert [row["abstract"] for row in staged["papers"]["papers"]] == ["“naïve”"]
    assert rejected == [
        ("X/Citance_XML/W01-0002.xml", "invalid_utf8"),
        ("X/Citance_XML/W01-0003.xml", "not_xml"),
        ("X/Citance_XML/W01-0004.xml", "missing_field"),
        ("X/Citance_XML/W01-0005.xml", "missing_field"),
    ]


def test_best_copy_of_a_paper_is_read_and_no_other(tmp_path: Path) -> None:
    text = "<PAPER><ABSTRACT><S>{}</S></ABSTRACT></PAPER>"
    files: dict[str, str | bytes] = {
        "A/Citance_XML/P01-0001.xml": text.format("cited elsewhere"),
        "P01-0001/Reference_XML/P01-0001.xml": text.format("reference"),
        "A/Citance_XML/P01-0002-parscit130908.xml": text.format("first"),
        "B/Citance_XML/P01-0002.xml": text.format("second"),
    }
    staged, rejected = _stage(write_files(tmp_path, files))
    assert {row["source_id"]: row["abstract"] for row in staged["papers"]["papers"]} == {
        "P01-0001": "reference",
        "P01-0002": "first",
    }
    assert rejected == []


def test_citing_sentences_are_citations_between_mentioned_papers(tmp_path: Path) -> None:
    content = orjson.dumps(SENTENCES)
    files: dict[str, str | bytes] = {
        "A00-1031/citing_sentences.json": content,
        "A00-1031/annotation/A00-1031.ann.txt": ANNOTATION,
        "A00-1032/citing_sentences.json": b"{}",
        "A00-1033/citing_sentences.json": b"[",
    }
    staged, rejected = _stage(write_files(tmp_path, files))
    assert staged["citances"] == {
        "mentioned_papers": [
            {"row_number": 1, "source_id": "W00-1326", "citation_count": 13},
            {"row_number": 1, "source_id": "A00-1031"},
            {"row_number": 2, "source_id": "P14-2043", "citation_count": 0},
            {"row_number": 2, "source_id": "A00-1031"},
        ],
        "citations": [
            {
                "row_number": 1,
                "citing_source_id": "W00-1326",
                "reference_key": "A00-1031",
                "source_reference_id": "A00-1031#1",
                "context": "Clean (Brants, 2000).",
            },
            {
                "row_number": 2,
                "citing_source_id": "P14-2043",
                "reference_key": "A00-1031",
                "source_reference_id": "A00-1031#2",
                "context": "Raw only",
            },
        ],
    }
    assert rejected == [
        ("A00-1031/citing_sentences.json[2]", "missing_field"),
        ("A00-1031/citing_sentences.json[3]", "not_an_object"),
        ("A00-1032/citing_sentences.json", "not_an_object"),
        ("A00-1033/citing_sentences.json", "not_json"),
    ]


def test_annotation_gives_context_marker_and_facets(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "C00-2123/annotation/C00-2123.ann.txt": "an older version",
        "C00-2123/annotation/C00-2123.annv3.txt": ANNOTATION,
    }
    staged, rejected = _stage(write_files(tmp_path, files))
    assert staged["citances"]["citations"] == [
        {
            "row_number": 1,
            "citing_source_id": "Q13-1024",
            "reference_key": "C00-2123",
            "source_reference_id": "C00-2123#1",
            "context": "Many | most & all. As (Tillmann and Ney, 2000).",
            "context_start": 23,
            "context_end": 45,
            "intents": "Method_Citation,Results_Citation",
        },
        {
            "row_number": 2,
            "citing_source_id": "P134_n09",
            "reference_key": "C00-2123",
            "source_reference_id": "C00-2123#2",
        },
    ]
    assert rejected == [("C00-2123/annotation/C00-2123.annv3.txt: line 4", "malformed_line")]


HEADER = (
    "Citance Number,Reference Article,Citing Article,Citation Marker Offset,Citation Marker,Citation Offset,"
    "Citation Text,Citation Text Clean,Reference Offset,Reference Text,Discourse Facet"
)
TEST_SET: dict[str, str | bytes] = {
    "Test/A00-2018/Citance_XML/citing_sentences.json": orjson.dumps(
        [
            {"citance_number": 2, "citing_paper_id": "N10-1002", "clean_text": "As (Charniak, 2000)."},
            {"citance_number": 3, "citing_paper_id": "H05-1035", "raw_text": "Only here."},
        ]
    ),
    "Test/A00-2018/Citance_XML/xml_missing.log": "H05-1035",
    "Test/A00-2018/Reference_XML/A00-2018.xml": PAPER,
    "Test/A00-2018/annotation/A00-2018.csv": (
        f'{HEADER}\n2,A00-2018,N10-1002,0,"Charniak, 2000",0,raw,"As (Charniak, 2000).",,,\n'
    ),
    "Gold/Task1/A00-2018_sweta.csv": (
        f'{HEADER},,\n1,A00-2018,N10-1002,0,"Charniak, 2000",0,raw,"As (Charniak , 2000).",7\','
        "\"<S>a</S>\",'method_Citation',,\n,,,,,,,,,,,,\n4,N10-1002,A00-2018,0,x,0,y,z,,,Aim_Citation,,\n5,A00\n"
    ),
    "Gold/Task1/A00-2018_vardha.csv": (
        f"{HEADER.replace('Discourse Facet', 'Reference Citation')}\r\n"
        '2,,N10-1002,0,"Charniak, 2000",0,raw,"As (Charniak, 2000).",,,Aim_Citation\r\n'
    ),
    "Gold/Task1/notes.csv": "a,b\n",
    "Gold/Task2/A00-2018.abstract": "Abstract.",
    "Gold/Task2/A00-2018_sweta.community": '<S sid="1">Said.</S>',
    "Gold/Task2/A00-2018_sweta.human.txt": "By hand.",
    "Old/A00-2019/A00-2019/A00-2018.xml": PAPER,
    "Old/A00-2019/summary/A00-2019_abstract.txt": "Old.",
    "Old/A00-2019/summary/A00-2019.combined.summary.txt": "All.",
    "Old/A00-2019/summary/A00_2019.community.xml": "<SUMMARY><S>Xml.</S></SUMMARY>",
    ".DS_Store": "x",
}


def test_test_set_and_its_gold_folder_are_one_record_a_citance(tmp_path: Path) -> None:
    staged, rejected = _stage(write_files(tmp_path, TEST_SET))
    shared = {"reference_key": "A00-2018"}
    assert staged["citances"]["citations"] == [
        {
            **shared,
            "row_number": 1,
            "citing_source_id": "N10-1002",
            "source_reference_id": "A00-2018#2",
            "context": "As (Charniak, 2000).",
            "context_start": 4,
            "context_end": 18,
            "intents": "Aim_Citation,Method_Citation",
        },
        {
            **shared,
            "row_number": 5,
            "citing_source_id": "H05-1035",
            "source_reference_id": "A00-2018#3",
            "context": "Only here.",
        },
    ]
    assert rejected == [
        ("Gold/Task1/A00-2018_sweta.csv: row 3", "invalid_value"),
        ("Gold/Task1/A00-2018_sweta.csv: row 4", "malformed_line"),
        ("Gold/Task1/notes.csv", "malformed_line"),
    ]
    texts = {(row["source_id"], row["code"]): row["abstract"] for row in staged["summaries"]["variants"]}
    assert texts == {
        ("A00-2018", "abstract_summary"): "Abstract.",
        ("A00-2018", "community_summary_sweta"): "Said.",
        ("A00-2018", "human_summary_sweta"): "By hand.",
        ("A00-2019", "abstract_summary"): "Old.",
        ("A00-2019", "combined_summary"): "All.",
        ("A00-2019", "community_summary"): "Xml.",
    }


def test_what_is_not_read_is_told_with_its_reason(tmp_path: Path) -> None:
    source = write_files(tmp_path, {**TEST_SET, "Test/A00-2018/annotation/A00-2018.ann.txt": ANNOTATION})
    found = find_handed_in(source, LOADER.find_files(source, {}))
    assert {one.name: (one.reason, one.message) for one in found.unread} == {
        ".DS_Store": ("hidden", ""),
        "Old/A00-2019/A00-2019/A00-2018.xml": ("copy", "Test/A00-2018/Reference_XML/A00-2018.xml"),
        "Test/A00-2018/Citance_XML/xml_missing.log": ("unknown_name", ""),
        "Test/A00-2018/annotation/A00-2018.ann.txt": (
            "copy",
            "Test/A00-2018/Citance_XML/citing_sentences.json",
        ),
    }
    assert found.count_read() == len(TEST_SET) + 1 - 4


@needs_real_data
def test_two_topics_of_the_test_set_of_2018_have_their_known_facts() -> None:
    staged, rejected = _stage(REAL_DATA / "scisumm" / "test-set-2018-two-topics.tar.gz")
    citations = staged["citances"]["citations"]
    assert rejected == []
    assert len(staged["papers"]["papers"]) == 30
    assert len(citations) == 39
    assert len([row for row in citations if row["reference_key"] == "A00-2018"]) == 19


def test_unknown_facet_is_rejected(tmp_path: Path) -> None:
    line = ANNOTATION.splitlines()[2].replace("Discourse Facet:  NA", "Discourse Facet:  Mood")
    _, rejected = _stage(write_files(tmp_path, {"C00-2123/annotation/C00-2123.ann.txt": line}))
    assert [reason for _, reason in rejected] == ["invalid_value"]


def test_summaries_of_a_paper_are_its_variants(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "C00-2123/summary/C00-2123.abstract.txt": "The abstract.\n",
        "C00-2123/summary/C00-2123_sweta.human.txt": '<S sid ="1">By</S>\n<S sid ="2">hand.</S>',
        "A00-1031/summary/A00-1031.scisummnet_human.txt": "TnT\nA tagger.\n",
        "A00-1031/summary/A00-1031.community.txt": " ",
        "A00-1031/summary/notes.txt": "x",
    }
    staged, rejected = _stage(write_files(tmp_path, files))
    assert staged["summaries"] == {
        "papers": [{"row_number": 3, "source_id": "A00-1031"}, {"row_number": 4, "source_id": "C00-2123"}],
        "variants": [
            {"row_number": 3, "source_id": "A00-1031", "code": "gold_summary", "abstract": "TnT A tagger."},
            {
                "row_number": 4,
                "source_id": "C00-2123",
                "code": "abstract_summary",
                "abstract": "The abstract.",
            },
            {
                "row_number": 4,
                "source_id": "C00-2123",
                "code": "human_summary_sweta",
                "abstract": "By hand.",
            },
        ],
    }
    assert rejected == [
        ("A00-1031/summary/A00-1031.community.txt", "missing_field"),
        ("A00-1031/summary/notes.txt", "invalid_value"),
    ]


def test_roles_own_what_they_say_and_nothing_of_each_other() -> None:
    owned = [LOADER.describes(role) for role in ("papers", "citances", "summaries")]
    assert all(part <= WHOLE_PAPER for part in owned)
    assert sum(map(len, owned)) == len(frozenset().union(*owned)) == 7


def test_archive_gives_what_its_folder_gives(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "topics",
        {
            "C00-2123/Reference_XML/C00-2123.xml": PAPER,
            "C00-2123/annotation/C00-2123.ann.txt": ANNOTATION,
            "C00-2123/summary/C00-2123.human.txt": "By hand.",
        },
    )
    with tarfile.open(tmp_path / "scisumm.tar.gz", "w:gz") as archive:
        archive.add(folder, "release")
    packed, _ = _stage(tmp_path / "scisumm.tar.gz")
    assert list(packed) == ["papers", "citances", "summaries"]
    assert packed == _stage(folder)[0]


def test_source_without_a_topic_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no topic of CL-SciSumm; expected folders Reference_XML"):
        stage_all("scisumm", write_files(tmp_path, {"a.xml": PAPER}))


_DAMAGED: dict[str, bytes] = {
    "C00-2123/Reference_XML/C00-2123.xml": PAPER.encode(),
    "C00-2123/annotation/C00-2123.ann.txt": ANNOTATION.encode(),
    "C00-2123/summary/C00-2123.human.txt": b"By hand.",
    "A00-1031/citing_sentences.json": orjson.dumps(SENTENCES),
}


@pytest.mark.parametrize("name", _DAMAGED)
def test_no_damage_loses_a_record_or_raises(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, _DAMAGED)
    check_damage("scisumm", tmp_path / name, _DAMAGED[name], (9, 6, 3), source=tmp_path)


@needs_real_data
def test_release_of_2019_has_its_known_facts() -> None:
    staged, rejected = _stage(REAL_DATA / "scisumm" / "scisumm-train.tar.gz")
    counts = {role: {name: len(rows) for name, rows in tables.items()} for role, tables in staged.items()}
    assert counts == {
        "papers": {"papers": 1109, "identifiers": 1080, "sections": 7151, "sentences": 240535},
        "citances": {"mentioned_papers": 24932, "citations": 12466},
    }
    # Not well-formed: 12 papers. Without a sentence: 2. With a NUL character: 9 citing sentences.
    assert [reason for _, reason in rejected].count("not_xml") == 12
    assert [reason for _, reason in rejected].count("missing_field") == 2
    assert [reason for _, reason in rejected].count("invalid_value") == 9
    assert len(rejected) == 23
    papers = {row["source_id"]: row for row in staged["papers"]["papers"]}
    assert papers["A00-1031"]["title"] == "TnT - A Statistical Part-Of-Speech Tagger"
    assert len([row for row in staged["papers"]["sentences"] if row["source_id"] == "A00-1031"]) == 178
    citations = staged["citances"]["citations"]
    manual = [row for row in citations if row["reference_key"] in {"C00-2123", "N09-1025"}]
    assert all(row["intents"] for row in manual)
    assert len([row for row in citations if "intents" in row]) == 558
    assert len([row for row in citations if "context" not in row]) == 1
