"""OpenReview: notes of both versions of the API, paper lists, ratings and scored submissions."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, settings

from pinakes.errors import InputError
from pinakes.loaders.openreview.records import parse_score
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import count_left_out, stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_lines

V1_PAPER: dict[str, Any] = {
    "id": "p1",
    "forum": "p1",
    "invitation": "ICLR.cc/2020/Conference/-/Blind_Submission",
    "content": {
        "title": " A title ",
        "abstract": "An abstract",
        "authors": ["Ada", "Grace"],
        "authorids": ["~Ada_L1", "grace@x.org"],
        "keywords": ["sql", "causality; sql"],
        "TL;DR": "short",
    },
    "details": {
        "replies": [
            {
                "id": "r1",
                "invitation": "ICLR.cc/2020/Conference/Paper1/-/Official_Review",
                "content": {
                    "title": "7",
                    "review": "1. Good",
                    "rating": "8: Accept",
                    "confidence": "4: Sure",
                },
            },
            {
                "id": "r2",
                "invitation": "ICLR.cc/2020/Conference/Paper1/-/Official_Comment",
                "content": {"comment": "8: no score", "rating": 3},
            },
            {
                "id": "r3",
                "invitation": "ICLR.cc/2020/Conference/Paper1/-/Decision",
                "content": {"title": "Paper Decision", "decision": "Accept (Poster)", "comment": "fine"},
            },
            {"id": "r4", "invitation": "ICLR.cc/2020/Conference/Paper1/-/Official_Review"},
        ]
    },
}

V2_PAPER: dict[str, Any] = {
    "id": "p2",
    "forum": "p2",
    "invitations": ["ICLR.cc/2024/Conference/-/Submission", "ICLR.cc/2024/Conference/-/Edit"],
    "content": {
        "title": {"value": "Second"},
        "abstract": {"value": ""},
        "authors": {"value": [{"fullname": "Kurt G.", "username": "~Kurt_G1"}]},
        "keywords": {"value": ["logic"]},
        "primary_area": {"value": "theory"},
        "venue": {"value": "Submitted to ICLR 2024"},
        "venueid": {"value": "ICLR.cc/2024/Conference/Rejected_Submission"},
    },
    "details": {
        "directReplies": [
            {
                "id": "r5",
                "invitations": ["ICLR.cc/2024/Conference/Submission2/-/Official_Review"],
                "content": {
                    "rating": {"value": 6},
                    "soundness": {"value": "3 good"},
                    "summary": {"value": "2 ideas"},
                },
            },
            {
                "id": "r6",
                "invitations": ["ICLR.cc/2024/Conference/Submission2/-/Meta_Review"],
                "content": {"confidence": {"value": "5: certain"}, "recommendation": {"value": "Reject"}},
            },
        ]
    },
}

WITHDRAWN: dict[str, Any] = {
    "id": "p3",
    "invitation": "ICLR.cc/2020/Conference/-/Withdrawn_Submission",
    "content": {"title": "Third", "authors": ["Anonymous"]},
}

FLAT: list[dict[str, Any]] = [
    {
        "id": "r7",
        "forum": "p3",
        "replyto": "p3",
        "invitation": "ICLR.cc/2020/Conference/Paper3/-/Official_Review",
        "content": {"rating": "2: Strong reject"},
    },
    {
        "id": "r8",
        "forum": "p9",
        "replyto": "p9",
        "invitation": "ICLR.cc/2020/Conference/Paper9/-/Official_Review",
        "content": {"rating": "2: Strong reject"},
    },
]

NOTES = [V1_PAPER, V2_PAPER, FLAT[0], WITHDRAWN]


def _score(row_number: int, source_id: str, review_id: str, aspect: str, score: float) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "source_id": source_id,
        "review_id": review_id,
        "aspect": aspect,
        "score": score,
    }


def _label(row_number: int, source_id: str, label: str, task: str = "decision") -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": task,
        "source_id": source_id,
        "split": "all",
        "label": label,
        "quality": "gold",
    }


def _field(row_number: int, source_id: str, field: str, assigned_by: str = "openreview") -> dict[str, Any]:
    return {"row_number": row_number, "source_id": source_id, "field": field, "assigned_by": assigned_by}


def _author(
    row_number: int, source_id: str, position: int, name: str, author_id: str | None = None
) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "source_id": source_id,
        "position": position,
        "author_source_id": author_id or f"name:{name}",
        "author_name": name,
    }


STAGED_NOTES = {
    "papers": [
        {
            "row_number": 1,
            "source_id": "p1",
            "title": "A title",
            "abstract": "An abstract",
            "year": 2020,
            "venue": "ICLR.cc/2020/Conference",
        },
        {
            "row_number": 2,
            "source_id": "p2",
            "title": "Second",
            "year": 2024,
            "venue": "Submitted to ICLR 2024",
        },
        {
            "row_number": 4,
            "source_id": "p3",
            "title": "Third",
            "year": 2020,
            "venue": "ICLR.cc/2020/Conference",
        },
    ],
    "identifiers": [
        {"row_number": number, "source_id": source_id, "scheme": "openreview", "identifier": source_id}
        for number, source_id in ((1, "p1"), (2, "p2"), (4, "p3"))
    ],
    "fields": [
        _field(1, "p1", "sql"),
        _field(1, "p1", "causality"),
        _field(2, "p2", "logic"),
        _field(2, "p2", "theory", "openreview_area"),
    ],
    "authorships": [
        _author(1, "p1", 1, "Ada", "~Ada_L1"),
        _author(1, "p1", 2, "Grace", "grace@x.org"),
        _author(2, "p2", 1, "Kurt G.", "~Kurt_G1"),
    ],
    "review_scores": [
        _score(1, "p1", "r1", "rating", 8.0),
        _score(1, "p1", "r1", "confidence", 4.0),
        _score(2, "p2", "r5", "rating", 6.0),
        _score(2, "p2", "r5", "soundness", 3.0),
        _score(2, "p2", "r6", "meta_confidence", 5.0),
        _score(4, "p3", "r7", "rating", 2.0),
    ],
    "labels": [
        _label(1, "p1", "Accept (Poster)"),
        _label(2, "p2", "Reject"),
        _label(4, "p3", "Withdrawn"),
    ],
}


def test_notes_of_both_versions_become_papers_with_scores_and_decisions(tmp_path: Path) -> None:
    staged, rejected = stage_all("openreview", write_lines(tmp_path / "notes.jsonl", *NOTES))
    assert rejected == []
    assert staged == {"notes.jsonl": STAGED_NOTES}


@pytest.mark.parametrize(
    "content",
    [
        orjson.dumps(NOTES),
        orjson.dumps(NOTES, option=orjson.OPT_INDENT_2),
        orjson.dumps({"count": 4, "notes": NOTES}),
        orjson.dumps({"notes": NOTES, "count": 4}, option=orjson.OPT_INDENT_2),
    ],
)
def test_an_array_and_an_answer_of_the_api_give_what_lines_give(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.json").write_bytes(content)
    assert stage_all("openreview", tmp_path / "notes.json") == ({"notes.json": STAGED_NOTES}, [])


def test_a_reply_whose_paper_is_not_in_the_file_is_rejected(tmp_path: Path) -> None:
    staged, rejected = stage_all("openreview", write_lines(tmp_path / "notes.jsonl", *[WITHDRAWN, *FLAT]))
    assert staged["notes.jsonl"]["review_scores"] == [_score(1, "p3", "r7", "rating", 2.0)]
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (3, "line 3", "unknown_paper")
    ]


def test_a_reply_that_is_both_nested_and_in_a_line_of_its_own_counts_once(tmp_path: Path) -> None:
    nested = {**WITHDRAWN, "details": {"replies": [FLAT[0]]}}
    staged, _ = stage_all("openreview", write_lines(tmp_path / "notes.jsonl", *[nested, FLAT[0]]))
    assert staged["notes.jsonl"]["review_scores"] == [_score(1, "p3", "r7", "rating", 2.0)]


def test_broken_notes_are_rejected_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    broken = [
        {"content": {}},
        {"id": "a"},
        {"id": "b", "content": []},
        {"id": "c", "content": {"title": ["x"]}},
        {"id": "d", "content": {"authors": "Ada"}},
        {"id": "e", "content": {"keywords": 3}},
        {"id": "f", "content": {}, "details": {"replies": [3]}},
        {"id": "g", "content": {}},
        {"id": "g", "content": {}},
    ]
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in broken) + b"[1]\n{\n\xff\n")
    staged, rejected = stage_all("openreview", path)
    assert [row["source_id"] for row in staged["notes.jsonl"]["papers"]] == ["g"]
    assert [(row.row_number, row.reason) for row in rejected] == [
        (1, "missing_field"),
        (2, "missing_field"),
        (3, "invalid_value"),
        (4, "invalid_value"),
        (5, "invalid_value"),
        (6, "invalid_value"),
        (7, "invalid_value"),
        (9, "duplicate_id"),
        (10, "not_an_object"),
        (11, "not_json"),
        (12, "invalid_utf8"),
    ]


def test_a_load_that_goes_on_in_the_middle_still_knows_the_replies_before(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "notes.jsonl", *[FLAT[0], WITHDRAWN])
    loader = find_loader("openreview")
    (file,) = loader.find_files(path, {})
    (chunk,) = loader.read_chunks(file, {}, 2)
    assert chunk.rows_in == 1
    assert chunk.tables["review_scores"].to_pylist() == [_score(2, "p3", "r7", "rating", 2.0)]


@pytest.mark.parametrize(
    ("value", "is_score", "expected"),
    [
        ("8: accept, good paper", False, 8.0),
        ("10", False, 10.0),
        (3, False, 3.0),
        (2.5, False, 2.5),
        ("3 good", True, 3.0),
        ("3 good", False, None),
        ("1. First, the authors", False, None),
        ("1: " + "x" * 500, False, None),
        ("8:\nlines", False, None),
        ("accept", True, None),
        (True, True, None),
        (10**400, True, None),
        (None, True, None),
        (["8: accept"], True, None),
    ],
)
def test_a_score_is_a_number_or_begins_its_caption(
    value: object, is_score: bool, expected: float | None
) -> None:
    assert parse_score(value, is_score=is_score) == expected


PAPER_LIST = (
    b"paper_id\ttitle\tlink\tkeywords\tabstract\n"
    b'a\tAlpha\thttps://openreview.net/forum?id=a\tGAN, few-shot\tText "quoted\n'
    b"b\tBeta\t\t\t\n"
)
RATINGS = b"paper_id\t0\t1\tdecision\na\t7.0\t\tReject\nb\t\t\tUnknown\nc\t8.0\t1.0\tAccept (Oral)\n"
EARLIER = b"\t0\t1\na\t5.0\t6.0\nb\t3.0\t\n"


def _write_tables(folder: Path) -> Path:
    (folder / "iclr2021_paperlist.tsv").write_bytes(PAPER_LIST)
    (folder / "iclr2021_ratings.tsv").write_bytes(RATINGS)
    (folder / "iclr2021_ratings.20201111.tsv").write_bytes(EARLIER)
    return folder


def test_a_paper_list_names_venue_and_year_in_its_own_name(tmp_path: Path) -> None:
    staged, rejected = stage_all("openreview", _write_tables(tmp_path))
    assert rejected == []
    listed = staged["iclr2021_paperlist.tsv"]
    assert listed["papers"] == [
        {
            "row_number": 1,
            "source_id": "a",
            "title": "Alpha",
            "abstract": 'Text "quoted',
            "venue": "ICLR 2021",
            "year": 2021,
        },
        {"row_number": 2, "source_id": "b", "title": "Beta", "venue": "ICLR 2021", "year": 2021},
    ]
    assert listed["fields"] == [_field(1, "a", "GAN"), _field(1, "a", "few-shot")]


def test_every_state_of_the_ratings_brings_the_scores_of_all_states(tmp_path: Path) -> None:
    staged, _ = stage_all("openreview", _write_tables(tmp_path))
    assert staged["iclr2021_ratings.tsv"]["review_scores"] == [
        _score(1, "a", "0", "rating", 7.0),
        _score(1, "a", "0", "rating_20201111", 5.0),
        _score(1, "a", "1", "rating_20201111", 6.0),
        _score(2, "b", "0", "rating_20201111", 3.0),
        _score(3, "c", "0", "rating", 8.0),
        _score(3, "c", "1", "rating", 1.0),
    ]
    assert staged["iclr2021_ratings.tsv"]["labels"] == [
        _label(1, "a", "Reject"),
        _label(3, "c", "Accept (Oral)"),
    ]
    assert staged["iclr2021_ratings.20201111.tsv"]["review_scores"] == [
        _score(1, "a", "0", "rating_20201111", 5.0),
        _score(1, "a", "1", "rating_20201111", 6.0),
        _score(1, "a", "0", "rating", 7.0),
        _score(2, "b", "0", "rating_20201111", 3.0),
    ]


def test_lists_and_ratings_each_own_what_they_say() -> None:
    describes = find_loader("openreview").describes
    assert describes("ratings") == {"review_scores"}
    assert describes("paper_list") == {"title", "abstract", "year", "venue", "identifiers", "fields"}
    assert "authorships" in describes("notes")


def test_a_rating_that_is_no_number_is_left_out_of_its_row(tmp_path: Path) -> None:
    path = tmp_path / "x_ratings.tsv"
    path.write_bytes(b"paper_id\t0\na\tgood\n\t3.0\nb\t3.0\t4.0\nc\t4.0\n")
    staged, rejected = stage_all("openreview", path)
    assert staged["x_ratings.tsv"]["review_scores"] == [_score(4, "c", "0", "rating", 4.0)]
    assert count_left_out("openreview", path) == {("review_scores", "invalid"): 1}
    assert [(row.row_number, row.reason) for row in rejected] == [
        (2, "missing_field"),
        (3, "malformed_line"),
    ]


SUBMISSION: dict[str, Any] = {
    "id": "s",
    "title": "Scored",
    "abstract": "Text",
    "authors": ["Ada"],
    "accepted": True,
    "keywords": ["a; b"],
    "conference": "NeurIPS 2023",
    "histories": [],
    "review_scores": [
        {
            "IS_META_REVIEW": False,
            "TITLE": "Official Review",
            "RECOMMENDATION": 7,
            "REVIEWER_CONFIDENCE": 5,
            "SOUNDNESS_CORRECTNESS": 3,
            "CLARITY": 2,
            "DATE": "2023-07-04",
        },
        {"IS_META_REVIEW": True, "RECOMMENDATION": "Accept (poster)", "DATE": "2023-09-21"},
    ],
}


def test_scored_submissions_have_numbered_reviews_and_two_labels(tmp_path: Path) -> None:
    staged, rejected = stage_all("openreview", write_lines(tmp_path / "neurips.jsonl", *[SUBMISSION]))
    assert rejected == []
    assert staged["neurips.jsonl"]["papers"] == [
        {
            "row_number": 1,
            "source_id": "s",
            "title": "Scored",
            "abstract": "Text",
            "venue": "NeurIPS 2023",
            "year": 2023,
        }
    ]
    assert staged["neurips.jsonl"]["fields"] == [_field(1, "s", "a"), _field(1, "s", "b")]
    assert staged["neurips.jsonl"]["review_scores"] == [
        _score(1, "s", "1", "rating", 7.0),
        _score(1, "s", "1", "confidence", 5.0),
        _score(1, "s", "1", "soundness", 3.0),
        _score(1, "s", "1", "clarity", 2.0),
    ]
    assert staged["neurips.jsonl"]["labels"] == [
        _label(1, "s", "Accept (poster)"),
        _label(1, "s", "true", "accepted"),
    ]


def test_a_folder_without_notes_or_dumps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no file that ends in \.tsv, \.jsonl"):
        find_loader("openreview").find_files(tmp_path, {})
    (tmp_path / "notes.json").write_bytes(b'{"id": ')
    with pytest.raises(InputError, match="is not JSON"):
        stage_all("openreview", tmp_path)


_SETTINGS = settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def test_damaged_lines_lose_nothing(tmp_path: Path) -> None:
    whole = b"".join(orjson.dumps(note) + b"\n" for note in [*NOTES, SUBMISSION])
    check_damage("openreview", tmp_path / "notes.jsonl", whole, (5, 4, 1))


def test_a_damaged_answer_of_the_api_loses_nothing(tmp_path: Path) -> None:
    check_damage("openreview", tmp_path / "notes.json", orjson.dumps({"notes": NOTES}), (4, 4, 0))


@pytest.mark.parametrize("name", ["iclr2021_paperlist.tsv", "iclr2021_ratings.tsv"])
def test_damaged_tables_lose_nothing(tmp_path: Path, name: str) -> None:
    path = _write_tables(tmp_path) / name
    check_damage("openreview", path, path.read_bytes(), (7, 7, 0), source=tmp_path)


@needs_real_data
def test_the_dumps_have_their_published_records() -> None:
    staged, rejected = stage_all("openreview", REAL_DATA / "openreview")
    assert rejected == []
    assert {
        name: {table: len(rows) for table, rows in tables.items() if rows} for name, tables in staged.items()
    } == {
        "iclr2021_paperlist.tsv.gz": {"papers": 2_966, "identifiers": 2_966, "fields": 10_009},
        "iclr2021_ratings.20201111.tsv.gz": {"papers": 2_966, "review_scores": 22_884},
        "iclr2021_ratings.tsv.gz": {"papers": 2_966, "review_scores": 22_884, "labels": 2_615},
        "neurips_2023.jsonl.gz": {
            "papers": 3_395,
            "identifiers": 3_395,
            "fields": 13_373,
            "authorships": 15_863,
            "review_scores": 45_525,
            "labels": 6_789,
        },
    }
    listed = staged["iclr2021_paperlist.tsv.gz"]["papers"]
    assert [listed[i]["source_id"] for i in (0, 1_500, -1)] == ["1Fqg133qRaI", "nkap3LV7t7O", "POWv6hDd9XH"]
    scores = staged["iclr2021_ratings.tsv.gz"]["review_scores"]
    first = [row["score"] for row in scores if row["source_id"] == "1Fqg133qRaI"]
    assert first == [7.0, 7.0, 7.0, 7.0, 6.0, 7.0, 5.0, 5.0]
    submissions = staged["neurips_2023.jsonl.gz"]
    assert [submissions["papers"][i]["source_id"] for i in (0, 1_700, -1)] == [
        "009LK0vLcY",
        "V5FNSilWiC",
        "zyhxRc9bew",
    ]
    decisions = [row["label"] for row in submissions["labels"] if row["task"] == "decision"]
    assert {label: decisions.count(label) for label in sorted(set(decisions))} == {
        "Accept (oral)": 67,
        "Accept (poster)": 2_773,
        "Accept (spotlight)": 378,
        "Reject": 177,
    }
