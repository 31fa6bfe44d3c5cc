"""science-parse's documents, alone and in PeerRead's layout with reviews and annotations."""

import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.base import PAPER_CHILDREN, PAPER_COLUMNS
from pinakes.loaders.science_parse import LOADER
from tests.fuzzing import check_damage
from tests.loading import count_left_out, stage_all
from tests.real_data import REAL_DATA, needs_real_data

DOCUMENT: dict[str, Any] = {
    "name": "25.pdf",
    "metadata": {
        "source": "CRF",
        "title": "Temporal senses",
        "authors": ["Ada Noether", ""],
        "emails": ["ada@example.org"],
        "sections": [
            {"heading": None, "text": "Before any heading."},
            {"heading": "1 Introduction", "text": "As (Lee, 2019) show."},
            {"heading": "2 Nothing", "text": ""},
        ],
        "references": [
            {
                "title": "A work",
                "author": ["A. Lee"],
                "venue": "A venue",
                "citeRegEx": "Lee,? 2019",
                "shortCiteRegEx": "Lee",
                "year": 2019,
            },
            {"title": None, "author": [], "venue": None, "citeRegEx": "", "shortCiteRegEx": "", "year": 0},
        ],
        "referenceMentions": [
            {"referenceID": 0, "context": " As (Lee, 2019) show.", "startOffset": 4, "endOffset": 15},
            {"referenceID": 0, "context": "Cut (Lee", "startOffset": 4, "endOffset": 15},
            {"referenceID": 7, "context": "See [8].", "startOffset": 4, "endOffset": 7},
        ],
        "year": 2016,
        "abstractText": "An abstract.",
        "creator": "TeX",
    },
}
REVIEWS: dict[str, Any] = {
    "title": "Temporal Senses of Words",
    "abstract": "The abstract as submitted.",
    "id": "25",
    "accepted": True,
    "reviews": [
        {
            "comments": "A comment alone.",
            "TITLE": "Change-log",
            "DATE": "14 Jan 2017",
            "IS_META_REVIEW": False,
        },
        {
            "comments": "A review.",
            "RECOMMENDATION": "4",
            "SOUNDNESS_CORRECTNESS": 5,
            "REVIEWER_CONFIDENCE": 2,
            "PRESENTATION_FORMAT": "Oral Presentation",
            "CLARITY": "",
            "is_meta_review": None,
        },
    ],
}


def _parsed_rows(source_id: str) -> dict[str, list[dict[str, Any]]]:
    """What a document's body becomes, whatever its paper is called."""
    cited: list[tuple[str, str, dict[str, Any]]] = [
        ("title:awork", "0", {"context": "As (Lee, 2019) show.", "context_start": 3, "context_end": 14}),
        ("title:awork", "0", {"context": "Cut (Lee"}),
        (f"mention:{source_id}#7", "7", {"context": "See [8].", "context_start": 4, "context_end": 7}),
        (f"mention:{source_id}#1", "1", {}),
    ]
    return {
        "authorships": [
            {
                "source_id": source_id,
                "position": 1,
                "author_source_id": "name:Ada Noether",
                "author_name": "Ada Noether",
            }
        ],
        "sections": [
            {"source_id": source_id, "section_number": 1, "text": "Before any heading."},
            {
                "source_id": source_id,
                "section_number": 2,
                "title": "1 Introduction",
                "text": "As (Lee, 2019) show.",
            },
        ],
        "references": [
            {"reference_key": "title:awork", "title": "A work", "year": 2019},
            {"reference_key": f"mention:{source_id}#1"},
        ],
        "citations": [
            {"citing_source_id": source_id, "reference_key": key, "source_reference_id": name} | context
            for key, name, context in cited
        ],
    }


def _number(rows: dict[str, list[dict[str, Any]]], row_number: int = 1) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{"row_number": row_number, **row} for row in members]
        for name, members in rows.items()
        if members
    }


