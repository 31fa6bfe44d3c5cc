"""Evaluations as events: what is stored of each, what `--changed` leaves out, and what gates find."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pinakes.cli import run_command
from pinakes.database import Database, connect
from pinakes.evaluate.evaluate import evaluate
from pinakes.run.import_run import ImportRequest, import_run
from tests.benching import change

HALF = "q1 Q0 p1 1 0.9 t\nq1 Q0 p2 2 0.8 t\n"
TURNED = "q1 Q0 p2 1 0.9 t\nq1 Q0 p1 2 0.8 t\n"
START = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def bring(database: Database, folder: Path, text: str = HALF, system: str = "theirs") -> int:
    path = folder / f"{system}-{abs(hash(text))}.txt"
    path.write_text(text)
    return import_run(database, ImportRequest("scifact", system, [path])).run_id


def rows(database: Database, query: str) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(query)


def count(database: Database, table: str) -> int:
    return int(rows(database, f"SELECT COUNT(*) AS n FROM {table}")[0]["n"])


def test_smoke(prepared: Database, tmp_path: Path) -> None:
    run_id = bring(prepared, tmp_path)
    (result,) = evaluate(prepared, "scifact", clock=lambda: START)
    assert result.accepted
    before = count(prepared, "evaluation_scores")
    assert before == len(result.aggregates())
    assert evaluate(prepared, "scifact", only_changed=True) == []
    evaluate(prepared, "scifact")
    assert count(prepared, "evaluations") == 2
    assert count(prepared, "evaluation_scores") == before
    change(prepared, "UPDATE judgments SET grade = 0 WHERE query_id = 'q1'")
    (result,) = evaluate(prepared, "scifact", only_changed=True)
    assert result.run_id == run_id
    from pinakes.evaluate.gates import check_gates, read_gate

    found = check_gates(prepared, ["scifact"], [read_gate("0.01"), read_gate("significant")])
    print(found)
    from pinakes.evaluate.accept import accept

    print(accept(prepared, "scifact"))
    print(check_gates(prepared, ["scifact"], [read_gate("0.01"), read_gate("significant")]))
    print(rows(prepared, "SELECT * FROM score_history"))
