"""`pinakes export-pools`: MDCR's files out, and in again to the same pools."""

import json
from pathlib import Path
from typing import Any

import pytest

from pinakes.cli import run_command
from pinakes.database import Database, connect
from pinakes.errors import BenchmarkError, InputError
from pinakes.load.load import LoadRequest, load
from pinakes.sample.construct import construct
from pinakes.sample.construct_plan import ConstructionRequest
from pinakes.sample.export_pools import ExportedPools, export_pools
from pinakes.schema import sampled_queries
from tests.mdcr_reference import ask
from tests.mdcr_worlds import NUMBERS, make_small_world, make_world, rank_small_world
from tests.sampled_rows import add_rows

pytestmark = pytest.mark.in_turn

NAMED = """
SELECT queries.field, asking.source_id AS query, candidates.source, papers.source_id, judgments.grade
FROM {0}.queries AS queries
INNER JOIN papers AS asking ON queries.paper_id = asking.paper_id
INNER JOIN {0}.candidates AS candidates ON queries.query_id = candidates.query_id
INNER JOIN papers ON candidates.paper_id = papers.paper_id
INNER JOIN {0}.judgments AS judgments
    ON candidates.query_id = judgments.query_id AND candidates.paper_id = judgments.paper_id
ORDER BY 1, 2, 3, 4
"""
TEXTS = """
SELECT DISTINCT papers.source_id, papers.title, papers.abstract
FROM {0}.candidates AS candidates INNER JOIN papers ON candidates.paper_id = papers.paper_id ORDER BY 1
"""


def write_small(database: Database, folder: Path) -> dict[str, Any]:
    """The pools file of the small world, constructed from one run."""
    make_small_world(database)
    rank_small_world(database, {"bm25": ["h2", "a", "h1"]})
    construct(database, ConstructionRequest("mdcr_constructed"))
    export_pools(database, "mdcr_constructed", folder)
    content: dict[str, Any] = json.loads((folder / "mdcr_test.json").read_text(encoding="utf-8"))
    return content


def test_what_is_exported_and_loaded_again_is_the_same_benchmark(
    initialised: Database, tmp_path: Path
) -> None:
    make_world(initialised)
    summary = construct(initialised, ConstructionRequest("mdcr_constructed"))
    written = export_pools(initialised, "mdcr_constructed", tmp_path / "out")
    assert written.queries == summary.queries
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "mdcr_test.json",
        "mdcr_test_data.jsonl",
    ]
    load(initialised, LoadRequest("mdcr", tmp_path / "out"))
    constructed = ask(initialised, NAMED.format("mdcr_constructed"))
    assert len(constructed) == sum(counted.candidates for counted in summary.types)
    assert ask(initialised, NAMED.format("mdcr")) == constructed
    assert ask(initialised, TEXTS.format("mdcr")) == ask(initialised, TEXTS.format("mdcr_constructed"))
    # The published form of what was loaded is the published form of what was constructed, but for the order
    # within a type, which no loaded row keeps.
    export_pools(initialised, "mdcr", tmp_path / "again")
    first, again = (
        {
            (field, query, source): sorted(papers)
            for field, pools in json.loads((tmp_path / name / "mdcr_test.json").read_text()).items()
            for query, types in pools.items()
            for source, papers in types.items()
        }
        for name in ("out", "again")
    )
    assert first == again
    texts = [(tmp_path / name / "mdcr_test_data.jsonl").read_bytes() for name in ("out", "again")]
    assert texts[0] == texts[1]
    assert texts[0].count(b"\n") == written.papers


def test_types_list_their_candidates_in_the_order_they_were_drawn(
    initialised: Database, tmp_path: Path
) -> None:
    pools = write_small(initialised, tmp_path)
    drawn = ask(
        initialised,
        "SELECT candidates.source, papers.source_id FROM constructed_candidates AS candidates "
        "INNER JOIN papers ON candidates.paper_id = papers.paper_id ORDER BY candidates.source, position",
    )
    types = pools["Art"]["q"]
    assert list(pools) == ["Art"]
    assert list(types)[-1] == "true"
    assert [(source, paper) for source in sorted(types) if source != "true" for paper in types[source]] == [
        pair for pair in drawn if pair[0] != "cited"
    ]
    assert types["true"] == [paper for source, paper in drawn if source == "cited"]
    assert sorted(types["true"]) == ["a", "b", "c"]
    assert sorted(types["bm25"]) == ["h1", "h2"]


