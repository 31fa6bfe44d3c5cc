"""The CSFCube release: what every file becomes, and what is refused."""

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data

BACKGROUND = "test-pid2anns-csfcube-background.json"
POOLS = "test-pid2pool-csfcube.json"


Staged = dict[str, dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def published() -> Staged:
    """The real release, of which nothing is rejected."""
    staged, rejected = stage_all("csfcube", REAL_DATA / "csfcube")
    assert rejected == []
    return staged


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "csfcube", tmp_path / "csfcube"))


def test_the_release_becomes_these_rows() -> None:
    staged, rejected = stage_all("csfcube", DATA / "csfcube")
    assert rejected == []
    assert staged == {
        "abstracts-csfcube-preds.jsonl": {
            "papers": [
                {
                    "row_number": 1,
                    "source_id": "11",
                    "title": "Query paper",
                    "abstract": "We ask. We answer.",
                    "year": 2004,
                },
                {"row_number": 2, "source_id": "12", "title": "Candidate", "abstract": "We try this."},
            ],
            "sentences": [
                _sentence(1, "11", 1, "We ask.", "background", "objective_label"),
                _sentence(1, "11", 2, "We answer.", "result", "result_label"),
                _sentence(2, "12", 1, "We try this.", "method", "method_label"),
            ],
        },
        "queries-release.csv": {
            "queries": [
                _query(1, "11_background", "11", "background", "A"),
                _query(2, "11_method", "11", "method", "B"),
            ]
        },
        BACKGROUND: {
            "judgments": [
                _judgment(1, "11_background", "12", "adjudicated", 3),
                _judgment(1, "11_background", "12", "ann1", 3),
                _judgment(1, "11_background", "12", "ann2", 2),
                _judgment(2, "11_background", "13", "adjudicated", 0),
                _judgment(2, "11_background", "13", "ann1", 0),
                _judgment(2, "11_background", "13", "ann2", 1),
            ]
        },
        "test-pid2anns-csfcube-method.json": {
            "judgments": [
                _judgment(1, "11_method", "12", "adjudicated", 1),
                _judgment(1, "11_method", "12", "ann1", 1),
                _judgment(1, "11_method", "12", "ann3", 1),
            ]
        },
        "test-pid2anns-csfcube-result.json": {},
        POOLS: {
            "pool_sources": [
                {"row_number": row, "query_id": query, "source_id": candidate, "source": source}
                for row, candidate, sources in ((1, "12", ("cited", "specter")), (2, "13", ("abs_tfidf",)))
                for query in ("11_background", "11_method")
                for source in sources
            ]
        },
    }


def _sentence(
    row_number: int, source_id: str, position: int, text: str, facet: str, source_label: str
) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "source_id": source_id,
        "section_number": 0,
        "position": position,
        "text": text,
        "facet": facet,
        "source_label": source_label,
    }


def _query(
    row_number: int,
    query_id: str,
    paper: str,
    facet: str,
    fold: str,
    description: str = "data-driven approach",
) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "paper_source_id": paper,
        "description": description,
        "facet": facet,
        "fold": fold,
    }


def _judgment(row_number: int, query_id: str, source_id: str, assessor: str, grade: int) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": assessor,
        "split": "test",
        "grade": grade,
    }


@needs_real_data
def test_csfcube_has_its_published_records(published: Staged) -> None:
    papers = published["abstracts-csfcube-preds.jsonl.gz"]["papers"]
    assert [(len(papers), *(papers[i]["source_id"] for i in (0, 9, -1)))] == [
        (4205, "388", "2617", "202676751")
    ]
    assert [papers[i]["year"] for i in (0, 9, -1)] == [2004, 1998, 2019]
    sentences = published["abstracts-csfcube-preds.jsonl.gz"]["sentences"]
    assert len(sentences) == 29197
    places = [
        (sentences[i]["source_id"], sentences[i]["position"], sentences[i]["facet"]) for i in (0, 9, -1)
    ]
    assert places == [("388", 1, "background"), ("405", 7, "result"), ("202676751", 12, "result")]
    queries = published["queries-release.csv"]["queries"]
    assert [len(queries), queries[0], queries[9], queries[-1]] == [
        50,
        _query(1, "10695055_background", "10695055", "background", "B"),
        _query(10, "53080736_result", "53080736", "result", "B", "resources/evaluation"),
        _query(50, "5270848_method", "5270848", "method", "A"),
    ]


