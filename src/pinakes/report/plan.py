"""What `pinakes plan` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from pinakes.report.for_programs import print_data
from pinakes.report.output import Output
from pinakes.report.terminal import make_record_table, print_tables

if TYPE_CHECKING:  # the caller has them
    from pinakes.plan.model import Limit, Machines, Step, Work
    from pinakes.plan.rates import Rate


def print_plan(
    work: "Work",
    machines: "Machines",
    steps: Sequence["Step"],
    limits: Sequence["Limit"],
    rates: Mapping[str, "Rate"],
    out: Output,
) -> None:
    """Steps, what breaks and, where any are given, rates: as tables in GB, for programs in bytes."""
    seconds = sum(step.seconds for step in steps)
    first = describe_first(limits)
    if out.is_for_programs:
        content = {
            "work": asdict(work),
            "machines": asdict(machines),
            "seconds": seconds,
            "first": first,
            "steps": [asdict(step) for step in steps],
            "limits": [asdict(limit) for limit in limits],
            "rates": [{"rate": name, **asdict(rate)} for name, rate in rates.items()],
        }
        print_data(content, out)
        return
    title = f"{work.papers:,} papers, {seconds / 3600:,.2f} hours in all"
    tables = [
        make_record_table(
            [_show_step(step) for step in steps], lead=("step", "seconds", "bound by", "rates"), title=title
        ),
        make_record_table(
            [{**asdict(limit), "papers": f"{limit.papers:,}"} for limit in limits],
            title="What breaks, and from how many papers on",
        ),
    ]
    if rates:
        listed = [
            {"rate": name, **asdict(rate), "value": f"{rate.value:,.6g}"} for name, rate in rates.items()
        ]
        tables.append(make_record_table(listed, lead=("rate", "value", "unit", "origin"), title="Rates"))
    print_tables(tables, out, warnings=[first])


def _show_step(step: "Step") -> dict[str, object]:
    return {
        "step": step.step,
        "seconds": f"{step.seconds:,.1f}",
        "bound by": step.bound,
        "rates": step.rates,
        "times beyond": f"{step.beyond:,.3g}",
        "driver GB": f"{step.driver_bytes / 1e9:,.1f}",
        "worker GB": f"{step.worker_bytes / 1e9:,.1f}",
        "workers a machine": step.workers,
        "disk GB": f"{step.disk_bytes / 1e9:,.1f}",
        "network GB": f"{step.network_bytes / 1e9:,.1f}",
        "assumed": ", ".join(step.assumed),
    }


def describe_first(limits: Sequence["Limit"]) -> str:
    """What breaks first, in words; that nothing breaks yet, where it does not."""
    first = limits[0]
    breaks = "breaks first" if first.reached else "would break first"
    return f"{first.what} {breaks}: from {first.papers:,} papers on"
