"""Benchmarks scored one after another: what fails is named, and the others go on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import DatabaseBusyError, PinakesError
from pinakes.evaluate.evaluate import RunScores, evaluate
from pinakes.progress import say_nothing
from pinakes.schema import runs
from pinakes.tasks.base import describe_unjudged

Report = Callable[[str], None]
"""takes a line on what is done"""


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be done, and why."""

    benchmark: str
    system: str
    reason: str


@dataclass(frozen=True, slots=True)
class EachScored:
    """What became of benchmarks that have runs: the scores computed now, by benchmark; and failures."""

    scored: dict[str, list[RunScores]]
    failed: list[Failure]


def evaluate_each(
    database: Database, names: Sequence[str], *, only_changed: bool = False, report: Report = say_nothing
) -> EachScored:
    """Score every run of each of the benchmarks, one after another; `only_changed` as `evaluate` has it."""
    scored: dict[str, list[RunScores]] = {}
    failed = []
    for benchmark in names:
        try:
            scored[benchmark] = evaluate(database, benchmark, only_changed=only_changed)
        except DatabaseBusyError:
            raise
        except PinakesError as error:
            failed.append(Failure(benchmark, "", str(error)))
            report(f"{benchmark} failed")
            continue
        for one in [result.unjudged for result in scored[benchmark][:1] if result.unjudged.query_ids]:
            report(f"{benchmark}: {describe_unjudged(one)}; they are left out of every score")
    return EachScored(scored, failed)


def list_run(database: Database, members: Sequence[str] | None = None) -> list[str]:
    """The benchmarks that have a run: of those given, in their order; or all of them, by name."""
    with database.read() as session:
        rows = session.rows(sa.select(runs.c.benchmark).distinct())
    found = {str(row["benchmark"]) for row in rows}
    return [name for name in (sorted(found) if members is None else members) if name in found]