@needs_real_data
@pytest.mark.parametrize(
    ("facet", "records", "rows", "first", "tenth", "last"),
    [
        (
            "background",
            1877,
            5631,
            _judgment(1, "10014168_background", "13926706", "adjudicated", 0),
            _judgment(4, "10014168_background", "29427154", "adjudicated", 0),
            _judgment(1877, "6431039_background", "56596517", "ann2", 0),
        ),
        (
            "method",
            2174,
            6522,
            _judgment(1, "1198964_method", "39118261", "adjudicated", 0),
            _judgment(4, "1198964_method", "1191614", "adjudicated", 0),
            _judgment(2174, "5270848_method", "5552894", "ann2", 0),
        ),
        (
            "result",
            2193,
            6579,
            _judgment(1, "1198964_result", "62608205", "adjudicated", 0),
            _judgment(4, "1198964_result", "9822933", "adjudicated", 0),
            _judgment(2193, "8781666_result", "13976617", "ann2", 0),
        ),
    ],
)
def test_csfcube_has_its_published_judgments(
    published: Staged, facet: str, records: int, rows: int, first: object, tenth: object, last: object
) -> None:
    found = published[f"test-pid2anns-csfcube-{facet}.json"]["judgments"]
    assert [len({row["row_number"] for row in found}), len(found)] == [records, rows]
    assert [found[0], found[9], found[-1]] == [first, tenth, last]


@needs_real_data
def test_csfcube_has_its_published_pools(published: Staged) -> None:
    found = published[POOLS]["pool_sources"]
    assert [len({row["row_number"] for row in found}), len(found)] == [4523, 16157]
    assert [tuple(found[i].values()) for i in (0, 9, -1)] == [
        (1, "10695055_background", "13004424", "cited"),
        (2, "10695055_background", "6401679", "title_cbow200"),
        (4523, "5270848_method", "15301376", "abs_tfidf"),
    ]


@pytest.mark.parametrize(
    ("change", "reason", "message"),
    [
        ({"pred_labels": ["method_label"]}, "invalid_value", "2 sentences, but 1 facet labels"),
        (
            {"pred_labels": ["method_label", "guess"]},
            "invalid_value",
            "unknown facet labels ['guess']",
        ),
        ({"pred_labels": [["method_label"], "x"]}, "invalid_value", "pred_labels is not a list of texts"),
        ({"abstract": "We ask."}, "invalid_value", "abstract is not a list of texts"),
        ({"paper_id": None}, "missing_field", "no paper_id"),
        ({"metadata": {"year": "2004"}}, "invalid_value", "year is no whole number: '2004'"),
        ({"metadata": {"year": 2**31}}, "invalid_value", "year is out of range: 2147483648"),
    ],
)
def test_an_inconsistent_paper_is_rejected(
    release: Path, change: dict[str, Any], reason: str, message: str
) -> None:
    file = release / "abstracts-csfcube-preds.jsonl"
    first, second = file.read_bytes().splitlines()
    changed = orjson.dumps({**orjson.loads(first), **change})
    file.write_bytes(changed + b"\n" + second + b"\n")
    staged, rejected = stage_all("csfcube", release)
    assert [row["source_id"] for row in staged[file.name]["papers"]] == ["12"]
    assert [row["source_id"] for row in staged[file.name]["sentences"]] == ["12"]
    assert [(row.location, row.reason, row.message, row.raw) for row in rejected] == [
        ("line 1", reason, message, changed.decode())
    ]


