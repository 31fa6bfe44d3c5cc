"""The commands that make the tables and bring files into them.

`init`, `grant-reader`, `upgrade`, `load`, `resolve`, `deduplicate`, `fetch`.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import DATA, CommonOptions, On, parse_options

app = CommandGroup()

CorpusName = Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")]


@app.command()
def init(
    over: Annotated[
        str | None,
        typer.Option(
            help="What `export partitioned` wrote, in a folder or at s3://BUCKET/PREFIX: DuckDB reads its "
            "corpora in place, and changes none.",
        ),
    ] = None,
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Make the tables, and the views of every benchmark."""
    from pinakes.database.reader_role import warn_of_rights
    from pinakes.queries.install import initialise
    from pinakes.schema import has_tables

    with common.connect_to_fill(lambda database: not has_tables(database)) as database:
        if over is not None:
            from pinakes.export.corpora.in_place import read_in_place, require_readable

            require_readable(database, over)
        changed = initialise(database)
        if over is not None:
            found = read_in_place(database, over)
            common.say(f"{database.url}: reads {', '.join(found)} in {over}, and cannot change them.")
        common.say(f"{database.url}: tables ready; views made or renewed: {', '.join(changed) or 'none'}")
        warning = warn_of_rights(database)
        common.say(*([f"pinakes: warning: {warning}"] if warning else []))


@app.command("grant-reader")
def grant_reader(
    name: Annotated[str, typer.Argument(help="The role; it is made where there is none.", metavar="NAME")],
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Let a Postgres role read all that Pinakes made, and change nothing."""
    from pinakes.database.reader_role import READER_ROLE, grant_reader

    with common.connect() as database:
        is_new = grant_reader(database, name)
    common.say(f"{name} reads as {READER_ROLE} does.")
    if is_new:
        common.say(f"The role is new and has no password: set one in psql with \\password {name}.")


@app.command()
def upgrade(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL of the steps, and change nothing.")
    ] = False,
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Bring a database that an older Pinakes made up to this one, with all its rows."""
    from pinakes.queries.install import initialise
    from pinakes.report.present.upgrade import print_steps, say_upgraded
    from pinakes.schema.upgrade import list_benchmarks_without_views, list_missing_steps, upgrade

    if dry_run:
        with common.connect_read_only() as database:
            print_steps(list_missing_steps(database), database.name, common.say)
        return
    with common.connect() as database:
        steps = upgrade(database, wait_s=common.wait)
        renewed = initialise(database, pass_over_missing=True)
        say_upgraded(steps, renewed, list_benchmarks_without_views(database), common.say)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a corpus is loaded."""

    corpus: Annotated[str | None, typer.Option(help="The corpus's name.")] = None
    version: Annotated[str | None, typer.Option(help="The corpus's version.")] = None
    licence: Annotated[str | None, typer.Option(help="The corpus's licence.")] = None
    option: Annotated[list[str] | None, typer.Option(help="name=value for the loader. May be repeated.")] = (
        None
    )
    papers: Annotated[int | None, typer.Option(help="synthetic: how many papers.")] = None
    seed: Annotated[int | None, typer.Option(help="synthetic: which world.")] = None
    max_rejects: Annotated[
        float, typer.Option(help="The greatest share of records that may be rejected.", min=0, max=1)
    ] = 0.01
    on_error: Annotated[
        Literal["reject", "stop"], typer.Option(help="What a record that is not accepted does to the load.")
    ] = "reject"
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove rows of a file's older version that it no longer has.")
    ] = False
    limit: Annotated[int | None, typer.Option(help="Read at most this many records of each file.")] = None
    jobs: Annotated[int, typer.Option(help="Processes that read files ahead.")] = 1
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do it all, report, and take it back.")] = False

    def for_loader(self) -> dict[str, str]:
        """The options of the loader's own."""
        given = {"papers": self.papers, "seed": self.seed}
        numbers = {name: str(value) for name, value in given.items() if value is not None}
        return parse_options(self.option) | numbers


@app.command()
def load(
    loader: Annotated[
        str,
        typer.Argument(help="The format, as s2orc or beir; `help` lists them all. Or ir-datasets:DATASET."),
    ],
    source: Annotated[Path | None, typer.Argument(help="The published file or folder.")] = None,
    *,
    options: LoadOptions,
    on: On = None,
    common: CommonOptions,
) -> None:
    """Load a corpus, or go on with a load that was stopped."""
    from pinakes.load.corpus import check_source, holds_no_load, read_loader_name
    from pinakes.load.load import LoadRequest, load
    from pinakes.queries.install import initialise
    from pinakes.report.present.load import print_load

    name, named = read_loader_name(loader)
    request = LoadRequest(
        name,
        source,
        options.for_loader() | named,
        options.corpus,
        options.version,
        options.licence,
        options.dry_run,
        options.limit,
        options.jobs,
        options.on_error,
        options.replace,
        options.max_rejects,
        common.memory_bytes,
        on,
    )
    common.warn_of_missing_folders()
    check_source(request)
    with common.connect_to_fill(holds_no_load) as database:
        initialise(database, pass_over_missing=True)
        summary = load(database, request, progress=common.show_progress(), tell=common.say)
    print_load(summary, common.output, say=common.say)
    summary.require_few_rejected(options.max_rejects)


@app.command()
def resolve(corpus: CorpusName, common: CommonOptions) -> None:
    """Join a corpus's references and citations with its papers; every load ends with this."""
    from pinakes.load.resolve import resolve

    with common.connect() as database:
        common.print_records([asdict(resolve(database, corpus))])


@app.command()
def deduplicate(
    corpus: CorpusName,
    undo: Annotated[bool, typer.Option("--undo", help="Take all merges of the corpus back.")] = False,
    *,
    common: CommonOptions,
) -> None:
    """Merge the papers, and the cited works, of a corpus that are one work."""
    from pinakes.load.deduplicate import deduplicate

    with common.connect() as database:
        common.print_records([asdict(deduplicate(database, corpus, undo=undo))])


@app.command()
def fetch(
    dataset: Annotated[
        str | None, typer.Argument(help="A known dataset. Without one, all are listed.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder for the files. Default: the dataset's name.")
    ] = None,
    *,
    common: Annotated[CommonOptions, Omit("db", "wait", "memory")],
) -> None:
    """Bring a known dataset's published files here, going on where it stopped, and check them."""
    from pinakes.load.fetch import fetch, find_source
    from pinakes.report.present.load import fetched_rows, source_rows

    if dataset is None:
        common.print_records(source_rows())
        return
    source = find_source(dataset)
    common.say(f"{source.title}. Licence: {source.licence}. {source.page}")
    common.print_records(fetched_rows(fetch(dataset, to or Path(dataset), progress=common.show_progress())))
