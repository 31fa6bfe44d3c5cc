"""Runs and judgments as files: read back, they give the same."""

from pathlib import Path

import ir_measures
import pytest

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.run.export_qrels import export_qrels
from pinakes.run.export_run import export_run
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from tests.benching import change, count, read_hits, read_named_rows


def rank(database: Database, tmp_path: Path, benchmark: str = "synthetic") -> int:
    options = SystemOptions(tmp_path / "indexes")
    index(database, benchmark, "bm25", options=options)
    return run(database, RunRequest(benchmark, "bm25", options)).run_id


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
    export_run(prepared, run_id, path, with_provenance=True)
    header = dict(line[2:].split(": ", 1) for line in path.read_text().splitlines() if line.startswith("# "))
    assert (header["benchmark"], header["system"], header["paper_template"], header["depth"]) == (
        "synthetic",
        "bm25",
        "title_abstract",
        "1000",
    )
    assert {"parameters", "dataset_digest", "view_digest", "code_version"} < header.keys()
    assert not {"precision", "imported_from"} & header.keys()


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