@pytest.mark.parametrize(
    ("change", "rejected_rows"),
    [
        (
            {"relevance_max": [2, 1]},
            [
                (
                    1,
                    "11.cands[0]",
                    "invalid_value",
                    "relevance_min or relevance_max is not that of the annotators",
                )
            ],
        ),
        (
            {"relevance_ann1": [3]},
            [
                (1, "11.cands[0]", "invalid_value", "cands and the lists of grades differ in length"),
                (2, "11.cands[1]", "invalid_value", "cands and the lists of grades differ in length"),
            ],
        ),
        (
            {"relevance_ann2": ["2", 1]},
            [
                (
                    1,
                    "11.cands[0]",
                    "invalid_value",
                    "a grade is no whole number: {'max': 3, 'min': 2, 'ann1': 3, 'ann2': '2', 'adju': 3}",
                )
            ],
        ),
        ({"cands": ["12", "12"]}, [(2, "11.cands[1]", "duplicate_id", None)]),
        ({"cands": [12, "13"]}, [(1, "11.cands[0]", "invalid_value", "source_id is no text: 12")]),
    ],
)
def test_an_inconsistent_judgment_is_rejected(
    release: Path, change: dict[str, Any], rejected_rows: list[tuple[int, str, str, str | None]]
) -> None:
    file = release / BACKGROUND
    entry = orjson.loads(file.read_bytes())["11"]
    file.write_bytes(orjson.dumps({"11": {**entry, **change}}))
    _, rejected = stage_all("csfcube", release)
    assert len(rejected) == len(rejected_rows)
    for row, (number, location, reason, message) in zip(rejected, rejected_rows, strict=True):
        assert (row.row_number, row.location, row.reason) == (number, location, reason)
        assert message is None or row.message == message


def test_an_entry_without_adjudication_is_rejected(release: Path) -> None:
    file = release / BACKGROUND
    entry = orjson.loads(file.read_bytes())["11"]
    del entry["relevance_adju"]
    file.write_bytes(orjson.dumps({"11": entry}))
    _, rejected = stage_all("csfcube", release)
    assert [(row.row_number, row.reason) for row in rejected] == [(1, "missing_field"), (2, "missing_field")]


@pytest.mark.parametrize(
    ("pools", "reason", "message"),
    [
        ({"99": {"cands": ["12"], "cand_source": [["cited"]]}}, "unknown_query", "the paper is no query"),
        ({"11": {"cands": ["12"], "cand_source": [[]]}}, "missing_field", "the candidate has no source"),
        (
            {"11": {"cands": ["12"], "cand_source": []}},
            "invalid_value",
            "cands and cand_source differ in length",
        ),
    ],
)
def test_an_inconsistent_candidate_is_rejected(
    release: Path, pools: object, reason: str, message: str
) -> None:
    (release / POOLS).write_bytes(orjson.dumps(pools))
    _, rejected = stage_all("csfcube", release)
    assert [(row.row_number, row.reason, row.message) for row in rejected] == [(1, reason, message)]


def test_a_query_in_no_fold_is_rejected(release: Path) -> None:
    with (release / "queries-release.csv").open("a") as stream:
        stream.write("12,result,2004,Another,theory\n12\n12,method,20\r04,Another,theory\n")
    _, rejected = stage_all("csfcube", release)
    assert "new-line character" in rejected[-1].message
    assert [(row.row_number, row.location, row.reason, row.message) for row in rejected] == [
        (3, "line 4", "invalid_value", "12_result is in no fold of evaluation_splits.json"),
        (4, "line 5", "malformed_line", "1 cells, expected 5"),
        (5, "line 6", "malformed_line", rejected[-1].message),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("queries-release.csv", "", "is empty; expected a line that names the columns"),
        (
            "queries-release.csv",
            "pid,facet\n1,method\n",
            "has no column paper type; its columns are pid, facet",
        ),
        ("evaluation_splits.json", "{}", "has not the folds; expected fold1_dev and fold1_test"),
        ("evaluation_splits.json", "[]", "is a JSON list; expected an object"),
        (BACKGROUND, "{", "is not JSON"),
        (BACKGROUND, '{"11": []}', "the entry '11' is not an object of lists with cands"),
        (POOLS, '{"11": {"cands": 3}}', "the entry '11' is not an object of lists with cands"),
    ],
)
def test_a_file_of_another_shape_is_refused(release: Path, name: str, content: str, message: str) -> None:
    (release / name).write_text(content)
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        stage_all("csfcube", release)


def test_a_missing_file_is_named(release: Path) -> None:
    (release / "evaluation_splits.json").unlink()
    with pytest.raises(InputError, match=r"has no evaluation_splits\.json"):
        stage_all("csfcube", release)


def test_the_queries_are_new_when_the_folds_are(release: Path) -> None:
    from pinakes.loaders.csfcube import find_files

    before = {file.name: file.digest for file in find_files(release, {})}
    splits = release / "evaluation_splits.json"
    splits.write_bytes(splits.read_bytes() + b"\n")
    after = {file.name: file.digest for file in find_files(release, {})}
    assert {name for name in before if before[name] != after[name]} == {"queries-release.csv"}
