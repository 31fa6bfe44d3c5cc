"""Ranking files read, without a database: which rows, in which order, and what is refused."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.errors import InputError, RunError
from pinakes.run.files.formats import FORMATS, read_ranking
from pinakes.run.files.ranked import keep_tag, rank_rows
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import COMPRESS, write_file

Hit = tuple[str, str, int, float]
EXPECTED: list[Hit] = [("a", "x", 1, 1.0), ("b", "y", 1, 3.0), ("b", "z", 2, 1.0), ("b", "x", 3, 1.0)]


def read(*paths: Path, format_: str | None = None, tag: str | None = None, queries: str = "") -> list[Hit]:
    """The hits of files, in order."""
    rows = [(path.name, read_ranking(path, format_, queries.split())[1]) for path in paths]
    found = rank_rows(keep_tag(rows, tag))
    sources = found.source_ids.to_pylist()
    return [
        (found.query_ids[query], sources[source], rank, score)
        for query, source, rank, score in zip(
            found.queries.tolist(),
            found.sources.tolist(),
            found.ranks.tolist(),
            found.scores.tolist(),
            strict=True,
        )
    ]


TREC = "b Q0 x 1 1 t\na Q0 x 1 1 t\nb Q0 z 7 1 t\nb Q0 y 2 3 t\n"
WAYS: dict[str, tuple[str, str, object]] = {
    "trec": ("trec", "run", TREC),
    "trec, tabs, blanks around": ("trec", "run", TREC.replace(" ", "\t ").replace("\n", " \n ")),
    "trec, CR LF, BOM, comments": (
        "trec",
        "run",
        "\ufeff# c\r\n" + TREC.replace("\n", "\r\n\r\n#a b c d 5 f\r\n"),
    ),
    "trec, no last line end": ("trec", "run", TREC.rstrip()),
    "trec, numbers that Arrow refuses": ("trec", "run", TREC.replace(" 3 t", " +3e0 t")),
    "ranx": ("ranx", "run.json", {"b": {"x": 1, "z": 1.0, "y": 3}, "a": {"x": 1}}),
    "ranx, a BOM": ("ranx", "run.json", '\ufeff {"b" : {"x": 1, "z": 1.0, "y": 3}, "a": {"x": 1}}'),
    "pyterrier": (
        "csv",
        "run.csv",
        'qid,docid,docno,rank,score,query\nb,7,x,2,1.0,"of, ""b"",\nor"\na,7,x,0,1,q\nb,9,z,1,1,q\n'
        "b,8,y,0,3,q\n",
    ),
    "ir_datasets": ("tsv", "run.tsv", "query_id\tdoc_id\tscore\nb\tx\t1\na\tx\t1\nb\tz\t1\r\n\r\nb\ty\t3"),
    "semicolons": ("csv", "run.txt", '"Query_ID";"Doc_ID";"Score"\n"b";"x";1\na;x;1\nb;z;1\nb;y;3\n'),
    "beir": ("tsv", "run", "query-id\tcorpus-id\tscore\nb\tx\t1\na\tx\t1\nb\tz\t1\nb\ty\t3\n"),
    "csfcube": ("csfcube", "mine-q-ranked.json", {"b": [["y", -3], ["z", -1], ["x", -1.0]]}),
    "mdcr": ("mdcr", "scores.json", {"b_x": 1, "a_x": 1, "b_z": 1, "b_y": 3}),
}


@pytest.mark.parametrize("case", WAYS)
def test_each_way_to_write_a_ranking_is_recognised_and_read_alike(tmp_path: Path, case: str) -> None:
    format_, name, content = WAYS[case]
    path = write_file(tmp_path / name, content)
    assert read_ranking(path, None, {"a", "b", "b_q"})[0] == format_
    expected = [("b_q", *hit[1:]) for hit in EXPECTED[1:]] if format_ == "csfcube" else EXPECTED
    assert read(path, queries="a b b_q") == read(path, queries="a b b_q", format_=format_) == expected


def test_every_format_is_among_those_ways() -> None:
    assert {format_ for format_, _, _ in WAYS.values()} | {"parquet"} == set(FORMATS)


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize(
    ("name", "content"), [("r", TREC), ("r.json", {"b": {"x": 1}}), ("r.tsv", WAYS["beir"][2])]
)
def test_compressed_files_are_read_as_plain_ones(
    tmp_path: Path, suffix: str, name: str, content: object
) -> None:
    plain, packed = (write_file(tmp_path / f"{name}{one}", content) for one in ("", suffix))
    assert read(packed) == read(plain)


@pytest.mark.parametrize("number", [pa.int64(), pa.float32(), pa.decimal128(21, 2)])
@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_is_read_whatever_its_types(tmp_path: Path, number: pa.DataType, text: pa.DataType) -> None:
    columns = {
        "qid": pa.array(["b", "a", "b", "b"]).cast(text),
        "docno": pa.array(["x", "x", "z", "y"]).cast(text),
        "score": pa.array([1, 1, 1, 3]).cast(number, safe=False),
    }
    pq.write_table(pa.table(columns), tmp_path / "run")
    assert read(tmp_path / "run") == EXPECTED
    (tmp_path / "run.gz").write_bytes(gzip.compress((tmp_path / "run").read_bytes()))
    assert read(tmp_path / "run.gz") == EXPECTED


def test_whole_numbers_are_ids_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"query_id": [1, 10], "doc_id": [7, 8], "rank": [1, 1]}), tmp_path / "r.parquet")
    assert read(tmp_path / "r.parquet") == [("1", "7", 1, -1.0), ("10", "8", 1, -1.0)]


@pytest.mark.parametrize("first", [0, 1, 5])
def test_without_scores_the_rank_decides_wherever_it_counts_from(tmp_path: Path, first: int) -> None:
    rows = "".join(f"q,d{place},{first + place}\n" for place in (2, 0, 1))
    path = write_file(tmp_path / "run.csv", "qid,docno,rank\n" + rows)
    assert [hit[1:3] for hit in read(path)] == [("d0", 1), ("d1", 2), ("d2", 3)]


def test_scores_decide_before_ranks_and_ranks_before_ids(tmp_path: Path) -> None:
    path = write_file(tmp_path / "run.csv", "qid,docno,rank,score\nq,a,9,2\nq,c,3,1\nq,b,2,1\nq,d,2,1\n")
    assert [hit[1] for hit in read(path)] == ["a", "d", "b", "c"]


def test_of_equal_scores_as_32_bit_numbers_the_higher_id_is_first(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "run", "q Q0 p1 1 1.00000001 t\nq Q0 p10 1 1 t\nq Q0 é 1 1 t\nq Q0 p9 1 0 t\n"
    )
    assert [hit[1] for hit in read(path)] == ["é", "p10", "p1", "p9"]


def test_white_space_that_is_not_ascii_is_part_of_an_id(tmp_path: Path) -> None:
    path = write_file(tmp_path / "run", "q\u00a01 Q0 d\u2003\u0085 1 1 t\n")
    assert [hit[:2] for hit in read(path)] == [("q\u00a01", "d\u2003\u0085")]


@pytest.mark.parametrize("query", ["{", "[1]", "<q>", '{"a"', '"'])
def test_a_query_that_begins_as_json_or_markup_does_is_a_query(tmp_path: Path, query: str) -> None:
    path = write_file(tmp_path / "run", f"{query} Q0 d 1 1 t\n")
    assert read(path) == [(query, "d", 1, 1.0)]


def test_null_like_texts_are_ids(tmp_path: Path) -> None:
    for path in (
        write_file(tmp_path / "run", "NA Q0 null 1 1 NaN\n"),
        write_file(tmp_path / "run.csv", "qid,docno,score\nNA,null,1\n"),
    ):
        assert read(path) == [("NA", "null", 1, 1.0)]


LONG = "{" + "x" * 470_000
REFUSED: dict[str, tuple[str, object, str | None, str]] = {
    "nothing": ("run", "# no row\n\n", None, "run is empty, which shows no format"),
    "one long line": ("run", LONG, None, r"begins with '\{x{79}' …, which shows no"),
    "one long line as TREC": (
        "run",
        LONG,
        "trec",
        r"line 1: '\{x{79}' … is no row of",
    ),
    "one long line as CSV": (
        "run",
        LONG,
        "csv",
        r"begins with '\{x{79}' …; expected a line that names a col",
    ),
    "prose": (
        "README.md",
        "# Runs\nThis folder holds\n",
        None,
        "begins with 'This folder holds', which shows",
    ),
    "an array": ("run.json", [{"a": 1}], None, "shows no format"),
    "markup": ("run.xml", '<a b c="d" e="1">', None, "shows no format"),
    "an underscore in a number": ("run", "q Q0 d 1 1_0 t\n", None, "line 1: the score '1_0' is no number"),
    "line numbers": ("run", "# c\n\nq Q0 d 1 1 t\nq Q0 e\n", None, "run, line 4: 'q Q0 e' .* has 3 columns"),
    "NaN": ("run", "q Q0 d 1 nan t\n", None, "line 1: the score nan is not a finite number"),
    "twice": (
        "run",
        "q Q0 d 1 1 t\nq Q0 e 1 1 t\nq Q0 d 2 1 t\n",
        None,
        r"q ranks d twice \(records 1 and 3\)",
    ),
    "two tags": (
        "run",
        "q Q0 d 1 1 a\nq Q0 e 1 1 b\n",
        None,
        "2 systems by their tags: 'a, b'; .* with --tag",
    ),
    "CSV, no number": ("r.csv", "qid,docno,score\nq,d,high\n", None, "row 2: .*invalid value 'high'"),
    "CSV, no score": ("r.csv", "qid,docno,score\nq,d,1\nq,e,\n", None, "r.csv, row 3: "),
    "CSV, cells": (
        "r.csv",
        "qid,docno,score\nq,d,1,2\n",
        None,
        "row 2: 'Expected 3 columns, got 4: q,d,1,2'",
    ),
    "CSV, long row": (
        "r.csv",
        f"qid,docno,score\nq,{LONG}\n",
        None,
        "row 2: 'Expected 3 columns, got 2: .*' …; expected",
    ),
    "CSV, NaN": (
        "r.csv",
        "qid,docno,score\nq,d,nan\n",
        None,
        "record 1: the score nan is not a finite number",
    ),
    "CSV, a column twice": ("r.csv", "qid,docno,score,score\nq,d,1,2\n", None, "has the column score twice"),
    "CSV, no header": ("r.csv", "q,d,1\n", "csv", "begins with 'q,d,1'; expected a line that names a column"),
    "no UTF-8 in CSV": ("r.csv", b"qid,docno,score\nq,\xff,1\n", None, "invalid UTF8|UTF-8"),
    "ranx, twice": ("r.json", '{"q": {"d": 1, "d": 2}}', None, "r.json: an object names 'd' twice"),
    "ranx, a query twice": ("r.json", '{"q": {"d": 1}, "q": {"e": 2}}', None, "an object names 'q' twice"),
    "ranx, NaN": ("r.json", '{"q": {"d": NaN}}', None, "score of 'd' for query 'q': nan is not a finite"),
    "ranx, text": ("r.json", {"q": {"d": "1"}}, None, "score of 'd' for query 'q': '1' is no number"),
    "ranx, true": ("r.json", {"q": {"d": True}}, None, "'True' is no number"),
    "ranx, too great": ("r.json", '{"q": {"d": 1' + "0" * 400 + "}}", None, "inf is not a finite number"),
    "ranx, a list": ("r.json", {"q": {"d": 1}, "r": [1]}, None, r"query 'r' is '\[1\]'; expected an object"),
    "ranx, cut": ("r.json", '{"q": {"d": 1', None, "r.json is not JSON"),
    "nested": ("r.json", '{"q":{"d":' + "[" * 100_000, None, "nested too deep|not JSON"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_ranking_is_refused_in_few_words(tmp_path: Path, case: str) -> None:
    name, content, format_, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as error:
        read(write_file(tmp_path / name, content), format_=format_)
    assert len(str(error.value)) < 500


def test_a_tag_is_chosen_where_a_file_is_of_several_systems(tmp_path: Path) -> None:
    path = write_file(tmp_path / "run", "q Q0 d 1 1 a\nq Q0 d 1 2 b\nq Q0 e 1 1 a\n")
    assert read(path, tag="a") == [("q", "e", 1, 1.0), ("q", "d", 2, 1.0)]
    assert read(path, tag="b") == [("q", "d", 1, 2.0)]
    with pytest.raises(InputError, match="no row of the files has the tag 'c'; the tags are: 'a, b'"):
        read(path, tag="c")


def test_the_files_of_a_run_are_ranked_together(tmp_path: Path) -> None:
    one = write_file(tmp_path / "one", "q Q0 d 1 1 t\n")
    two = write_file(tmp_path / "two", "q Q0 e 1 2 t\n")
    assert [hit[1:3] for hit in read(one, two)] == [("e", 1), ("d", 2)]
    again = write_file(tmp_path / "again", "q Q0 d 1 5 t\n")
    with pytest.raises(RunError, match=r"two of the files rank the same paper .* one and again rank d for q"):
        read(one, two, again)


def test_a_long_run_is_read_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinakes.run.files.trec._BLOCK_BYTES", 7)
    path = write_file(tmp_path / "run", "\ufeff" + TREC + "\n\nc Q0 d 1 bad t\n")
    with pytest.raises(InputError, match="run, line 7: the score 'bad'"):
        read(path)
    assert read(write_file(path, TREC)) == EXPECTED


def test_ids_with_underscores_are_cut_where_a_query_ends(tmp_path: Path) -> None:
    path = write_file(tmp_path / "scores.json", {"a_1_b_2": 0.5, "c_d": 1, "c_e_f": 2})
    assert read(path, queries="a_1 c") == [("a_1", "b_2", 1, 0.5), ("c", "e_f", 1, 2.0), ("c", "d", 2, 1.0)]


@pytest.mark.parametrize(
    ("key", "query_ids", "message"),
    [
        ("a_b_c", "a a_b", "'a_b_c': the key begins with more than one query of the benchmark"),
        ("a_b_c", "c", "'a_b_c': the key begins with no query of the benchmark"),
        ("a", "a", "'a': the key begins with no query of the benchmark"),
    ],
)
def test_a_key_that_cannot_be_cut_in_one_way_is_refused(
    tmp_path: Path, key: str, query_ids: str, message: str
) -> None:
    path = write_file(tmp_path / "scores.json", json.dumps({key: 1}))
    with pytest.raises(InputError, match=message):
        read(path, queries=query_ids)


@needs_real_data
def test_trec_evals_own_run_is_read_whole() -> None:
    _, rows = read_ranking(REAL_DATA / "trec" / "trec_eval" / "results.test")
    found = rank_rows([("results.test", rows)])
    assert found.query_ids == ["301", "302", "303"]
    assert np.bincount(found.queries).tolist() == [500, 500, 500]
    assert found.ranks[:3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("written", ["in order", "a score is wrong", "queries are mixed", "other blanks"])
def test_a_run_is_ranked_alike_however_its_lines_stand(tmp_path: Path, written: str) -> None:
    random = np.random.default_rng(4)
    hits = [
        (f"q{query}", f"d{paper}", -score / 8)
        for query in range(12)
        for score, paper in enumerate(random.choice(90, 40, replace=False).tolist())
    ]
    hits += [(query, f"e{paper}", score) for query, paper, score in hits[:5]]  # some tie
    expected = sorted(hits, key=lambda hit: hit[1].encode(), reverse=True)
    expected.sort(key=lambda hit: (hit[0], -hit[2]))
    if written == "a score is wrong":
        hits.insert(7, hits.pop(80))
    if written == "queries are mixed":
        random.shuffle(hits)
    between = "\t " if written == "other blanks" else " "
    end = " \n" if written == "other blanks" else "\n"
    lines = [between.join((query, "Q0", paper, "0", str(score), "t")) + end for query, paper, score in hits]
    found = read(write_file(tmp_path / "run.trec", "".join(lines).encode()))
    assert [(query, paper, score) for query, paper, _, score in found] == expected
