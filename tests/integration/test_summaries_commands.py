"""`derive summaries` and `export summaries` as a person calls them, with odd texts and on real data."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pinakes.database import Database, connect
from pinakes.loaders.staging import Rows
from pinakes.queries.install import initialise
from tests.calling import Call, make_call
from tests.integration.summaries import GRAPHS, full_text, load_toy, mention, work
from tests.integration.toy_loading import load_records
from tests.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.in_turn

ODD = {
    "controls": "A\x07 model\x9f.\tIt\u2028is \x0b\x0c robust\x1f. \u200b",
    "script": "引用グラフを学習する。モデルは頑健である。",
    "giant": "word " * 20_000,
    "signs": "?! ... --- '' \" ) (",
    "blank": " \n\t ",
}


@pytest.fixture
def call(database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    url = database.url.render_as_string(hide_password=False)
    if database.name == "duckdb":
        database.close()
    monkeypatch.setenv("PINAKES_DATABASE_URL", url)
    return make_call(capsys)


@pytest.fixture
def toy(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    load_toy(database, monkeypatch)


def test_the_command_says_what_there_is(toy: None, call: Call) -> None:
    made = call("derive", "summaries", "--corpus", "toy", "--json", "--quiet")
    assert (made.code, made.err) == (0, "")
    assert made.data["examples"] == 4
    assert [one["labeller"] for one in made.data["labellers"]] == [
        "citing aligned 0.6",
        "citing exact",
        "greedy rouge2 f rouge_score citing",
    ]
    again = call("derive", "summaries", "--corpus", "toy", "--as-published", "--quiet")
    assert again.code == 0
    for said in (
        "no full text",
        "greedy rouge2 f rouge zero",
        "by_example",
        "leaked examples",
        "0 examples, 4",
    ):
        assert said in again.out
    other = call(
        "derive", "summaries", "--corpus", "toy", "--labeller", "citing exact", "--seed", 2,
        "--min-positives", 3, "--min-sentences", 2, "--json", "--quiet",
    )  # fmt: skip
    assert (other.data["examples"], other.data["pairs"]) == (0, 11)
    for arguments, message in {
        ("--labeller", "x"): "unknown labeller 'x'",
        ("--splitter", "x"): "unknown splitter 'x'; known: nltk, punkt, source",
        ("--jobs", "0"): "--jobs is 0; expected a whole number from 1.",
    }.items():
        refused = call("derive", "summaries", "--corpus", "toy", *arguments)
        assert refused.code == 1
        assert message in refused.err


def test_examples_are_exported(toy: None, call: Call, tmp_path: Path) -> None:
    call("derive", "summaries", "--corpus", "toy", "--labeller", "citing exact", "--quiet")
    lines, table = tmp_path / "toy.jsonl", tmp_path / "toy.parquet"
    for file in (lines, table):
        written = call("export", "summaries", "--corpus", "toy", file, "--json")
        assert written.code == 0, written.err
        assert written.data == [
            {
                "file": str(file),
                "examples": 4,
                "sentences": 15,
                "labels": 5,
                "producer": "summaries 1 punkt-3.10.4 seed=1",
                "labeller": "citing exact",
                "split_scheme": "by_paper",
            }
        ]
    read = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [(one["paper_id"], one["reference_id"]) for one in read] == [
        ("a", "b"), ("a", "r1"), ("b", "r1"), ("c", "r1")
    ]  # fmt: skip
    contexts = [
        "Lee ranks papers by citation graphs (2020). It works.",
        "As we show, the graphs are very large.",
    ]
    assert read[1] == {
        "paper_id": "a",
        "reference_id": "r1",
        "query": GRAPHS,
        "query_from": "reference",
        "cited": "".join(contexts),
        "contexts": contexts,
        "text": [
            "Deep models are common.",
            "Lee ranks papers by citation graphs (2020).",
            "It works.",
            "The graphs are large, as we show.",
            "Weather is fine.",
            "They are large.",
        ],
        "labels": [False, True, True, False, False, False],
        "part": read[0]["part"],
    }
    assert pq.read_table(table).to_pylist() == read
    assert sorted(file.name for file in tmp_path.glob("*.*") if "toy" in file.name) == [
        lines.name,
        table.name,
    ]


def test_an_export_says_what_it_cannot(toy: None, call: Call, tmp_path: Path) -> None:
    none = call("export", "summaries", "--corpus", "toy", tmp_path / "x.jsonl")
    assert "make them with pinakes derive summaries --corpus toy" in none.err
    for seed in (1, 2):
        call(
            "derive", "summaries", "--corpus", "toy", "--labeller", "citing exact", "--seed", seed, "--quiet"
        )
    chosen = ("--producer", "summaries 1 punkt-3.10.4 seed=2")
    for words, message in {
        ("x.csv",): "unknown format 'csv'; known: jsonl, parquet",
        ("x", "--format", "jsonl"): "examples of several producers; name one with --producer",
        ("x.jsonl", *chosen, "--labeller", "y"): "unknown labeller 'y'; known: citing exact",
        ("x.jsonl", *chosen, "--split-scheme", "y"): "unknown split scheme 'y'; known: by_example, by_paper",
        ("no/x.jsonl", *chosen): "cannot be written",
        ("no/x.parquet", *chosen): "cannot be written",
    }.items():
        refused = call("export", "summaries", "--corpus", "toy", tmp_path / words[0], *words[1:])
        assert (refused.code, refused.out) == (1, "")
        assert message in refused.err
    assert not list(tmp_path.glob("*x*"))


def test_odd_texts_make_examples_or_reasons(
    database: Database, monkeypatch: pytest.MonkeyPatch, call: Call, tmp_path: Path
) -> None:
    papers: list[Rows] = [full_text(name, text) for name, text in ODD.items()]
    works = [work(f"to-{name}", abstract=text) for name, text in ODD.items()]
    mentions = [mention(name, f"to-{other}", ODD[other]) for name in ODD for other in ODD]
    load_records(database, monkeypatch, "1", {"papers": [*papers, *works, *mentions]})
    if database.name == "duckdb":
        database.close()
    made = call("derive", "summaries", "--corpus", "toy", "--as-published", "--json", "--quiet")
    assert (made.code, made.err) == (0, "")
    assert made.data["pairs"] == 25
    assert made.data["absent"] == {"no abstract of the cited work": 5, "no full text": 4}
    assert made.data["made_labellings"] == 16 * 4
    again = call("derive", "summaries", "--corpus", "toy", "--as-published", "--json", "--quiet")
    assert (again.data["split_papers"], again.data["made_examples"], again.data["made_labellings"]) == (
        0,
        0,
        0,
    )
    assert call("export", "summaries", "--corpus", "toy", tmp_path / "odd.parquet").code == 0
    assert call("status", "--check").code == 0


@needs_real_data
def test_a_paper_that_cites_another_of_the_corpus_is_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"duckdb:///{tmp_path / 'real.duckdb'}"
    monkeypatch.setenv("PINAKES_DATABASE_URL", url)
    with connect(url) as database:
        initialise(database)
    call = make_call(capsys)
    call("load", "s2orc-json", REAL_DATA / "s2orc_doc2json", "--corpus", "real", "--quiet")
    made = call("derive", "summaries", "--corpus", "real", "--json", "--quiet").data
    assert (made["pairs"], made["examples"], made["query_from"]) == (437, 1, {"paper": 1})
    assert made["absent"] == {"no abstract of the cited work": 435, "no citing context": 1}
    labels = {one["labeller"]: one["labels"] for one in made["labellers"]}
    assert labels["citing aligned 0.6"] == labels["citing exact"] == 8
