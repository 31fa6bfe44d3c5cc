"""The benchmark of textual neighbours: its two loops make the same of papers that have both texts."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from tests.wordnets import build_wordnet

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path / "wordnet")))
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("neighbours_benchmark", BENCHMARKS / "neighbours.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "neighbours_benchmark", module)
    spec.loader.exec_module(module)
    return module


def test_tagging_anew_for_every_code_makes_the_same_neighbours(benchmark: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl"
    rows = [
        {"title": "Deep graph models", "abstract": "We train a deep model. It is robust. Graphs help it."},
        {"title": "No abstract", "abstract": None},
        {"title": "Citation graphs", "abstract": "Graphs are common."},
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    papers = benchmark.read_papers([file], 10)
    assert [title for _, title, _ in papers] == ["Deep graph models", "Citation graphs"]
    settings = benchmark.prepare(papers)
    for paper in papers:
        once = benchmark.tag_once(paper, settings)
        assert len(once) == 32
        assert benchmark.tag_anew(paper, settings) == once
