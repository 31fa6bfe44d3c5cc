"""Runs of a benchmark that asks any corpus: of one mode, the newest of each system on each corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.queries.definition import Benchmark
from pinakes.report.data import RunRow
from pinakes.report.runs import choose_mode, describe_runs
from pinakes.run.stored_runs import find_runs, select_newest


@dataclass(frozen=True, slots=True)
class AskedRun:
    """A run with the corpus that it asked, and the producers of the rows that it asked with."""

    row: RunRow
    corpus: str
    producers: tuple[str, ...]

    @property
    def run_id(self) -> int:
        """Its id."""
        return self.row.run_id

    @property
    def label(self) -> str:
        """The system, and what tells it from its namesakes on the same corpus."""
        return self.row.label

    @property
    def name(self) -> str:
        """A name that no other run of the report has."""
        return f"{self.label} on {self.corpus}"


def choose_asked(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int] = (),
    *,
    all_runs: bool = False,
    mode: str | None = None,
) -> tuple[list[AskedRun], int, str]:
    """The runs by corpus, oldest first; how many older ones are left out; and the mode of all.

    Raises:
        EvaluationError: there is none, or not one of those that were named, or these are of two modes.
    """
    found = choose_mode(benchmark, find_runs(database, benchmark.name, run_ids), mode, bool(run_ids))
    nowhere = [row["run_id"] for row in found if not row["corpus"]]
    if nowhere:
        raise EvaluationError(f"run {nowhere[0]} of {benchmark.name} does not say which corpus it asked.")
    chosen: list[AskedRun] = []
    for corpus, rows in groupby(sorted(found, key=_place), key=lambda row: str(row["corpus"])):
        of_corpus = list(rows)
        newest = of_corpus if run_ids or all_runs else select_newest(of_corpus)
        producers = {row["run_id"]: tuple((row["variants"] or "").splitlines()) for row in newest}
        described = describe_runs(database, benchmark, newest)
        chosen += [AskedRun(run, corpus, producers[run.run_id]) for run in described]
    return chosen, len(found) - len(chosen), str(found[0]["mode"])


def _place(row: Mapping[str, Any]) -> tuple[str, int]:
    return str(row["corpus"]), int(row["run_id"])
