"""The benchmark of probes measures both, compares what they predict, and says what it extrapolates."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.mark.long
def test_both_are_measured_and_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import probes  # type: ignore[import-not-found, unused-ignore]

    target, plot = tmp_path / "out.json", tmp_path / "plot.png"
    sizes = ["--sizes", "600", "--dims", "6", "--classes", "3"]
    labels = ["--peer-labels", "2", "--threads", "2", "--json", str(target), "--plot", str(plot)]
    monkeypatch.setattr(sys, "argv", ["probes.py", *sizes, *labels])
    monkeypatch.setattr("os.cpu_count", lambda: 2)  # which the benchmark sets
    probes.main()
    written = json.loads(target.read_text())
    assert [row["papers"] for row in written["rows"]] == [600]
    assert [row["same C"] for row in written["rows"]] == ["2 of 2"]
    assert written["rows"][0]["same predictions"] == "2000 of 2000"
    assert written["rows"][0]["ratio"] > 0
    assert written["peer_labels_timed"] == "2 of 3; seconds for all are extrapolated"
    assert plot.read_bytes()[:4] == b"\x89PNG"