def test_texts_are_those_of_queries_and_candidates_by_id(initialised: Database, tmp_path: Path) -> None:
    pools = write_small(initialised, tmp_path)
    lines = (tmp_path / "mdcr_test_data.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line) for line in lines]
    requested = {"q"} | {paper for papers in pools["Art"]["q"].values() for paper in papers}
    assert [text["paper_id"] for text in texts] == sorted(requested)
    assert texts[0] == {"paper_id": "a", "title": "Title a", "abstract": "An abstract."}


def test_fields_come_in_the_order_of_mdcr_and_others_behind(initialised: Database, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    fields = ["Zoology", "Medicine", "Alchemy", "Computer Science", "Art"]
    pools = {field: {f"q{place}": {"true": ["c"], "bm25": ["b"]}} for place, field in enumerate(fields)}
    (folder / "mdcr_test.json").write_text(json.dumps(pools))
    load(initialised, LoadRequest("mdcr", folder))
    assert export_pools(initialised, "mdcr", tmp_path) == ExportedPools(queries=5, papers=7)
    found = json.loads((tmp_path / "mdcr_test.json").read_text())
    assert list(found) == ["Art", "Computer Science", "Medicine", "Alchemy", "Zoology"]
    assert found["Medicine"] == {"q1": {"bm25": ["b"], "true": ["c"]}}


def test_a_validation_fold_stays_out_of_the_test_file(initialised: Database, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, query in (("val", "1"), ("test", "2")):
        (folder / f"mdcr_{name}.json").write_text(json.dumps({"Art": {query: {"true": ["3"]}}}))
    load(initialised, LoadRequest("mdcr", folder))
    export_pools(initialised, "mdcr", tmp_path)
    assert json.loads((tmp_path / "mdcr_test.json").read_text()) == {"Art": {"2": {"true": ["3"]}}}


def test_what_has_no_such_pools_is_refused_and_nothing_is_half_written(
    initialised: Database, tmp_path: Path
) -> None:
    with pytest.raises(BenchmarkError, match="scifact has no pools that MDCR's files could hold"):
        export_pools(initialised, "scifact", tmp_path)
    with pytest.raises(BenchmarkError, match="mdcr_constructed has no query with candidates and a field"):
        export_pools(initialised, "mdcr_constructed", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file cannot be made"):
        export_pools(initialised, "mdcr", tmp_path / "file")
    write_small(initialised, tmp_path / "out")
    before = (tmp_path / "out" / "mdcr_test.json").read_bytes()
    twice = ("mdcr_constructed", "q_again", NUMBERS["q"], "Art", "test")
    add_rows(initialised, sampled_queries, [twice])
    with initialised.begin() as session:
        session.execute(
            "INSERT INTO constructed_candidates VALUES ('mdcr_constructed', 'q_again', 2, 'cited', 1)"
        )
    with pytest.raises(BenchmarkError, match="two queries of Art are the paper q, the second q_again"):
        export_pools(initialised, "mdcr_constructed", tmp_path / "out")
    assert (tmp_path / "out" / "mdcr_test.json").read_bytes() == before
    assert not list((tmp_path / "out").glob(".*"))


def test_the_commands_construct_and_export(
    duckdb_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(["init", "--db", duckdb_url])
    with connect(duckdb_url) as database:
        make_small_world(database)
        rank_small_world(database, {"one": ["h1", "h2"], "two": ["h1", "x1"]})
    capsys.readouterr()
    assert run_command(["construct", "mdcr_constructed", "--db", duckdb_url, "-q"]) == 0
    told = capsys.readouterr().out
    for expected in (
        "Runs of field_level",
        "0.3333",
        "Candidates of mdcr_constructed",
        "most_cited",
        "Clashes",
    ):
        assert expected in told
    arguments = ["construct", "mdcr_constructed", "--model", "two", "--seed", "7", "--json", "-q"]
    assert run_command([*arguments, "--from", "field_level", "--db", duckdb_url]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["seed"], summary["queries"], summary["left_out"]) == ("7", 1, 0)
    assert [model["system"] for model in summary["models"] if model["is_chosen"]] == ["two"]
    assert run_command(["export-pools", "mdcr_constructed", str(tmp_path / "out"), "--db", duckdb_url]) == 0
    assert str(tmp_path / "out") in capsys.readouterr().out
    pools = json.loads((tmp_path / "out" / "mdcr_test.json").read_text())
    assert sorted(pools["Art"]["q"]["two"]) == ["h1", "x1"]
