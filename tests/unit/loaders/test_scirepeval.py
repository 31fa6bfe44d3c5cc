"""SciRepEval: every layout of a record, in every kind of file, and what is refused."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_lines


def _paper(number: int, **fields: Any) -> dict[str, Any]:
    return {"corpus_id": number, "title": f"T{number}", "abstract": f"A{number}", **fields}


SEARCH = {
    "query": " graph  search ",
    "doc_id": "q9",
    "user_id": 1,
    "candidates": [
        _paper(
            1, venue="V", year=1964.0, author_names=["A B", "C"], n_citations=3, n_key_citations=1, score=2
        ),
        _paper(2, venue="", year="", author_names="", n_citations=0, n_key_citations=0, score=0),
    ],
}
TRIPLETS = [
    {"query": _paper(1, sha="aa"), "pos": _paper(2), "neg": _paper(3)},
    {"query": _paper(1, sha="aa"), "pos": _paper(2), "neg": _paper(4)},
    {"query": _paper(1, sha="aa"), "pos": _paper(3), "neg": _paper(5)},
]


def _judgment(row_number: int, query_id: str, source_id: str, grade: int, **others: Any) -> dict[str, Any]:
    judged = {"query_id": query_id, "source_id": source_id, "assessor": "published", "split": "test"}
    return {"row_number": row_number, **judged, "grade": grade, **others}


def _label(row_number: int, source_id: str, label: str, **others: Any) -> dict[str, Any]:
    said = {"source_id": source_id, "label": label, "split": "test", "quality": "gold"}
    return {"row_number": row_number, **said, **others}


def test_a_search_becomes_a_text_with_graded_candidates(tmp_path: Path) -> None:
    staged, rejected = stage_all("scirepeval", write_lines(tmp_path / "search" / "test.jsonl", SEARCH))
    assert rejected == []
    assert {name: rows for name, rows in staged["test.jsonl"].items() if rows} == {
        "queries": [
            {
                "row_number": 1,
                "query_id": "search:q9",
                "text": "graph  search",
                "field": "search",
                "fold": "test",
            }
        ],
        "judgments": [_judgment(1, "search:q9", "1", 2), _judgment(1, "search:q9", "2", 0)],
        "mentioned_papers": [
            {
                "row_number": 1,
                "source_id": "1",
                "title": "T1",
                "abstract": "A1",
                "year": 1964,
                "venue": "V",
                "citation_count": 3,
            },
            {"row_number": 1, "source_id": "2", "title": "T2", "abstract": "A2", "citation_count": 0},
        ],
        "identifiers": [
            {"row_number": 1, "source_id": "1", "scheme": "corpus", "identifier": "1"},
            {"row_number": 1, "source_id": "2", "scheme": "corpus", "identifier": "2"},
        ],
        "authorships": [
            {
                "row_number": 1,
                "source_id": "1",
                "position": 1,
                "author_source_id": "name:A B",
                "author_name": "A B",
            },
            {
                "row_number": 1,
                "source_id": "1",
                "position": 2,
                "author_source_id": "name:C",
                "author_name": "C",
            },
        ],
    }


def test_a_repeated_query_is_a_query_each_time_and_a_session_names_one(tmp_path: Path) -> None:
    record = {"query": "q", "session_id": 7, "candidates": [_paper(1, score=1)]}
    path = write_lines(tmp_path / "search" / "train.jsonl", record, {**record, "query": "r"})
    staged, rejected = stage_all("scirepeval", path)
    assert rejected == []
    queries = staged["train.jsonl"]["queries"]
    assert [(row["query_id"], row["text"], row["fold"]) for row in queries] == [
        ("search:7", "q", "train"),
        ("search:7.2", "r", "train"),
    ]
    assert [(row["query_id"], row["split"]) for row in staged["train.jsonl"]["judgments"]] == [
        ("search:7", "train"),
        ("search:7.2", "train"),
    ]


def test_a_paper_query_is_described_too_and_ungraded_candidates_are_its_pool(tmp_path: Path) -> None:
    record = {"dataset": "aminer", "query": _paper(1), "candidates": [_paper(3), _paper(2, score=1)]}
    staged, rejected = stage_all(
        "scirepeval", write_lines(tmp_path / "meta.jsonl", record), {"task": "relish"}
    )
    assert rejected == []
    rows = staged["meta.jsonl"]
    assert rows["queries"] == [
        {
            "row_number": 1,
            "query_id": "relish:1",
            "paper_source_id": "1",
            "field": "relish",
            "fold": "test",
        }
    ]
    assert rows["judgments"] == [_judgment(1, "relish:1", "2", 1)]
    assert rows["pool_sources"] == [
        {"row_number": 1, "query_id": "relish:1", "source_id": "3", "source": "candidates"}
    ]
    assert [row["source_id"] for row in rows["mentioned_papers"]] == ["1", "3", "2"]


def test_triplets_of_a_paper_are_one_query_and_never_judge_a_paper_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "cite_prediction.json"
    path.write_bytes(orjson.dumps(TRIPLETS))
    staged, rejected = stage_all("scirepeval", path)
    assert [(row.location, row.reason, row.message) for row in rejected] == [
        ("[2]", "invalid_value", "3 is cited in one triplet of 1, not in another")
    ]
    rows = staged["cite_prediction.json"]
    assert [
        (row["row_number"], row["query_id"], row["paper_source_id"], row["fold"]) for row in rows["queries"]
    ] == [(1, "cite_prediction:1", "1", "train")]
    assert [
        (row["row_number"], row["source_id"], row["grade"], row["split"]) for row in rows["judgments"]
    ] == [
        (1, "2", 1, "train"),
        (1, "3", 0, "train"),
        (2, "4", 0, "train"),
    ]
    assert [row["identifier"] for row in rows["identifiers"] if row["scheme"] == "s2"] == ["aa", "aa"]


def test_qrels_judge_papers_or_texts_as_the_task_asks(tmp_path: Path) -> None:
    pairs = [{"query_id": "a", "cand_id": "b", "score": 1}, {"query_id": "a", "cand_id": "c", "score": 0.0}]
    write_lines(tmp_path / "same_author" / "test_qrel.jsonl", *pairs)
    write_lines(tmp_path / "trec_covid" / "test_qrel.jsonl", *pairs)
    write_lines(tmp_path / "paper_reviewer_matching" / "test_hard_qrel.jsonl", pairs[0])
    staged, rejected = stage_all("scirepeval", tmp_path)
    assert rejected == []
    assert staged["same_author/test_qrel.jsonl"] == {
        "judgments": [_judgment(1, "same_author:a", "b", 1), _judgment(2, "same_author:a", "c", 0)],
        "queries": [
            {
                "row_number": 1,
                "query_id": "same_author:a",
                "paper_source_id": "a",
                "field": "same_author",
                "fold": "test",
            }
        ],
    }
    assert staged["trec_covid/test_qrel.jsonl"] == {
        "judgments": [_judgment(1, "trec_covid:a", "b", 1), _judgment(2, "trec_covid:a", "c", 0)]
    }
    (hard,) = staged["paper_reviewer_matching/test_hard_qrel.jsonl"]["judgments"]
    assert hard == _judgment(1, "paper_reviewer_matching:a", "b", 1, assessor="hard")


def test_a_reviewer_becomes_a_label_on_each_paper(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "prm" / "reviewer_metadata.jsonl", {"r_id": "r1", "papers": ["a", "b", "a"]}
    )
    staged, rejected = stage_all("scirepeval", path)
    assert rejected == []
    assert staged["reviewer_metadata.jsonl"]["mentioned_papers"] == [{"row_number": 1, "source_id": "r1"}]
    assert staged["reviewer_metadata.jsonl"]["labels"] == [
        _label(1, "a", "r1", task="prm:reviewers", split="all"),
        _label(1, "b", "r1", task="prm:reviewers", split="all"),
    ]


def test_labels_are_classes_lists_of_classes_or_numbers(tmp_path: Path) -> None:
    (tmp_path / "drsm").mkdir()
    (tmp_path / "drsm" / "test.csv").write_text("paper_id,label\n7,2\n")
    (tmp_path / "tweet_mentions").mkdir()
    (tmp_path / "tweet_mentions" / "train.csv").write_text("paper_id,label\n7,0.5\n")
    write_lines(
        tmp_path / "fos" / "test.jsonl",
        {"paper_id": 7, "label": [3, 5]},
        {"paper_id": 8, "label": []},
        {"paper_id": 9, "label": [1] + [0] * 9 + [1.0]},
        {"paper_id": 10, "label": [0, 0, 0]},
    )
    write_lines(tmp_path / "own" / "test.jsonl", {"paper_id": 7, "label": 0.25})
    staged, rejected = stage_all("scirepeval", tmp_path)
    assert rejected == []
    assert {name: rows["labels"] for name, rows in staged.items()} == {
        "drsm/test.csv": [_label(1, "7", "2", task="drsm")],
        "tweet_mentions/train.csv": [
            _label(1, "7", "value", task="tweet_mentions", split="train", value=0.5)
        ],
        "fos/test.jsonl": [
            _label(1, "7", "3", task="fos"),
            _label(1, "7", "5", task="fos"),
            _label(2, "8", "none", task="fos:unlabelled"),
            _label(3, "9", "00", task="fos"),
            _label(3, "9", "10", task="fos"),
            _label(4, "10", "none", task="fos:unlabelled"),
        ],
        "own/test.jsonl": [_label(1, "7", "value", task="own", value=0.25)],
    }


def test_training_papers_bring_their_labels_and_fields_of_study_are_silver(tmp_path: Path) -> None:
    write_lines(tmp_path / "fos" / "train.jsonl", _paper(1, labels=[16, 2], labels_text=["Law", "Art"]))
    write_lines(
        tmp_path / "mesh_descriptors" / "val.jsonl",
        _paper(2, mag_id=9, descriptor="Lung", qualifier="surgery"),
    )
    write_lines(tmp_path / "pub_year" / "train.jsonl", _paper(3, scaled_year=0.5, year=2001))
    write_lines(tmp_path / "biomimicry" / "evaluation.jsonl", _paper(4, doc_id="d4", doi="10.1/X", label=1))
    staged, rejected = stage_all("scirepeval", tmp_path)
    assert rejected == []
    assert {name: rows["labels"] for name, rows in staged.items()} == {
        "fos/train.jsonl": [
            _label(1, "1", "Law", task="fos:texts", split="train", quality="silver"),
            _label(1, "1", "Art", task="fos:texts", split="train", quality="silver"),
        ],
        "mesh_descriptors/val.jsonl": [_label(1, "2", "Lung", task="mesh_descriptors:texts", split="dev")],
        "pub_year/train.jsonl": [_label(1, "3", "value", task="pub_year:texts", split="train", value=0.5)],
        "biomimicry/evaluation.jsonl": [_label(1, "d4", "1", task="biomimicry:texts", split="all")],
    }
    assert [row["field"] for row in staged["mesh_descriptors/val.jsonl"]["fields"]] == [
        "Lung",
        "Lung/surgery",
    ]
    assert staged["biomimicry/evaluation.jsonl"]["identifiers"] == [
        {"row_number": 1, "source_id": "d4", "scheme": "corpus", "identifier": "4"},
        {"row_number": 1, "source_id": "d4", "scheme": "doi", "identifier": "10.1/x"},
    ]


def test_metadata_of_scidocs_brings_references_and_authors(tmp_path: Path) -> None:
    record = {**_paper(1), "doc_id": "s1", "authors": ["7"], "references": ["s2"], "cited_by": ["s3"]}
    staged, rejected = stage_all(
        "scirepeval", write_lines(tmp_path / "scidocs_mag_mesh" / "evaluation.jsonl", record)
    )
    assert rejected == []
    rows = staged["evaluation.jsonl"]
    assert rows["papers"] == [
        {"row_number": 1, "source_id": "s1", "title": "T1", "abstract": "A1", "citation_count": 1}
    ]
    assert rows["citations"] == [{"row_number": 1, "citing_source_id": "s1", "reference_key": "s2"}]
    assert [row["author_source_id"] for row in rows["authorships"]] == ["7"]
    assert [row["identifier"] for row in rows["identifiers"]] == ["1"]


@pytest.mark.parametrize("name", ["evaluation-00000-of-00001.parquet", "evaluation.jsonl", "evaluation.json"])
def test_parquet_json_lines_and_arrays_give_the_same_rows(tmp_path: Path, name: str) -> None:
    records: list[dict[str, Any]] = [
        orjson.loads(orjson.dumps({**SEARCH, "doc_id": name})) for name in ("q9", "q10")
    ]
    for candidate in (candidate for record in records for candidate in record["candidates"]):
        candidate.update(year=None, author_names=[])
    path = tmp_path / "search" / name
    path.parent.mkdir()
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(records), path)
    elif name.endswith(".jsonl"):
        write_lines(path, *records)
    else:
        path.write_bytes(b"\n " + orjson.dumps(records))
    staged, rejected = stage_all("scirepeval", path)
    assert rejected == []
    rows = staged[name]
    assert [row["query_id"] for row in rows["queries"]] == ["search:q9", "search:q10"]
    assert [(row["row_number"], row["source_id"], row["grade"]) for row in rows["judgments"]] == [
        (1, "1", 2),
        (1, "2", 0),
        (2, "1", 2),
        (2, "2", 0),
    ]
    assert rows["mentioned_papers"][0] == {
        "row_number": 1,
        "source_id": "1",
        "title": "T1",
        "abstract": "A1",
        "venue": "V",
        "citation_count": 3,
    }


def test_an_id_column_with_gaps_stays_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "fos.parquet"
    table = pa.table({"doc_id": ["a", "b"], "corpus_id": pa.array([5.0, None]), "title": ["A", "B"]})
    pq.write_table(table, path)
    staged, rejected = stage_all("scirepeval", path)
    assert rejected == []
    assert staged["fos.parquet"]["identifiers"] == [
        {"row_number": 1, "source_id": "a", "scheme": "corpus", "identifier": "5"}
    ]


def test_converted_parquet_files_are_named_by_the_folders_of_split_and_task(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"paper_id": "a", "label": 1}])
    for split in ("train", "test"):
        (tmp_path / "drsm" / split).mkdir(parents=True)
        pq.write_table(table, tmp_path / "drsm" / split / "0000.parquet")
    expected = {split: [_label(1, "a", "1", task="drsm", split=split)] for split in ("test", "train")}
    for source in (tmp_path, tmp_path / "drsm"):
        staged, rejected = stage_all("scirepeval", source)
        assert rejected == []
        found = {Path(name).parent.name: rows["labels"] for name, rows in staged.items()}
        assert found == expected
    staged, _ = stage_all("scirepeval", tmp_path / "drsm" / "test" / "0000.parquet")
    assert staged["0000.parquet"]["labels"] == expected["test"]


def test_a_fetched_folder_names_its_corpus_and_the_task_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "scirepeval-drsm"
    write_lines(folder / "evaluation.jsonl", _paper(1))
    write_lines(folder / "test" / "0000.json", {"paper_id": 1, "label": 2})
    write_lines(folder / "other" / "test.jsonl", {"paper_id": 1, "label": 3})
    loader = find_loader("scirepeval")
    assert loader.describe_corpus(folder, {}).name == "scirepeval-drsm"
    assert loader.describe_corpus(folder, {"task": "own"}).name == "scirepeval-own"
    assert loader.describe_corpus(tmp_path, {}).name == "scirepeval"
    staged, rejected = stage_all("scirepeval", folder)
    assert rejected == []
    tasks = {name: [row["task"] for row in rows.get("labels", [])] for name, rows in staged.items()}
    assert tasks == {"evaluation.jsonl": [], "test/0000.json": ["drsm"], "other/test.jsonl": ["other"]}


def test_lists_of_tasks_and_of_labels_are_passed_over_and_judging_files_come_last(tmp_path: Path) -> None:
    for name in ("tasks_config.json", "scirepeval_tasks.jsonl", "fos_labels.txt", "embeddings/scidocs.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    write_lines(tmp_path / "a" / "test_qrel.jsonl", {})
    write_lines(tmp_path / "b" / "meta.jsonl", {})
    files = find_loader("scirepeval").find_files(tmp_path, {})
    assert [file.name for file in files] == ["b/meta.jsonl", "a/test_qrel.jsonl"]


def test_records_of_no_layout_and_with_broken_fields_are_rejected(tmp_path: Path) -> None:
    records: list[Any] = [
        {"title": "T"},
        [],
        {**SEARCH, "candidates": {}},
        {**SEARCH, "candidates": [1]},
        {**SEARCH, "candidates": [_paper(1, score="high")]},
        {**SEARCH, "candidates": [_paper(1, score=1), _paper(1, score=2)]},
        {**SEARCH, "query": ""},
        {"query": "q", "candidates": []},
        {"query_id": "a", "cand_id": "b"},
        {"paper_id": 1, "label": ""},
        {"query": {}, "pos": _paper(1), "neg": _paper(2)},
        {"query": _paper(1), "pos": _paper(2), "neg": _paper(2)},
        _paper(1, year="soon"),
        _paper(1),
        _paper(1),
    ]
    staged, rejected = stage_all("scirepeval", write_lines(tmp_path / "search" / "meta.jsonl", *records))
    assert [row["source_id"] for row in staged["meta.jsonl"]["papers"]] == ["1"]
    assert [(row.row_number, row.reason) for row in rejected] == [
        (1, "missing_field"),
        (2, "not_an_object"),
        (3, "invalid_value"),
        (4, "invalid_value"),
        (5, "invalid_value"),
        (6, "invalid_value"),
        (7, "missing_field"),
        (8, "missing_field"),
        (9, "missing_field"),
        (10, "missing_field"),
        (11, "missing_field"),
        (12, "invalid_value"),
        (13, "invalid_value"),
        (15, "duplicate_id"),
    ]


def test_a_load_that_goes_on_gives_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    loader = find_loader("scirepeval")
    (file,) = loader.find_files(write_lines(tmp_path / "specter.jsonl", *TRIPLETS), {})
    (whole,) = loader.read_chunks(file, {}, 1)
    (rest,) = loader.read_chunks(file, {}, 2)
    for kind in ("judgments", "queries", "mentioned_papers"):
        later = [row for row in whole.tables[kind].to_pylist() if row["row_number"] > 1]
        assert rest.tables[kind].to_pylist() == later
    assert [row.row_number for row in rest.rejected] == [3]


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fos.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"fos\.parquet is not a Parquet file, or is damaged"):
        stage_all("scirepeval", tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("search/meta.jsonl", (2, 2, 0)),
        ("specter.json", (3, 2, 1)),
        ("drsm/test.csv", (2, 2, 0)),
        ("search/test.parquet", (20, 20, 0)),
    ],
    ids=str,
)
def test_damaged_files_are_never_lost(tmp_path: Path, name: str, expected: tuple[int, int, int]) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([{"paper_id": "a", "label": 1}] * 20), sink)
    contents = {
        "search/meta.jsonl": orjson.dumps(SEARCH) + b"\n" + orjson.dumps(_paper(1)) + b"\n",
        "specter.json": orjson.dumps(TRIPLETS),
        "drsm/test.csv": b"paper_id,label\n7,2\n8,1\n",
        "search/test.parquet": sink.getvalue().to_pybytes(),
    }

    check_damage("scirepeval", tmp_path / name, contents[name], expected)


@needs_real_data
def test_the_published_samples_have_their_records() -> None:
    staged, rejected = stage_all("scirepeval", REAL_DATA / "scirepeval")
    assert rejected == []
    counts = {
        name: {kind: len(rows) for kind, rows in tables.items() if rows} for name, tables in staged.items()
    }
    assert counts == {
        "sample_data/fos_small.json": {"papers": 205, "identifiers": 205, "labels": 239},
        "sample_data/mesh_small.json": {"papers": 206, "identifiers": 412, "fields": 412, "labels": 206},
        "sample_data/s2and_small.json": {
            "queries": 40,
            "judgments": 376,
            "mentioned_papers": 416,
            "identifiers": 416,
        },
        "sample_data/search_small.jsonl": {
            "queries": 100,
            "judgments": 1000,
            "mentioned_papers": 1000,
            "identifiers": 1000,
            "authorships": 3658,
        },
        "sample_data/specter_small.json": {
            "queries": 200,
            "judgments": 400,
            "mentioned_papers": 600,
            "identifiers": 1200,
        },
    }
    labels = staged["sample_data/fos_small.json"]["labels"]
    assert [(labels[i]["source_id"], labels[i]["label"]) for i in (0, 119, -1)] == [
        ("121676082", "Mathematics"),
        ("30336382", "Physics"),
        ("111274344", "Engineering"),
    ]
    papers = staged["sample_data/mesh_small.json"]["papers"]
    assert [(papers[i]["source_id"], len(papers[i]["abstract"])) for i in (0, 103, -1)] == [
        ("7571069", 1914),
        ("22013570", 913),
        ("205093366", 2028),
    ]
    judgments = staged["sample_data/search_small.jsonl"]["judgments"]
    assert [
        (judgments[i]["query_id"], judgments[i]["source_id"], judgments[i]["grade"]) for i in (0, 500, -1)
    ] == [
        ("search_small:7278244041409283", "26653830", 1),
        ("search_small:5023878665266933", "223953572", 1),
        ("search_small:2760948414280099", "148720704", 0),
    ]
    grades = [row["grade"] for row in judgments]
    assert [grades.count(grade) for grade in (0, 1, 2)] == [885, 114, 1]


def test_a_parquet_file_that_is_gone_or_cut_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "fos.parquet"
    pq.write_table(pa.table({"doc_id": [str(number) for number in range(5000)], "title": ["T"] * 5000}), path)
    content = bytearray(path.read_bytes())
    content[40:400] = b"\xff" * 360
    path.write_bytes(content)
    with pytest.raises((InputError, LoadError), match=r"fos\.parquet"):
        stage_all("scirepeval", path)
