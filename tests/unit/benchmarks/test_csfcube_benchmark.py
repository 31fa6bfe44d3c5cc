"""The benchmark of CSFCube runs its steps on both databases and compares what they ranked, row by row."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benching import write_csfcube

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def csfcube(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import csfcube as module  # type: ignore[import-not-found, unused-ignore]

    return module


@pytest.mark.long
def test_rankings_and_scores_are_compared_between_databases(
    csfcube: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    monkeypatch.setattr(csfcube, "WITHOUT_ENCODERS", ("fabs_tfidf", "fabs_bm25"))
    target = tmp_path / "out.json"
    release = write_csfcube(tmp_path / "release")
    requested = ["--quick", "--release", str(release), "--postgres", postgres_url, "--json", str(target)]
    monkeypatch.setattr(sys, "argv", ["csfcube.py", *requested])
    csfcube.main()
    written = json.loads(target.read_text())
    assert written["baselines"] == {"fabs_tfidf": "run 1", "fabs_bm25": "run 2"}
    compared = {name: said for name, said in written.items() if name.endswith(" as of DuckDB")}
    assert len(compared) == 4
    assert all(said.endswith("rows, the same") and not said.startswith("0 ") for said in compared.values())
    assert written["of the limit of one minute"] > 0


def test_a_release_that_is_not_there_is_told(
    csfcube: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["csfcube.py", "--release", str(tmp_path / "none")])
    csfcube.main()
    assert "give the release's folder with --release" in capsys.readouterr().err