def _fill(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {name: members for name, members in rows.items() if members}


def test_a_document_becomes_these_rows(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(orjson.dumps(DOCUMENT))
    staged, rejected = stage_all("science-parse", path)
    assert rejected == []
    paper = {"source_id": "25", "title": "Temporal senses", "abstract": "An abstract.", "year": 2016}
    assert _fill(staged["some.json"]) == _number({"papers": [paper], **_parsed_rows("25")})


def test_lines_and_the_servers_bare_metadata_are_read_as_well(tmp_path: Path) -> None:
    lines = tmp_path / "all.jsonl"
    lines.write_bytes(orjson.dumps(DOCUMENT) + b"\n" + orjson.dumps({"metadata": {}}) + b"\n")
    staged, rejected = stage_all("science-parse", lines)
    assert [(row.row_number, row.reason) for row in rejected] == [(2, "missing_field")]
    assert staged["all.jsonl"]["papers"][0]["source_id"] == "25"
    bare = tmp_path / "P17-1001.pdf.json"
    bare.write_bytes(orjson.dumps({"title": "T", "authors": [{"name": "Ada", "affiliations": []}]}))
    staged, rejected = stage_all("science-parse", bare)
    assert rejected == []
    assert staged[bare.name]["papers"] == [{"row_number": 1, "source_id": "P17-1001", "title": "T"}]
    assert staged[bare.name]["authorships"][0]["author_source_id"] == "name:Ada"


def _write_peerread(folder: Path) -> Path:
    documents = {
        "acl_2017/dev/parsed_pdfs/25.pdf.json": DOCUMENT,
        "acl_2017/dev/reviews/25.json": REVIEWS,
        "acl_2017/train/reviews/26.json": REVIEWS | {"id": "26", "accepted": None},
        "arxiv.cs.ai_2007-2017/test/reviews/0911.3209.json": {
            "conference": "arxiv",
            "title": "Ants",
            "abstract": "",
            "reviews": [],
            "SUBJECTS": "cs.AI cs.NE",
            "accepted": False,
            "id": "0911.3209",
        },
    }
    for name, document in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(document))
    (folder / "acl_2017/dev/pdfs").mkdir()
    (folder / "acl_2017/dev/pdfs/25.pdf").write_bytes(b"%PDF")
    return folder


SCORES = [("recommendation", 4.0), ("soundness_correctness", 5.0), ("reviewer_confidence", 2.0)]


def _scores(row_number: int, source_id: str) -> list[dict[str, Any]]:
    return [
        {
            "row_number": row_number,
            "source_id": source_id,
            "review_id": "2",
            "aspect": aspect,
            "score": score,
        }
        for aspect, score in SCORES
    ]


def _decision(row_number: int, source_id: str, split: str, label: str, quality: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": "peerread_decision",
        "source_id": source_id,
        "split": split,
        "label": label,
        "quality": quality,
    }


def test_peerreads_reviews_give_scores_decisions_and_the_submitted_text(tmp_path: Path) -> None:
    staged, rejected = stage_all("science-parse", _write_peerread(tmp_path / "data"))
    assert rejected == []
    ants = "arxiv.cs.ai_2007-2017/0911.3209"
    submitted = {"title": "Temporal Senses of Words", "abstract": "The abstract as submitted."}
    reviews, parsed = staged.values()
    assert _fill(reviews) == {
        "papers": [
            {"row_number": 1, "source_id": "acl_2017/25", "venue": "acl_2017"} | submitted,
            {"row_number": 2, "source_id": "acl_2017/26", "venue": "acl_2017"} | submitted,
            {"row_number": 3, "source_id": ants, "title": "Ants", "venue": "arxiv.cs.ai_2007-2017"},
        ],
        "identifiers": [{"row_number": 3, "source_id": ants, "scheme": "arxiv", "identifier": "0911.3209"}],
        "fields": [
            {"row_number": 3, "source_id": ants, "field": "cs.AI", "assigned_by": "arxiv"},
            {"row_number": 3, "source_id": ants, "field": "cs.NE", "assigned_by": "arxiv"},
        ],
        "review_scores": _scores(1, "acl_2017/25") + _scores(2, "acl_2017/26"),
        "labels": [
            _decision(1, "acl_2017/25", "dev", "accept", "gold"),
            _decision(3, ants, "test", "reject", "silver"),
        ],
    }
    # The title that science-parse reads out of the PDF fills a gap and replaces nothing.
    texts = {"source_id": "acl_2017/25", "title": "Temporal senses", "abstract": "An abstract."}
    assert _fill(parsed) == _number(
        {
            "papers": [{"source_id": "acl_2017/25", "year": 2016}],
            "mentioned_papers": [texts],
            **_parsed_rows("acl_2017/25"),
        }
    )


def test_a_venue_a_split_or_an_archive_gives_the_same_ids(tmp_path: Path) -> None:
    folder = _write_peerread(tmp_path / "data")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        for path in sorted(folder.rglob("*.json")):
            archive.write(path, f"PeerRead-master/data/{path.relative_to(folder).as_posix()}")
    sources = [
        folder / "acl_2017",
        folder / "acl_2017" / "dev",
        folder / "acl_2017" / "dev" / "reviews",
        folder / "acl_2017" / "dev" / "reviews" / "25.json",
        tmp_path / "data.zip",
    ]
    for source in sources:
        staged, rejected = stage_all("science-parse", source)
        assert rejected == []
        paper = next(iter(staged.values()))["papers"][0]
        assert (paper["source_id"], paper["venue"]) == ("acl_2017/25", "acl_2017")


def test_a_folder_that_happens_to_be_called_reviews_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "reviews" / "2019" / "papers" / "25.pdf.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(orjson.dumps(DOCUMENT))
    for source in (tmp_path, path.parent, path):
        staged, _ = stage_all("science-parse", source)
        assert next(iter(staged.values()))["papers"][0]["source_id"] == "25"


def test_files_of_reviews_and_of_papers_describe_different_things() -> None:
    everything = {*PAPER_COLUMNS, *PAPER_CHILDREN}
    assert LOADER.describes("reviews") & LOADER.describes("parsed") == frozenset()
    assert LOADER.describes("papers") | LOADER.describes("reviews") < everything
    assert LOADER.describes("annotations") == {"review_scores"}


ANNOTATIONS = (
    "id\tOTHER_KEYS\tCLARITY\tSOUNDNESS / CORRECTNESS\tRECOMMENDATION\tcomments\t\r\n"
    "97\tAnonReviewer3\t3\t-\t2\tSome text.\t2\r\n"
    "5\tAnonReviewer1\ts\t-\t-\tSome text.\t1\r\n"
    "97\tAnonReviewer1\t-\t4\t\tSome text.\t1\r\n"
    "5\tAnonReviewer2\t-\t-\t-\tSome text.\t0\r\n"
)


def test_a_papers_annotated_scores_come_at_once_with_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "annotation_full.tsv").write_text(ANNOTATIONS, encoding="utf-8", newline="")
    staged, rejected = stage_all("science-parse", tmp_path / "annotation_full.tsv")
    assert rejected == []
    assert count_left_out("science-parse", tmp_path / "annotation_full.tsv") == {
        ("review_scores", "invalid"): 1,
        ("field comments", "no_column"): 4,
    }
    scored = [("AnonReviewer3", "clarity", 3.0), ("AnonReviewer3", "recommendation", 2.0)]
    scored += [("AnonReviewer1", "soundness_correctness", 4.0)]
    assert staged["annotation_full.tsv"] == {
        "papers": [
            {"row_number": 1, "source_id": "iclr_2017/97"},
            {"row_number": 2, "source_id": "iclr_2017/5"},
        ],
        "review_scores": [
            {
                "row_number": 1,
                "source_id": "iclr_2017/97",
                "review_id": reviewer,
                "aspect": aspect,
                "score": score,
            }
            for reviewer, aspect, score in scored
        ],
    }


