"""One table of all benchmarks: scripts that fail are named, the others stand in it and in the history."""

import json
import sys
from collections.abc import Callable
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


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str, **scripts: str) -> int:
    """The exit code of the driver with these options over scripts of that content."""
    driver = import_benchmark("all")
    monkeypatch.setattr(driver, "HERE", folder)
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    words = ["--only", *scripts, "--output", str(folder / "out"), "--history", str(folder / "history.jsonl")]
    monkeypatch.setattr(sys, "argv", ["all.py", *options, *words])
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


COUNTED = GOOD + 'open(__file__ + ".runs", "a").write("run\\n")\n'


def read_checkout(commit: str, changed: bool = False) -> Callable[[Path], dict[str, Any]]:
    """What says that this commit is checked out."""
    return lambda _: {"commit": commit, "changed": changed}


@pytest.mark.parametrize(
    ("words", "first", "then", "runs"),
    [
        ((), read_checkout("a1"), read_checkout("a1"), 1),
        (("--again",), read_checkout("a1"), read_checkout("a1"), 2),
        (("--full",), read_checkout("a1"), read_checkout("a1"), 2),
        ((), read_checkout("a1"), read_checkout("b2"), 2),
        ((), read_checkout("a1", changed=True), read_checkout("a1", changed=True), 2),
        ((), read_checkout(""), read_checkout(""), 2),  # no git
    ],
)
def test_started_again_it_runs_the_scripts_that_are_left(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    first: Callable[[Path], dict[str, Any]],
    then: Callable[[Path], dict[str, Any]],
    runs: int,
) -> None:
    driver = import_benchmark("all")
    monkeypatch.setitem(driver.READERS, "load", driver.READERS["site"])
    monkeypatch.setattr(driver, "read_commit", first)
    assert run(monkeypatch, tmp_path, site=COUNTED, load=BAD) == 1
    monkeypatch.setattr(driver, "read_commit", then)
    assert run(monkeypatch, tmp_path, *words, site=COUNTED, load=GOOD) == 0
    counted = tmp_path / "site.py.runs"
    assert len(counted.read_text().splitlines()) == runs
    newest = json.loads((tmp_path / "history.jsonl").read_text().splitlines()[-1])
    assert [row["script"] for row in newest["rows"]] == ["site", "load"]
    assert run(monkeypatch, tmp_path, *words, site=COUNTED, load=GOOD) == 0  # that one had ended
    assert len(counted.read_text().splitlines()) == runs + 1


def test_every_script_is_in_the_table() -> None:
    scripts = {file.stem for file in BENCHMARKS.glob("[a-z]*.py")} - {
        "all",
        "cluster",
        "cluster_scale",
        "gpu",
        "methods",
    }
    assert scripts == set(import_benchmark("_compared").READERS)


SIZED = """
import json, sys
file, size = (sys.argv[sys.argv.index(name) + 1] for name in ("--json", "--papers"))
seconds = {"1000": 1.0, "10000": 10.0, "100000": 300.0}[size]
rows = [{"visit": "first", "seconds": seconds}, {"visit": "again", "seconds": int(size) / 1e4}]
json.dump({"queries": 3, "rows": rows}, open(file, "w"))
"""


def grow(monkeypatch: pytest.MonkeyPatch, folder: Path, *sizes: int) -> int:
    """The exit code of growth over one script at those sizes; what it keeps is `folder/growth.jsonl`."""
    driver = import_benchmark("all")
    monkeypatch.setattr(driver, "HERE", folder)
    monkeypatch.setitem(driver.SIZE_OPTIONS, "site", "--papers")
    (folder / "site.py").write_text(SIZED)
    words = ["--growth", "--only", "site", "--sizes", *map(str, sizes)]
    files = ["--output", str(folder / "out"), "--growth-file", str(folder / "growth.jsonl")]
    monkeypatch.setattr(sys, "argv", ["all.py", *words, *files])
    with pytest.raises(SystemExit) as ended:
        driver.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_growth_draws_every_row_of_two_sizes_and_prints_where_it_bends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grow(monkeypatch, tmp_path, 1_000, 10_000) == 0
    assert "exponent" not in capsys.readouterr().out
    assert grow(monkeypatch, tmp_path, 100_000) == 0  # the others are drawn as they were measured
    printed = capsys.readouterr().out
    assert "site: site, first  pinakes  10000  100000  1.48" in printed
    assert "again" not in printed
    assert (tmp_path / "out" / "growth.png").stat().st_size > 1000
    assert grow(monkeypatch, tmp_path, 10_000, 7) == 1
    assert "site at 7: exit code 1: KeyError: '7'" in capsys.readouterr().err
    kept = [json.loads(line) for line in (tmp_path / "growth.jsonl").read_text().splitlines()]
    assert [one["size"] for one in kept] == [1_000, 10_000, 100_000]
    found = import_benchmark("_growth").list_panels(kept)
    assert found["site: site, first"] == {"pinakes": [(1_000, 1000.0), (10_000, 1000.0), (100_000, 3000.0)]}


def test_growth_joins_no_points_of_two_machines() -> None:
    row = {"what": "site, first", "ours_s": 1.0}
    one = {"script": "site", "size": 1_000, "quick": True, "rows": [row]}
    entries = [
        {**one, "date": "2026-01-02T00:00:00+00:00", "machine": {"cores": 2}},
        {**one, "size": 10_000, "date": "2026-01-03T00:00:00+00:00", "machine": {"cores": 2}},
        {**one, "size": 100_000, "date": "2026-01-01T00:00:00+00:00", "machine": {"cores": 4}},
        {**one, "script": "load", "date": "2026-01-01T00:00:00+00:00", "machine": {"cores": 4}},
    ]
    found = import_benchmark("_growth").list_panels(entries)
    assert found == {
        "site: site, first": {"pinakes": [(1_000, 1000.0), (10_000, 100.0)]},
        "load: site, first": {"pinakes": [(1_000, 1000.0)]},
    }
