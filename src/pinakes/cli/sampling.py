"""The commands that make benchmarks and pools: `new-benchmark`, `sample`, `construct`, `export-pools`."""

import shlex
from dataclasses import asdict, field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pinakes.cli.option_sets import CommandGroup
from pinakes.cli.options import BenchmarkName, CommonOptions, RunIds
from pinakes.sample.options import declared_options

app = CommandGroup()


def _declare_flags() -> list[tuple[str, Any, Any]]:
    """Name, annotation and default of every option that `sample.options` declares."""
    return [
        (
            flag,
            Annotated[
                list[type_] | None if may_repeat else type_ | None,  # type: ignore[valid-type]
                typer.Option(help=option.help, min=option.minimum),
            ],
            field(default=None),
        )
        for flag, type_, may_repeat, option in declared_options().values()
    ]


SampleFlags = make_dataclass("SampleFlags", _declare_flags(), frozen=True, slots=True)


@app.command("new-benchmark")
def new_benchmark(
    corpus: Annotated[str, typer.Argument(help="A loaded corpus with queries and judgments.")],
    name: Annotated[str | None, typer.Option(help="The benchmark's name. Default: the corpus's.")] = None,
    split: Annotated[
        str | None, typer.Option(help="Whose judgments count. Default: test, or the only one.")
    ] = None,
    folder: Annotated[Path, typer.Option(help="The folder of benchmarks.")] = Path("benchmarks"),
    *,
    common: CommonOptions,
) -> None:
    """Write the folder of a benchmark that ranks a corpus for its judged queries."""
    from pinakes.sample.new_benchmark import make_benchmark

    with common.connect() as database:
        made = make_benchmark(database, corpus, folder, name, split)
    common.print_records([asdict(made)])
    then = [f"pinakes {what} {made.benchmark} --system bm25" for what in ("index", "run")]
    then.append(f"pinakes evaluate {made.benchmark}")
    common.say(f"export PINAKES_BENCHMARKS={shlex.quote(str(folder.absolute()))}; then: {'; '.join(then)}")


@app.command()
def sample(
    benchmark: BenchmarkName,
    corpus: Annotated[str, typer.Option(help="The corpus that queries and candidates are drawn from.")],
    flags: SampleFlags,  # type: ignore[valid-type]
    common: CommonOptions,
) -> None:
    """Draw a benchmark's queries and candidate pools from a corpus, in place of those it had."""
    from pinakes.report.present.sample import print_sample
    from pinakes.sample.sample import sample

    given = {name: getattr(flags, declared.flag) for name, declared in declared_options().items()}
    with common.connect() as database:
        summary = sample(database, benchmark, corpus, given, progress=common.show_progress())
    print_sample(summary, common.output, say=common.say)


@app.command()
def construct(
    benchmark: BenchmarkName,
    drawn_from: Annotated[
        str | None, typer.Option("--from", help="The benchmark whose queries, pools and runs are taken.")
    ] = None,
    run: RunIds = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A system to draw negatives from. May be repeated. Default: those whose best negatives the "
            "others share least."
        ),
    ] = None,
    seed: Annotated[str | None, typer.Option(help="Which of the possible draws.")] = None,
    top_of: Annotated[
        Literal["candidates", "negatives"] | None,
        typer.Option(help="What a model's 200 best are counted among. Default: candidates, as in the paper."),
    ] = None,
    *,
    common: CommonOptions,
) -> None:
    """Construct a benchmark's candidates by type, from stored runs and the citation graph."""
    from pinakes.report.present.sample import print_construction
    from pinakes.sample.construct import construct
    from pinakes.sample.construct_plan import ConstructionRequest

    request = ConstructionRequest(benchmark, drawn_from, tuple(run or ()), tuple(model or ()), seed, top_of)
    with common.connect() as database:
        summary = construct(database, request, progress=common.show_progress())
    print_construction(summary, common.output)


@app.command()
def export_pools(
    benchmark: BenchmarkName,
    folder: Annotated[Path, typer.Argument(help="Where the two files go.")],
    common: CommonOptions,
) -> None:
    """Write a benchmark's pools by candidate type, and their texts, as MDCR publishes them."""
    from pinakes.sample.export_pools import export_pools

    with common.connect_to_look() as database:
        written = export_pools(database, benchmark, folder)
    common.print_records([{"folder": str(folder), **asdict(written)}])