@pytest.mark.parametrize(
    ("folder", "document"),
    [
        ("parsed_pdfs", {"metadata": []}),
        ("parsed_pdfs", {"metadata": {"year": "soon"}}),
        ("parsed_pdfs", {"metadata": {"references": [7]}}),
        ("parsed_pdfs", {"metadata": {"authors": [[]]}}),
        ("reviews", {"title": {}}),
        ("reviews", {"reviews": {}}),
    ],
)
def test_a_wrong_document_is_rejected(tmp_path: Path, folder: str, document: dict[str, Any]) -> None:
    path = tmp_path / "acl_2017" / "dev" / folder / "1.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(orjson.dumps(document))
    _, rejected = stage_all("science-parse", tmp_path)
    assert [(row.row_number, row.reason) for row in rejected] == [(1, "invalid_value")]


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [
        ("25.pdf.json", orjson.dumps(DOCUMENT), (1, 1, 0)),
        ("acl_2017/dev/reviews/25.json", orjson.dumps(REVIEWS), (1, 1, 0)),
        ("annotation_full.tsv", ANNOTATIONS.encode(), (4, 4, 0)),
    ],
    ids=["document", "reviews", "annotations"],
)
def test_no_damage_loses_a_record_or_raises(
    tmp_path: Path, name: str, whole: bytes, expected: tuple[int, int, int]
) -> None:
    check_damage(LOADER, tmp_path / name, whole, expected)


@needs_real_data
def test_the_published_samples_are_read_whole() -> None:
    staged, rejected = stage_all("science-parse", REAL_DATA / "science_parse")
    assert rejected == []
    # One cell of the annotators' table holds a letter: ORIGINALITY of paper 72's AnonReviewer3.
    assert count_left_out("science-parse", REAL_DATA / "science_parse")["review_scores", "invalid"] == 1
    document = staged["conll_2016_dev_25.pdf.EXCERPT.json"]
    assert {name: len(rows) for name, rows in document.items()} == {
        "papers": 1,
        "authorships": 0,
        "sections": 1,
        "references": 22,
        "reference_identifiers": 0,
        "citations": 23,
    }
    paper = document["papers"][0]
    assert (paper["source_id"], paper["year"], "title" in paper, len(paper["abstract"])) == (
        "25",
        2016,
        False,
        1002,
    )
    first = document["citations"][0]
    assert (first["source_reference_id"], first["context_start"], first["context_end"]) == ("20", 102, 128)
    annotations = staged["peerread_annotation_full.tsv.gz"]
    assert {name: len(rows) for name, rows in annotations.items()} == {"papers": 427, "review_scores": 3000}
    of_97 = [
        (row["review_id"][-1], row["aspect"], row["score"])
        for row in annotations["review_scores"]
        if row["source_id"] == "iclr_2017/97"
    ]
    assert of_97[:5] == [
        ("3", "clarity", 3.0),
        ("3", "originality", 2.0),
        ("3", "substance", 2.0),
        ("3", "impact", 2.0),
        ("3", "recommendation", 2.0),
    ]
