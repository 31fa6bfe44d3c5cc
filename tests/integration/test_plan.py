"""`pinakes plan` as a command: what it prints, in each form, what it refuses, and rates that are measured."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pinakes.cli import run_command
from pinakes.cli.codes import ExitCode
from pinakes.plan import measure
from pinakes.plan.model import Work
from pinakes.plan.random_encoder import write_random_encoder
from pinakes.plan.rates import RATES

LOADED = """
import sys
from pinakes.cli import run_command
code = run_command(["plan", "--papers", "1000", "--json"])
heavy = {"torch", "transformers", "ray", "faiss", "numba", "scipy"}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def plan(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run_command(["plan", *words, "--json", "-q"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_the_plan_of_the_issue_has_each_step_and_what_breaks_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = plan(
        capsys, "--papers", "200000000", "--gpus", "8", "--nodes", "4", "--cores", "16", "--memory", "128GB"
    )
    steps = {step["step"]: step for step in found["steps"]}
    assert list(steps) == [
        "load",
        "index, sparse_bm25",
        "encode",
        "vectors in fragments",
        "exact search",
        "ranking, sparse_bm25",
        "pools in SQL",
        "construction in SQL",
        "hits stored and scored",
    ]
    assert found["seconds"] == pytest.approx(sum(step["seconds"] for step in steps.values()))
    assert steps["encode"]["bound"] == "GPU"
    assert steps["encode"]["disk_bytes"] == 200_000_000 * 768 * 4
    assert steps["encode"]["rates"] == "assumed"
    assert found["limits"][0]["what"] in found["first"]
    assert f"{found['limits'][0]['papers']:,}" in found["first"]
    assert found["machines"]["memory"] == 128_000_000_000
    assert found["rates"] == []


def test_tables_and_csv_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_command(["plan", "--papers", "2000000", "--cores", "2", "--memory", "24GB", "--wide", "-q"]) == 0
    )
    shown = capsys.readouterr().out
    assert "2,000,000 papers" in shown
    assert "would break first: from" in shown
    assert (
        run_command(["plan", "--papers", "2000000", "--cores", "2", "--memory", "24GB", "--csv", "-q"]) == 0
    )
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["table"] for row in rows} == {"summary", "steps", "limits"}
    (load,) = (row for row in rows if row["table"] == "steps" and row["step"] == "load")
    assert f"{float(load['seconds']):,.1f}" in shown


def test_a_plan_reaches_for_nothing_that_computes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_rates_of_a_file_change_the_plan_and_say_that_they_are_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rates.json"
    rates = {"encode_gpu_tflops": 732, "torch_bytes": 1e9, "encoder_memory": 6, "encoder_s": 3.7}
    rates |= {"cache_paper_memory": 2600, "tokenise_us": 0.01}
    file.write_text(json.dumps({"rates": {name: {"value": value} for name, value in rates.items()}}))
    usual = plan(capsys, "--papers", "2000000", "--gpus", "1", "--cores", "64")
    given = plan(
        capsys, "--papers", "2000000", "--gpus", "1", "--cores", "64", "--rates", str(file), "--show-rates"
    )
    slow, fast = (next(s for s in one["steps"] if s["step"] == "encode") for one in (usual, given))
    assert fast["seconds"] - 3.7 == pytest.approx((slow["seconds"] - 3.7) / 2)
    assert (slow["rates"], fast["rates"]) == ("assumed", "file")
    assert {one["rate"]: one["origin"] for one in given["rates"]}["encode_gpu_tflops"] == "file"
    assert len(given["rates"]) == len(RATES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--papers", "0"], "papers"),
        (["--papers", "10", "--nodes", "0"], "nodes"),
        (["--papers", "1000000000001"], "papers"),
        (["--papers", "10", "--citations", "inf"], "--citations is inf"),
        (["--papers", "10", "--disk", "inf"], "--disk is inf"),
        (["--papers", "10", "--memory", "much"], "expected a size"),
        (["--papers", "10", "--database", "sqlite"], "sqlite"),
        (["--papers", "10", "--rates", "none.json"], "cannot be read"),
        (["--papers", "10", "--rates", "none.json", "--measure"], "excludes"),
        ([], "papers"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["plan", *words]) in (ExitCode.FAILED, ExitCode.USAGE)
    assert said in capfd.readouterr().err


def test_a_corpus_without_citations_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(capsys, "--papers", "1", "--citations", "0")
    assert all(step["seconds"] > 0 for step in found["steps"])


def test_rates_are_measured_written_and_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "SIZES", (100, 300))
    monkeypatch.setattr(measure, "VECTORS", 500)
    monkeypatch.setattr(measure, "VECTOR_QUERIES", 20)
    monkeypatch.setattr(measure, "TEXT_QUERIES", 20)
    monkeypatch.setattr(measure, "ENCODE_S", 0.01)
    file = tmp_path / "rates.json"
    small = ("--papers", "1000", "--dimensions", "16", "--parameters", "0.006", "--tokens", "8")
    found = plan(capsys, *small, "--rates-to", str(file), "--show-rates")
    origins = {one["rate"]: one["origin"] for one in found["rates"]}
    measured = {name for name, origin in origins.items() if origin == "measured"}
    assert measured == {
        "load_paper_us",
        "load_citation_us",
        "terms_us",
        "index_us",
        "index_bytes",
        "rank_ns",
        "rank_query_us",
        "search_core_gflops",
        "search_query_us",
        "encode_core_gflops",
    }
    content = json.loads(file.read_text(encoding="utf-8"))
    assert set(content["rates"]) == measured
    assert {"processor", "cores", "memory_gb"} <= set(content["machine"])
    assert str(tmp_path) not in file.read_text(encoding="utf-8")
    again = plan(capsys, *small, "--rates", str(file))
    assert [step["seconds"] for step in again["steps"]] == [step["seconds"] for step in found["steps"]]


def test_what_is_not_installed_is_not_measured_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SIZES", (100, 150))
    monkeypatch.setattr(measure, "list_missing", lambda packages: ["torch"] if "torch" in packages else [])
    said: list[str] = []
    rates = measure.measure_rates(Work(10), said.append)
    assert "not measured: encoding, which needs torch" in said
    assert "not measured: exact search, which needs torch" in said
    assert {"load_paper_us", "rank_ns"} <= set(rates)
    assert not {"encode_core_gflops", "search_core_gflops"} & set(rates)


def test_the_made_up_encoder_has_the_shape_that_was_asked_for(tmp_path: Path) -> None:
    from pinakes.indexers.encoder.encode import encode_texts
    from pinakes.indexers.encoder.model import load_encoder
    from pinakes.indexers.encoder.presets import resolve_model

    count = write_random_encoder(tmp_path / "encoder", 16, 3, ["graph", "paper"])
    assert count == 12 * 16**2 * 3
    encoder: Any = load_encoder(resolve_model(tmp_path / "encoder"), "fp32")
    layers = [tensor for name, tensor in encoder.model.named_parameters() if ".layer." in name]
    assert sum(tensor.numel() for tensor in layers if tensor.ndim == 2) == count
    (batch,) = encode_texts(encoder, [(1, "graph paper graph")])
    assert batch.vectors.shape == (1, 16)
    assert batch.tokens == 5  # a token each, and the two of BERT
