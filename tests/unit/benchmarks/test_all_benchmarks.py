"""One table of all benchmarks: scripts that fail are named, the others stand in it and in the history."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.releases import BENCHMARKS, import_benchmark

GOOD = """
import json, sys
file = sys.argv[sys.argv.index("--json") + 1]
rows = [{"visit": "first", "seconds": 2.0}]
json.dump({"queries": 3, "rows": rows}, open(file, "w"))
"""
BAD = "import sys; sys.exit('no such thing')"


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, **scripts: str) -> int:
    """The exit code of the driver over scripts of that content."""
    driver = import_benchmark("all")
    monkeypatch.setattr(driver, "HERE", folder)
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    words = ["--only", *scripts, "--output", str(folder / "out"), "--history", str(folder / "history.jsonl")]
    monkeypatch.setattr(sys, "argv", ["all.py", *words])
    with pytest.raises(SystemExit) as ended:
        driver.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_script_that_fails_is_named_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, load=BAD, site=GOOD) == 1
    told = capsys.readouterr().out
    assert [line.split()[-4:] for line in told.splitlines() if "FAILED" in line] == [
        ["FAILED:", "exit", "code", "1"]
    ]
    assert "exit code 1: no such thing" in told
    assert run(monkeypatch, tmp_path, site=GOOD) == 0
    entries: list[dict[str, Any]] = [
        json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()
    ]
    assert [one["failed"] for one in entries] == [["load"], []]
    for one in entries:
        assert [(row["what"], row["ours s"]) for row in one["rows"]] == [("site, first", 2.0)]
        assert {"processor", "cores", "memory_gib", "cpu_flags"} == set(one["machine"])
        assert str(tmp_path) not in json.dumps(one)
    assert json.loads((tmp_path / "out" / "all.json").read_text())["rows"] == entries[-1]["rows"]
    assert (tmp_path / "out" / "history.png").stat().st_size > 1000


def test_every_script_is_in_the_table() -> None:
    scripts = {file.stem for file in BENCHMARKS.glob("[a-z]*.py")} - {
        "all",
        "cluster",
        "cluster_scale",
        "gpu",
        "methods",
    }
    assert scripts == set(import_benchmark("_compared").READERS)


def test_growth_draws_every_row_of_two_sizes_and_prints_where_it_bends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for size, seconds in ((1_000, 1.0), (10_000, 10.0), (100_000, 300.0)):
        rows = [{"visit": "first", "seconds": seconds}, {"visit": "again", "seconds": size / 1e4}]
        (tmp_path / f"site-{size}.json").write_text(json.dumps({"queries": 3, "rows": rows}))
    (tmp_path / "site-latest.json").write_text("no benchmark's")
    growth = import_benchmark("_growth")
    found = growth.read_folder(tmp_path)
    assert found["site: site, first"] == {"pinakes": [(1_000, 1000.0), (10_000, 1000.0), (100_000, 3000.0)]}
    growth.draw_folder(tmp_path, tmp_path / "growth.png")
    printed = capsys.readouterr().out
    assert "site: site, first  pinakes  10000  100000  1.48" in printed
    assert "again" not in printed
    assert (tmp_path / "growth.png").stat().st_size > 1000
