"""The command that draws queries and pools from a corpus: `sample`.

It stands apart from the other commands (`cli`) for its number of options only.
"""

from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import BenchmarkName, DatabaseUrl, Json, Quiet, Wait


def sample(
    benchmark: BenchmarkName,
    corpus: Annotated[str, typer.Option(help="The corpus that queries and candidates are drawn from.")],
    year: Annotated[
        int | None,
        typer.Option(help="Year of the queries, and the last of drawn candidates.", show_default=False),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Test queries: in all, or for each field.", show_default=False)
    ] = None,
    validation_queries: Annotated[
        int | None, typer.Option(min=0, help="Queries for tuning, as many more.", show_default=False)
    ] = None,
    pool_size: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Papers of a pool. May be repeated.", show_default=False),
    ] = None,
    validation_pool_size: Annotated[
        int | None, typer.Option(min=1, help="Papers of a pool for tuning.", show_default=False)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Independent pools of each size.", show_default=False)
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Another seed, another sample.", show_default=False)
    ] = None,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of source ids that must be no query, one a line. May be repeated.", show_default=False
        ),
    ] = None,
    assigned_by: Annotated[
        str | None, typer.Option(help="Whose fields of study, as mag.", show_default=False)
    ] = None,
    min_abstract: Annotated[
        int | None, typer.Option(min=0, help="Pre-filter: characters of an abstract.", show_default=False)
    ] = None,
    min_citations: Annotated[
        int | None, typer.Option(min=0, help="Pre-filter: citations of a paper.", show_default=False)
    ] = None,
    counted: Annotated[
        str | None,
        typer.Option(help="Pre-filter: count citations made, or received.", show_default=False),
    ] = None,
    min_cited: Annotated[
        int | None, typer.Option(min=1, help="Papers that a query cites at least.", show_default=False)
    ] = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw a benchmark's queries and candidate pools from a corpus, in place of those it had."""
    request = steps.SampleRequest(
        benchmark=benchmark,
        corpus=corpus,
        seed=seed,
        year=year,
        queries=queries,
        validation_queries=validation_queries,
        pool_sizes=tuple(pool_size) if pool_size else None,
        validation_pool_size=validation_pool_size,
        repeats=repeats,
        min_abstract=min_abstract,
        min_citations=min_citations,
        counted=counted,
        min_cited=min_cited,
        assigned_by=assigned_by,
        exclude=tuple(exclude or ()),
    )
    with steps.connect(db, wait_s=wait) as database:
        summary = steps.sample(database, request, progress=steps.show_progress(quiet=quiet))
    steps.print_sample(summary, as_json=json)


def add_sampling_command(app: typer.Typer) -> None:
    """Add `sample` to the command line."""
    app.command()(sample)
