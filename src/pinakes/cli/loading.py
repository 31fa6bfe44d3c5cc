"""The commands that bring files into the tables: `load`, `resolve`, `deduplicate`, `fetch`.

They stand apart from the other commands (`cli`) for their number of options only.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from pinakes.cli import steps
from pinakes.cli.options import DatabaseUrl, Json, Quiet, Wait, parse_options
from pinakes.errors import LoadError

CorpusName = Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")]


def load(
    loader: Annotated[str, typer.Argument(help="The format, as s2orc or beir; a wrong name lists them all.")],
    source: Annotated[
        Path | None, typer.Argument(help="The published file or folder.", show_default=False)
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="The corpus's name.", show_default=False)] = None,
    version: Annotated[str | None, typer.Option(help="The corpus's version.", show_default=False)] = None,
    licence: Annotated[str | None, typer.Option(help="The corpus's licence.", show_default=False)] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="name=value for the loader. May be repeated.", show_default=False)
    ] = None,
    papers: Annotated[
        int | None, typer.Option(help="synthetic: how many papers.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="synthetic: which world.", show_default=False)] = None,
    max_rejects: Annotated[
        float, typer.Option(help="The greatest share of records that may be rejected.", min=0, max=1)
    ] = 0.01,
    on_error: Annotated[
        Literal["reject", "stop"], typer.Option(help="What a record that is not accepted does to the load.")
    ] = "reject",
    limit: Annotated[
        int | None, typer.Option(help="Read at most this many records of each file.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes that read files ahead.")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do it all, report, and take it back.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Load a corpus, or go on with a load that was stopped."""
    given = {"papers": papers, "seed": seed}
    options = parse_options(option or []) | {
        key: str(value) for key, value in given.items() if value is not None
    }
    request = steps.LoadRequest(
        loader, source, options, corpus, version, licence, dry_run, limit, jobs, on_error
    )
    steps.choose_loader(request)  # before a database is made for nothing
    with steps.connect(db, wait_s=wait) as database:
        steps.initialise(database)
        summary = steps.load(database, request, progress=steps.show_progress(quiet=quiet))
    steps.print_load(summary, as_json=json)
    if summary.rejected_share > max_rejects:
        raise LoadError(
            f"{summary.rejected_share:.2%} of the files' records were rejected, more than --max-rejects "
            f"{max_rejects} allows; the table rejected_rows says why. What was accepted is in."
        )


def resolve(corpus: CorpusName, db: DatabaseUrl = None, wait: Wait = 0.0, json: Json = False) -> None:
    """Join a corpus's references and citations with its papers; every load ends with this."""
    with steps.connect(db, wait_s=wait) as database:
        steps.print_records([asdict(steps.resolve(database, corpus))], as_json=json)


def deduplicate(
    corpus: CorpusName,
    undo: Annotated[bool, typer.Option("--undo", help="Take all merges of the corpus back.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """Merge the papers, and the cited works, of a corpus that are one work."""
    with steps.connect(db, wait_s=wait) as database:
        merged = steps.deduplicate(database, corpus, undo=undo)
        steps.print_records([asdict(merged)], as_json=json)


def fetch(
    dataset: Annotated[
        str | None, typer.Argument(help="A known dataset. Without one, all are listed.", show_default=False)
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder for the files. Default: the dataset's name.", show_default=False),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Bring a known dataset's published files here, going on where it stopped, and check them."""
    if dataset is None:
        steps.print_records(steps.source_rows(), as_json=json)
        return
    source = steps.find_source(dataset)
    if not quiet:
        typer.echo(f"{source.title}. Licence: {source.licence}. {source.page}", err=True)
    summary = steps.fetch(dataset, to or Path(dataset), progress=steps.show_progress(quiet=quiet))
    steps.print_records(steps.fetched_rows(summary), as_json=json)


_COMMANDS: Final[tuple[Callable[..., None], ...]] = (load, resolve, deduplicate, fetch)


def add_loading_commands(app: typer.Typer) -> None:
    """Give the application the commands of this module."""
    for command in _COMMANDS:
        app.command()(command)
