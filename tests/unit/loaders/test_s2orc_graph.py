"""The Semantic Scholar Academic Graph: what its datasets and their diffs become."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.s2orc import LOADER, find_files
from pinakes.loaders.s2orc.graph_texts import parse_full_text
from pinakes.loaders.staging import RecordError, Rows
from tests.fuzzing import check_damage
from tests.loading import count_left_out, stage_all
from tests.writing import write_lines

SHA = "7cf79fbdfa2160c3e8e16b4c3a13cdd56e148031"
PAPER: dict[str, Any] = {
    "corpusid": 7,
    "externalids": {"DOI": "10.1/A", "MAG": "99", "DBLP": "conf/acl/Lee20", "CorpusId": "7", "PubMed": None},
    "url": f"https://www.semanticscholar.org/paper/{SHA}",
    "title": "On dogs",
    "authors": [{"authorId": "5", "name": "A. Lee"}, {"authorId": None, "name": "Plato"}],
    "venue": "",
    "journal": {"name": "Pets", "pages": None, "volume": "3"},
    "year": 2020,
    "citationcount": 4,
    "s2fieldsofstudy": [
        {"category": "Biology", "source": "s2-fos-model"},
        {"category": "Biology", "source": "external"},
    ],
}
ABSTRACT: dict[str, Any] = {"corpusid": 7, "openaccessinfo": None, "abstract": "They bark."}
CITATION: dict[str, Any] = {
    "citationid": 1,
    "citingcorpusid": 7,
    "citedcorpusid": 8,
    "isinfluential": True,
    "contexts": ["As in [1].", "See [1]."],
    "intents": [["methodology", "background"], None],
}
TEXT = (
    "On dogs\n"
    "Abstract of [2] it.\n"
    "1 Introduction\n"
    "They bark. As shown by [1], loudly. So there.\n"
    "And bite.\n"
    "A footnote on [9].\n"
    "[1] Cats meow. [2] Mice."
)


def _find(words: str, **attributes: str) -> dict[str, Any]:
    start = TEXT.index(words)
    found: dict[str, Any] = {"start": start, "end": start + len(words)}
    return {**found, "attributes": attributes} if attributes else found


FULL_TEXT: dict[str, Any] = {
    "corpusid": 7,
    "externalids": {"doi": "10.1/a"},
    "content": {
        "source": {"pdfurls": None},
        "text": TEXT,
        "annotations": {
            "abstract": orjson.dumps([_find("Abstract of [2] it.")]).decode(),
            "sectionheader": orjson.dumps([_find("Introduction", n="1")]).decode(),
            "paragraph": orjson.dumps([_find("And bite."), _find(TEXT.split("\n")[3])]).decode(),
            "bibref": orjson.dumps(
                [
                    _find("[2]", ref_id="b1"),
                    _find("[1]", ref_id="b0"),
                    _find("[9]", ref_id="b9"),
                    _find("So"),
                ]
            ).decode(),
            "bibentry": orjson.dumps(
                [_find("[1] Cats meow.", id="b0", matched_paper_id="8"), _find("[2] Mice.", id="b1")]
            ).decode(),
            "bibtitle": orjson.dumps([_find("Cats meow"), _find("Mice")]).decode(),
            "figure": None,
        },
    },
}


def _of_paper(**columns: Any) -> dict[str, Any]:
    return {"row_number": 1, "source_id": "7", **columns}


def _cite(cited: str, reference_id: str, **more: Any) -> dict[str, Any]:
    return {
        "row_number": 1,
        "citing_source_id": "7",
        "reference_key": cited,
        "source_reference_id": reference_id,
        **more,
    }


def test_a_paper_becomes_these_rows(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "papers" / "20240101_00022_abcde", PAPER)
    staged, rejected = stage_all("s2orc", path)
    assert rejected == []
    assert staged[path.name] == {
        "papers": [_of_paper(title="On dogs", year=2020, venue="Pets", citation_count=4)],
        "identifiers": [
            _of_paper(scheme="doi", identifier="10.1/a"),
            _of_paper(scheme="mag", identifier="99"),
            _of_paper(scheme="dblp", identifier="conf/acl/Lee20"),
            _of_paper(scheme="s2", identifier=SHA),
        ],
        "fields": [
            _of_paper(field="Biology", assigned_by="s2-fos-model"),
            _of_paper(field="Biology", assigned_by="external"),
        ],
        "authorships": [
            _of_paper(position=1, author_source_id="5", author_name="A. Lee"),
            _of_paper(position=2, author_source_id="name:Plato", author_name="Plato"),
        ],
    }


def test_an_abstract_describes_nothing_else(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", ABSTRACT)
    staged, rejected = stage_all("s2orc", path)
    assert (staged["x.jsonl"], rejected) == ({"papers": [_of_paper(abstract="They bark.")]}, [])
    assert [LOADER.describes(file.role) for file in find_files(path, {})] == [{"abstract"}]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            [
                {"reference_key": "8", "context": "As in [1].", "intents": "background,methodology"},
                {"reference_key": "8", "context": "See [1]."},
            ],
        ),
        ({"contexts": None, "intents": None}, [{"reference_key": "8"}]),
        ({"contexts": [], "intents": [["b"], ["a", "b"]]}, [{"reference_key": "8", "intents": "a,b"}]),
        (
            {"contexts": ["One."], "intents": [["a"], ["b"]]},
            [{"reference_key": "8", "context": "One."}],
        ),
        (
            {"citedcorpusid": None, "contexts": None, "intents": [["b"]]},
            [{"reference_key": "mention:7#1", "intents": "b"}],
        ),
    ],
)
def test_each_context_of_a_citation_is_a_row(
    tmp_path: Path, changes: dict[str, Any], expected: list[dict[str, Any]]
) -> None:
    staged, rejected = stage_all("s2orc", write_lines(tmp_path / "x.jsonl", CITATION | changes))
    link = {"row_number": 1, "citing_source_id": "7", "source_reference_id": "1", "is_influential": True}
    assert (staged["x.jsonl"]["citations"], rejected) == ([link | row for row in expected], [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"citingcorpusid": None}, "missing_field"),
        ({"citationid": None}, "missing_field"),
        ({"isinfluential": 1}, "invalid_value"),
        ({"contexts": "As in [1]."}, "invalid_value"),
        ({"intents": ["background"]}, "invalid_value"),
    ],
)
def test_a_citation_that_is_wrong_is_rejected(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    _, rejected = stage_all("s2orc", write_lines(tmp_path / "x.jsonl", CITATION | changes))
    assert [row.reason for row in rejected] == [reason]


EXPECTED_TEXT: dict[str, list[dict[str, Any]]] = {
    "papers": [{"source_id": "7"}],
    "sections": [
        {
            "source_id": "7",
            "section_number": 1,
            "title": "Introduction",
            "text": "They bark. As shown by [1], loudly. So there.\n\nAnd bite.",
        }
    ],
    "references": [
        {"reference_key": "8", "title": "Cats meow", "year": None},
        {"reference_key": "title:mice", "title": "Mice", "year": None},
    ],
    "reference_identifiers": [],
    "citations": [
        {
            "citing_source_id": "7",
            "reference_key": "title:mice",
            "source_reference_id": "b1",
            "context": "Abstract of [2] it.",
            "context_start": 12,
            "context_end": 15,
        },
        {
            "citing_source_id": "7",
            "reference_key": "mention:7#b9",
            "source_reference_id": "b9",
            "context": "A footnote on [9].",
            "context_start": 14,
            "context_end": 17,
        },
        {
            "citing_source_id": "7",
            "reference_key": "8",
            "source_reference_id": "b0",
            "context": "As shown by [1], loudly.",
            "context_start": 12,
            "context_end": 15,
        },
    ],
}


def test_annotations_of_a_full_text_become_sections_and_mentions() -> None:
    assert parse_full_text(FULL_TEXT, with_citations=True) == EXPECTED_TEXT


def test_the_second_version_of_full_texts_has_its_bibliography_apart() -> None:
    names = {"sectionheader": "section_header", "bibref": "bib_ref", "paragraph": "paragraph"}
    names["abstract"] = "abstract"
    old = FULL_TEXT["content"]["annotations"]
    bibliography = {
        "text": TEXT,
        "annotations": {"bib_entry": old["bibentry"], "bib_title": old["bibtitle"]},
    }
    body = {"text": TEXT, "annotations": {new: orjson.loads(old[name]) for name, new in names.items()}}
    record = {"corpusid": 7, "title": "On dogs", "body": body, "bibliography": bibliography}
    assert parse_full_text(record, with_citations=True) == EXPECTED_TEXT


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("[{", "paragraph: not JSON: "),
        ("{}", "paragraph: expected a list of objects"),
        ('[{"start": 5, "end": 4}]', "paragraph: from 5 to 4 in a text of "),
        ('[{"start": 5, "end": 9999}]', "paragraph: from 5 to 9999 in a text of "),
        ('[{"start": 5}]', "paragraph: from 5 to None in a text of "),
        ('[{"start": "x", "end": 9}]', "start: expected a whole number, found 'x'"),
    ],
)
def test_annotations_that_do_not_fit_their_text_are_rejected(annotation: str, message: str) -> None:
    content = {"text": TEXT, "annotations": {"paragraph": annotation}}
    with pytest.raises(RecordError) as caught:
        parse_full_text({"corpusid": 7, "content": content}, with_citations=True)
    assert caught.value.reason == "invalid_value"
    assert str(caught.value).startswith(message)


def test_a_full_text_that_is_not_published_is_empty() -> None:
    rows = parse_full_text({"corpusid": 7, "content": {"text": None}}, with_citations=True)
    nothing: Rows = {name: [] for name in ("sections", "references", "reference_identifiers", "citations")}
    assert rows == {"papers": [{"source_id": "7"}], **nothing}


def test_beside_the_citations_a_full_text_gives_its_sections_alone(tmp_path: Path) -> None:
    write_lines(tmp_path / "s2orc" / "0.jsonl", FULL_TEXT)
    write_lines(tmp_path / "citations" / "0.jsonl", CITATION)
    staged, _ = stage_all("s2orc", tmp_path)
    assert staged["s2orc/0.jsonl"].keys() == {"papers", "sections"}
    counted = count_left_out("s2orc", tmp_path)
    mentions = orjson.loads(FULL_TEXT["content"]["annotations"]["bibref"])
    assert counted["citations", "not_asked"] == len(mentions)
    alone = find_files(tmp_path / "s2orc", {"citations": "none"})
    assert [file.role for file in alone] == ["s2orc:sections"]
    assert LOADER.describes("s2orc:sections") == {"sections"}
    assert LOADER.describes("citations") == frozenset()


def test_a_sha_is_an_identifier_of_a_paper_that_is_mentioned(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "paper-ids-part0.jsonl", {"sha": SHA, "corpusid": 7, "primary": True})
    staged, _ = stage_all("s2orc", path)
    assert staged[path.name] == {
        "mentioned_papers": [_of_paper()],
        "identifiers": [_of_paper(scheme="s2", identifier=SHA)],
    }


def test_an_updated_citation_is_taken_back_before_it_is_added(tmp_path: Path) -> None:
    write_lines(tmp_path / "citations" / "update_files" / "0.jsonl", CITATION)
    name = "citations/update_files/0.jsonl"
    files = [(file.name, file.role) for file in find_files(tmp_path, {})]
    assert files == [(f"{name} (replaced)", "citations:delete"), (name, "citations")]
    staged, rejected = stage_all("s2orc", tmp_path)
    assert (rejected, staged[f"{name} (replaced)"]) == (
        [],
        {"deletions": [{"row_number": 1, "kind": "citations", "key": "1"}]},
    )
    assert len(staged[name]["citations"]) == 2


def test_diffs_are_read_release_by_release_and_papers_are_deleted_last(tmp_path: Path) -> None:
    for dates in ("2024-01-09_to_2024-01-16", "2024-01-02_to_2024-01-09"):
        folder = tmp_path / "diffs" / dates
        write_lines(folder / "papers" / "update_files" / "0.jsonl", PAPER)
        write_lines(folder / "papers" / "delete_files" / "0.jsonl", {"corpusid": 3})
        write_lines(folder / "abstracts" / "delete_files" / "0.jsonl", {"corpusid": 4})
        write_lines(folder / "citations" / "delete_files" / "0.jsonl", {"citationid": 5})
        write_lines(folder / "s2orc" / "delete_files" / "0.jsonl", {"corpusid": 6})
        write_lines(folder / "tldrs" / "delete_files" / "0.jsonl", {"corpusid": 6})
    of_one = [
        ("papers/update_files/0.jsonl", "papers"),
        ("citations/delete_files/0.jsonl", "citations:delete"),
        ("s2orc/delete_files/0.jsonl", "s2orc:delete_sections"),
        ("abstracts/delete_files/0.jsonl", "abstracts:delete"),
        ("papers/delete_files/0.jsonl", "papers:delete"),
    ]
    assert [(file.name, file.role) for file in find_files(tmp_path, {})] == [
        (f"diffs/{dates}/{name}", role)
        for dates in ("2024-01-02_to_2024-01-09", "2024-01-09_to_2024-01-16")
        for name, role in of_one
    ]
    staged, rejected = stage_all("s2orc", tmp_path)
    assert rejected == []
    first = {name.removeprefix("diffs/2024-01-02_to_2024-01-09/"): rows for name, rows in staged.items()}
    assert first["papers/delete_files/0.jsonl"] == {
        "deletions": [{"row_number": 1, "kind": "papers", "key": "3"}]
    }
    assert first["citations/delete_files/0.jsonl"] == {
        "deletions": [{"row_number": 1, "kind": "citations", "key": "5"}]
    }
    assert first["abstracts/delete_files/0.jsonl"] == {"papers": [{"row_number": 1, "source_id": "4"}]}
    assert LOADER.describes("abstracts:delete") == {"abstract"}


WHOLE: dict[str, dict[str, Any]] = {
    "papers/0.jsonl": PAPER,
    "abstracts/0.jsonl": ABSTRACT,
    "citations/0.jsonl": CITATION,
    "s2orc/0.jsonl": FULL_TEXT,
}


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files_lose_no_record(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    whole = write_lines(path, WHOLE[name], WHOLE[name] | {"corpusid": 8}).read_bytes()
    check_damage(LOADER, path, whole, (2, 2, 0))
