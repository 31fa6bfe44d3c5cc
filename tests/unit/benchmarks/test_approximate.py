"""The benchmark of approximate search measures what it says: recall by score, against exact search."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def approximate(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import approximate  # type: ignore[import-not-found, unused-ignore]

    return approximate


def test_each_kind_stands_beside_exact_search(
    approximate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requested = "--rows 400 --dims 16 --queries 7 --threads 1 --no-postgres --kinds flat,hnsw"
    files = ["--json", str(tmp_path / "out.json"), "--plot", str(tmp_path / "out.svg")]
    monkeypatch.setattr(sys, "argv", ["approximate.py", *requested.split(), *files])
    approximate.main()
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["system"] for row in written["rows"]] == ["exact", "faiss flat", *["faiss hnsw"] * 4]
    assert [row["recall@10"] for row in written["rows"]][:2] == [1.0, 1.0]
    assert written["rows"][0]["ratio exact"] == 1.0
    assert (written["rows_requested"], written["dimensions"], written["queries"]) == (400, 16, 7)
    assert "ratio exact" in capsys.readouterr().out
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")


def test_recall_counts_hits_as_good_as_the_tenth(approximate: Any) -> None:
    best = np.array([[0.9] * 5 + [0.5] * 5], np.float32)
    found = [np.array([0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.4], np.float32)]
    assert approximate.mean_recall(found, best) == 0.6


def test_the_first_vectors_are_the_same_however_many_follow(approximate: Any) -> None:
    few, more = (approximate.make_matrix(rows, 8, seed=3) for rows in (5, 70_000))
    assert few.tobytes() == more[:5].tobytes()
    assert more.shape == (70_000, 8)
    assert np.linalg.norm(more, axis=1) == pytest.approx(1.0, abs=1e-6)
