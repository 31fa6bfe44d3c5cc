"""Runs and judgments as files: read back, they give the same."""

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import yaml  # type: ignore[import-untyped]

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.run.export_qrels import export_qrels
from pinakes.run.export_run import export_run
from pinakes.run.files.header import read_header
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.provenance import gather_provenance
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from tests.benching import change, count, read_hits, read_named_rows

pytestmark = pytest.mark.in_turn


def rank(database: Database, tmp_path: Path, benchmark: str = "synthetic") -> int:
    options = SystemOptions(tmp_path / "indexes")
    index(database, benchmark, "bm25", options=options)
    return run(database, RunRequest(benchmark, "bm25", options)).run_id


@pytest.mark.in_turn
@pytest.mark.parametrize("benchmark", ["synthetic", "csfcube"])
@pytest.mark.parametrize("with_provenance", [False, True])
def test_a_run_that_went_out_and_came_back_is_the_same(
    prepared: Database, tmp_path: Path, benchmark: str, with_provenance: bool
) -> None:
    run_id = rank(prepared, tmp_path, benchmark)
    path = tmp_path / "run.txt"
    lines = export_run(prepared, run_id, path, with_provenance=with_provenance)
    hits = read_hits(prepared, run_id)
    assert lines == len(hits)
    back = import_run(prepared, ImportRequest(benchmark, "back", [path])).run_id
    assert read_hits(prepared, back) == hits
    first, second = evaluate(prepared, benchmark)
    assert first.scores == second.scores


def test_a_line_of_an_exported_run_is_what_trec_eval_reads(prepared: Database, tmp_path: Path) -> None:
    run_id = rank(prepared, tmp_path, "scifact")
    path = tmp_path / "run.txt"
    assert export_run(prepared, run_id, path) == 3
    assert path.read_text().splitlines() == [
        "q1 Q0 p2 1 1.0498220920562744 pinakes-bm25-1",
        "q1 Q0 p10 2 1.0498220920562744 pinakes-bm25-1",
        "q1 Q0 p1 3 0.51791292428970337 pinakes-bm25-1",
    ]


def test_provenance_lines_say_what_made_the_run(prepared: Database, tmp_path: Path) -> None:
    run_id = rank(prepared, tmp_path)
    path = tmp_path / "run.txt"
    export_run(prepared, run_id, path, with_provenance=True, actor="A. Body: #1\u2028é")
    header = read_ir_metadata(path)
    assert header["tag"] == "pinakes-bm25-1"
    assert header["actor"] == {"name": "A. Body: #1\u2028é", "role": "experimenter"}
    # what repro_eval compares, component by component
    components = {"platform", "research goal", "implementation", "method", "actor", "data"}
    assert components < header.keys()
    (method,) = header["method"]["retrieval"]
    assert (method["name"], method["depth"], method["params"]["k1"]) == ("bm25", 1000, 1.2)
    collection = header["data"]["test collection"]
    assert (collection["name"], collection["source"]) == (
        "synthetic",
        "pinakes load synthetic --papers 300 --seed 1",
    )
    assert [len(one["sha256"]) for one in header["data"]["other"]] == [64] * 4
    assert f"numpy=={np.__version__}" in header["platform"]["software"]["libraries"]["python"]
    assert header["implementation"]["executable"]["cmd"].startswith("pinakes run synthetic --system bm25")
    assert "imported" not in header


def read_ir_metadata(path: Path) -> dict[str, Any]:
    """The header as repro_eval's MetadataHandler reads it."""
    first, *lines = path.read_text(encoding="utf-8").split("\n")
    assert first == "# ir_metadata.start"
    end = lines.index("# ir_metadata.end")
    assert not any(line.startswith("#") for line in lines[end + 1 :])
    found: dict[str, Any] = yaml.safe_load("".join(line.strip("#") + "\n" for line in lines[:end]))
    return found


def test_the_header_of_an_imported_run_is_kept_and_its_lines_are_no_hits(
    prepared: Database, tmp_path: Path
) -> None:
    path = tmp_path / "run.txt"
    export_run(prepared, rank(prepared, tmp_path), path, with_provenance=True)
    back = import_run(prepared, ImportRequest("synthetic", "back", [path])).run_id
    found = gather_provenance(prepared, back)
    kept = found.run["made_with"]["ir_metadata"]
    assert yaml.safe_load("\n".join(kept)) == read_ir_metadata(path)
    again = tmp_path / "again.txt"
    export_run(prepared, back, again, with_provenance=True)
    assert read_ir_metadata(again)["imported"]["header"] == kept
    assert "cmd" not in read_ir_metadata(again).get("implementation", {}).get("executable", {})


@pytest.mark.parametrize(
    ("begin", "kept"),
    [
        ("# ir_metadata.start\n# tag: a\n# ir_metadata.end\n", ["tag: a"]),
        ("# ir_metadata.start\r\n#  b:\r\n# ir_metadata.end\r\n", [" b:"]),
        ("# ir_metadata.start\n# tag: a\n", ["tag: a"]),
        ("# something else\n", []),
        ("# ir_metadata.start\n" + "# x\n" * 20_000, [*["x"] * 16_379, "# (cut)"]),
    ],
    ids=["whole", "windows", "without-end", "other", "endless"],
)
def test_a_header_is_read_up_to_its_end_and_never_without_end(
    tmp_path: Path, begin: str, kept: list[str]
) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes((begin + "q1 Q0 p1 1 1.0 tag\n").encode())
    assert read_header(path) == kept


def test_exported_judgments_are_read_back_by_ir_measures(prepared: Database, tmp_path: Path) -> None:
    for benchmark, number in (("csfcube", 18), ("synthetic", 496)):
        path = tmp_path / f"{benchmark}.qrels"
        assert export_qrels(prepared, benchmark, path) == number
        judged = ir_measures.read_trec_qrels(str(path))  # type: ignore[no-untyped-call]
        read = [(one.query_id, one.doc_id, one.relevance) for one in judged]
        ours = [(row[0], row[2], row[1]) for row in read_named_rows(prepared, benchmark, "judgments")]
        assert sorted(read) == sorted(ours)
        assert len(read) == number


def test_an_export_that_cannot_be_written_is_refused_and_leaves_the_old_file(
    prepared: Database, tmp_path: Path
) -> None:
    run_id = rank(prepared, tmp_path, "scifact")
    with pytest.raises(InputError, match=r"cannot be written, and is as it was: .*it is not there"):
        export_run(prepared, run_id, tmp_path / "no folder" / "run.txt")
    path = tmp_path / "run.txt"
    path.write_text("old")
    change(prepared, "UPDATE papers SET source_id = 'p 1' WHERE source_id = 'p1'")
    with pytest.raises(InputError, match="the id 'p 1' holds white space"):
        export_run(prepared, run_id, path)
    with pytest.raises(InputError, match="the id 'p 1' holds white space"):
        export_qrels(prepared, "scifact", path)
    assert path.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir() if "run" in file.name) == ["run.txt"]


def test_a_run_that_is_not_there_is_not_exported(prepared: Database, tmp_path: Path) -> None:
    rank(prepared, tmp_path, "scifact")
    with pytest.raises(EvaluationError, match="there is no run 7; `pinakes export runs FILE` lists"):
        export_run(prepared, 7, tmp_path / "run.txt")
    assert count(prepared, "runs") == 1
