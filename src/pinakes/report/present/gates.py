"""What `evaluate --fail-on-drop` and `accept` have to say."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Final

from pinakes.errors import EvaluationError, RegressionError
from pinakes.evaluate.accept import Accepted
from pinakes.evaluate.each import Failure
from pinakes.evaluate.gates import Checked, Drop
from pinakes.queries.definition import MODES
from pinakes.report.formatting import format_difference, format_p, format_value
from pinakes.report.output import Output
from pinakes.report.present.failures import list_failures
from pinakes.report.terminal import print_records

MOST_TOLD: Final = 20
"""how many drops a message tells; it counts all"""


def require_level(checked: Checked, failed: Sequence[Failure], say: Callable[[str], None]) -> None:
    """Say what was compared, and what could not be tested.

    Raises `RegressionError` where a value fell, which tells each drop with what changed, and what failed.
    """
    for line in checked.untested:
        say(line)
    every_failed = [*failed, *checked.failed]
    if not checked.drops:
        say(f"{checked.compared} values compared with the accepted ones: none dropped")
        if checked.failed:
            raise EvaluationError(list_failures(every_failed))
        return
    lines = [f"{len(checked.drops)} of {checked.compared} values are worse than what was accepted."]
    told = sorted(checked.drops, key=_order)
    for drop in told[:MOST_TOLD]:
        lines += _describe_drop(drop)
    if len(told) > MOST_TOLD:
        lines.append(f"… and {len(told) - MOST_TOLD} more.")
    named = dict.fromkeys(drop.benchmark for drop in told)
    commands = f"`pinakes accept {next(iter(named))}`" if len(named) == 1 else "`pinakes accept BENCHMARK`"
    lines.append(f"Where that is right, {commands} accepts the scores as they are.")
    lines += [list_failures(every_failed)] if every_failed else []
    raise RegressionError("\n".join(lines))


def _order(drop: Drop) -> tuple[float, str, str]:
    """The farthest fall first; what is gone before all."""
    fell = float("inf") if drop.value is None or drop.value != drop.value else drop.accepted - drop.value
    is_turned = drop.lower_is_better and fell != float("inf")
    return (fell if is_turned else -fell, drop.benchmark, drop.system)


def _describe_drop(drop: Drop) -> Iterator[str]:
    mode = f", {drop.mode}" if drop.mode != MODES[0] else ""
    run = f"run {drop.run_id}" if drop.run_id is not None else "no run"
    before = format_value(drop.accepted, "share", drop.measure)
    if drop.value is None:
        change = f"{before} → nothing"
    else:
        now = format_value(drop.value, "share", drop.measure)
        fell = format_difference(drop.value - drop.accepted, "share", drop.measure)
        lower = ", lower is better" if drop.lower_is_better else ""
        change = f"{before} → {now} ({fell}{lower}" + (")" if drop.p is None else f", p {format_p(drop.p)})")
    yield f"{drop.benchmark}, {drop.measure}, {drop.system}{mode} ({run}): {change}"
    yield from (f"    {cause}" for cause in drop.causes)


def print_accepted(accepted: Sequence[Accepted], out: Output) -> None:
    """The accepted values, a row each, with those that they take the place of."""
    print_records([asdict(one) for one in accepted], out)
