"""The command that says what an evaluation would take: `plan`."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions
from pinakes.errors import InputError

if TYPE_CHECKING:  # a command's help does not wait for them
    from pinakes.plan.model import Machines, Work

app = CommandGroup()

MOST_PAPERS: Final = 10**12
"""more than there are, and few enough for every sum"""


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """What is evaluated."""

    papers: Annotated[int, typer.Option(min=1, max=MOST_PAPERS, help="Papers of the corpus.")]
    citations: Annotated[float, typer.Option(min=0, help="Citations that a paper makes, in the mean.")] = 10.0
    text_bytes: Annotated[
        int, typer.Option(min=1, help="Bytes of title and abstract of a paper, in the mean.")
    ] = 1_212
    tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of the same for the encoder, as it cuts them.")
    ] = 256
    parameters: Annotated[
        float,
        typer.Option(
            min=0.001, help="Millions of parameters of the encoder's layers; 85: BERT-base, SPECTER2."
        ),
    ] = 85.0
    dimensions: Annotated[int, typer.Option(min=1, help="Dimensions of a vector.")] = 768
    queries: Annotated[int, typer.Option(min=1, help="Queries of the benchmark.")] = 3_800
    depth: Annotated[int, typer.Option(min=1, help="Papers kept of a ranking.")] = 500
    pools: Annotated[int, typer.Option(min=1, help="Pools in which every query is asked.")] = 1
    passes: Annotated[
        int, typer.Option(min=1, help="Passes over all papers for them: nested pools take one.")
    ] = 1

    def read(self) -> "Work":
        """The work as the model takes it."""
        from pinakes.plan.model import Work

        _require_finite(citations=self.citations, parameters=self.parameters)
        return Work(
            self.papers,
            self.citations,
            self.text_bytes,
            self.tokens,
            self.parameters * 1e6,
            self.dimensions,
            self.queries,
            self.depth,
            self.pools,
            self.passes,
        )


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """What it is evaluated on."""

    nodes: Annotated[int, typer.Option(min=1, help="Machines.")] = 1
    cores: Annotated[
        int | None, typer.Option(min=1, help="Cores of a machine. Default: those of this one.")
    ] = None
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of all machines together.")] = 0
    memory: Annotated[
        str | None, typer.Option(help="Memory of a machine, as 128GB. Default: that of this one.")
    ] = None
    network: Annotated[float, typer.Option(min=0.001, help="Network of a machine, in Gbit/s.")] = 10.0
    disk: Annotated[
        float | None, typer.Option(min=0.001, help="Free GB of the storage. Default: it is not checked.")
    ] = None
    disk_rate: Annotated[
        float, typer.Option(min=0.001, help="What the storage reads and writes, in MB/s.")
    ] = 500.0
    database: Annotated[
        Literal["duckdb", "postgresql"], typer.Option(help="Which database has the tables.")
    ] = "duckdb"
    most_hours: Annotated[
        float, typer.Option(min=0.001, help="Hours that a step of one process may take before it breaks.")
    ] = 24.0

    def read(self) -> "Machines":
        """The machines as the model takes them."""
        from os import cpu_count

        from pinakes.memory import measure_machine, read_memory
        from pinakes.plan.model import Machines

        _require_finite(network=self.network, disk=self.disk or 0.0, disk_rate=self.disk_rate)
        return Machines(
            self.nodes,
            self.cores or cpu_count() or 1,
            self.gpus,
            measure_machine() if self.memory is None else read_memory(self.memory),
            self.network * 1e9 / 8,
            self.disk_rate * 1e6,
            None if self.disk is None else int(self.disk * 1e9),
            self.database,
        )


def _require_finite(**given: float) -> None:
    for name, value in given.items():
        if not isfinite(value):
            raise InputError(f"--{name.replace('_', '-')} is {value}; expected a number.")


@dataclass(frozen=True, slots=True)
class RateOptions:
    """How fast the machines are taken to be."""

    rates: Annotated[
        Path | None,
        typer.Option(help="JSON file of rates in place of those of the manual, as --rates-to writes it."),
    ] = None
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure rates on this machine first, for about a minute.")
    ] = False
    rates_to: Annotated[
        Path | None, typer.Option(help="Measure, and write the rates to this file for --rates.")
    ] = None
    show_rates: Annotated[
        bool, typer.Option("--show-rates", help="Also a table of the rates, with where each is from.")
    ] = False


@app.command()
def plan(
    work: WorkOptions,
    machines: MachineOptions,
    rates: RateOptions,
    common: Annotated[CommonOptions, Omit("db", "wait", "memory")],
) -> None:
    """Say what an evaluation takes: time, memory, disk and network by step, and what would break first.

    Nothing of it is run. Each step says whether its rates were measured here, come from a file, were
    measured elsewhere (manual) or are assumed, and how far beyond the size of that measurement it goes.
    """
    from pinakes.plan.model import find_limits, predict
    from pinakes.plan.rates import RATES, read_rates, replace_rates, write_rates
    from pinakes.report.plan import print_plan

    is_measured = rates.measure or rates.rates_to is not None
    if is_measured and rates.rates is not None:
        raise typer.BadParameter("--rates excludes --measure and --rates-to.")
    asked, on = work.read(), machines.read()
    known = dict(RATES) if rates.rates is None else read_rates(rates.rates)
    if is_measured:
        from pinakes.plan.measure import measure_rates
        from pinakes.run.made_with import describe_machine

        known = replace_rates(measure_rates(asked, common.say))
        if rates.rates_to is not None:
            write_rates(rates.rates_to, known, describe_machine())
    limits = find_limits(asked, on, known, machines.most_hours * 3600)
    print_plan(asked, on, predict(asked, on, known), limits, known if rates.show_rates else {}, common.output)
