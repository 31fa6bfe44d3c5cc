"""The benchmark of the large-scale evaluation runs every step, and its figures are those of the run."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def mdcr(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import mdcr as module  # type: ignore[import-not-found, unused-ignore]

    return module


@pytest.mark.long
def test_every_step_is_a_row_and_the_shares_add_up(
    mdcr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    requested = ["--papers", "1500", "--encoder", "none", "--threads", "1", "--json", str(target)]
    monkeypatch.setattr(sys, "argv", ["mdcr.py", *requested, "--folder", str(tmp_path / "work")])
    mdcr.main()
    written = json.loads(target.read_text())
    steps = [row["step"] for row in written["rows"]]
    assert steps[:2] == ["write the release", "load"]
    assert set(mdcr.POOL_STEPS) < set(steps)
    assert sum(row["share"] for row in written["rows"]) == pytest.approx(1.0)
    sql_s = sum(row["s"] for row in written["rows"] if row["step"] in mdcr.POOL_STEPS)
    assert written["pool-building SQL s"] == pytest.approx(sql_s)
    assert all(row["peak MiB"] > 10 for row in written["rows"])
    assert (tmp_path / "work" / "pools" / "mdcr_test.json").is_file()


def test_a_step_that_fails_ends_the_benchmark(mdcr: Any, tmp_path: Path) -> None:
    steps = mdcr.Steps(f"duckdb:///{tmp_path / 'none.duckdb'}", tmp_path)
    with pytest.raises(SystemExit, match="evaluate ended with exit code"):
        steps.pinakes("evaluate", "evaluate", "large_scale")
