"""The commands that make pools and write them out: `sample`, `construct`, `export-pools`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli.option_sets import Omit, takes_option_sets
from pinakes.cli.options import BenchmarkName, CommonOptions, RunIds

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """What is drawn from which papers; None: as the benchmark's `[sampling]` says."""

    corpus: Annotated[str, typer.Option(help="The corpus that queries and candidates are drawn from.")]
    year: Annotated[
        int | None,
        typer.Option(help="Year of the queries, and the last of drawn candidates.", show_default=False),
    ] = None
    queries: Annotated[
        int | None, typer.Option(min=1, help="Test queries: in all, or for each field.", show_default=False)
    ] = None
    validation_queries: Annotated[
        int | None, typer.Option(min=0, help="Queries for tuning, as many more.", show_default=False)
    ] = None
    pool_size: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Papers of a pool. May be repeated.", show_default=False),
    ] = None
    validation_pool_size: Annotated[
        int | None, typer.Option(min=1, help="Papers of a pool for tuning.", show_default=False)
    ] = None
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Independent pools of each size.", show_default=False)
    ] = None
    seed: Annotated[str | None, typer.Option(help="Another seed, another sample.", show_default=False)] = None
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of source ids that must be no query, one a line. May be repeated.", show_default=False
        ),
    ] = None
    assigned_by: Annotated[
        str | None, typer.Option(help="Whose fields of study, as mag.", show_default=False)
    ] = None
    min_abstract: Annotated[
        int | None, typer.Option(min=0, help="Pre-filter: characters of an abstract.", show_default=False)
    ] = None
    min_citations: Annotated[
        int | None, typer.Option(min=0, help="Pre-filter: citations of a paper.", show_default=False)
    ] = None
    counted: Annotated[
        str | None,
        typer.Option(help="Pre-filter: count citations made, or received.", show_default=False),
    ] = None
    min_cited: Annotated[
        int | None, typer.Option(min=1, help="Papers that a query cites at least.", show_default=False)
    ] = None


@app.command()
@takes_option_sets
def sample(benchmark: BenchmarkName, options: SampleOptions, common: CommonOptions) -> None:
    """Draw a benchmark's queries and candidate pools from a corpus, in place of those it had."""
    from pinakes.report.present.sample import print_sample
    from pinakes.sample.plan import SampleRequest
    from pinakes.sample.sample import sample

    given = asdict(options)
    pool_sizes, exclude = given.pop("pool_size"), given.pop("exclude")
    request = SampleRequest(
        benchmark,
        pool_sizes=tuple(pool_sizes) if pool_sizes else None,
        exclude=tuple(exclude or ()),
        **given,
    )
    with common.connect() as database:
        summary = sample(database, request, progress=common.show_progress())
    print_sample(summary, as_json=common.json)


@app.command()
@takes_option_sets
def construct(
    benchmark: BenchmarkName,
    drawn_from: Annotated[
        str | None,
        typer.Option(
            "--from", help="The benchmark whose queries, pools and runs are taken.", show_default=False
        ),
    ] = None,
    run: RunIds = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A system to draw negatives from. May be repeated. Default: those whose best negatives the "
            "others share least.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[str | None, typer.Option(help="Which of the possible draws.", show_default=False)] = None,
    *,
    common: CommonOptions,
) -> None:
    """Construct a benchmark's candidates by type, from stored runs and the citation graph."""
    from pinakes.report.present.sample import print_construction
    from pinakes.sample.construct import construct
    from pinakes.sample.construct_records import ConstructionRequest

    request = ConstructionRequest(benchmark, drawn_from, tuple(run or ()), tuple(model or ()), seed)
    with common.connect() as database:
        summary = construct(database, request, progress=common.show_progress())
    print_construction(summary, as_json=common.json)


@app.command()
@takes_option_sets
def export_pools(
    benchmark: BenchmarkName,
    folder: Annotated[Path, typer.Argument(help="Where the two files go.")],
    common: Annotated[CommonOptions, Omit("quiet")],
) -> None:
    """Write a benchmark's pools by candidate type, and their texts, as MDCR publishes them."""
    from pinakes.sample.export_pools import export_pools

    with common.connect() as database:
        written = export_pools(database, benchmark, folder)
    common.print_records([{"folder": str(folder), **asdict(written)}])
