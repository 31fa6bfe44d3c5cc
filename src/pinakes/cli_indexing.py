"""The commands that make indexes and search them: `index`, `search`.

They stand apart from the other commands (`cli`) for their number of options only.
"""

from dataclasses import asdict
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from pinakes.cli_options import (
    DatabaseUrl,
    Device,
    Distance,
    Json,
    Options,
    PaperTemplate,
    Precision,
    QueryTemplate,
    Quiet,
    Systems,
    Wait,
    parse_options,
)
from pinakes.errors import InputError
from pinakes.pipeline import steps

DEFAULT_INDEX: Final = "benchmark"


class _BenchmarkFirst(TyperGroup):
    """`pinakes index BENCHMARK …` is `pinakes index benchmark BENCHMARK …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command first where none is named."""
        named = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else [DEFAULT_INDEX, *args])


index_app = typer.Typer(cls=_BenchmarkFirst, no_args_is_help=True)


@index_app.command(DEFAULT_INDEX)
def index(
    system: Systems,
    benchmark: Annotated[
        str | None, typer.Argument(help="The benchmark's name.", metavar="BENCHMARK", show_default=False)
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Index this corpus for `search` instead of a benchmark.", show_default=False),
    ] = None,
    precision: Precision = "auto",
    device: Device = None,
    option: Options = None,
    query_template: QueryTemplate = None,
    paper_template: PaperTemplate = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make what systems need to rank a benchmark, or to search a corpus: side indexes, vectors."""
    if (benchmark is None) == (corpus is None):
        raise InputError("expected either a BENCHMARK or --corpus NAME.")
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(
            steps.find_index_folder(database),
            precision,
            device=device,
            parameters=parse_options(option or []),
        )
        progress = steps.show_progress(quiet=quiet)
        summaries = [
            steps.index_corpus(
                database, corpus, name, options=options, paper_template=paper_template, progress=progress
            )
            if corpus is not None
            else steps.index(
                database,
                benchmark or "",
                name,
                options=options,
                query_template=query_template,
                paper_template=paper_template,
                progress=progress,
            )
            for name in system
        ]
    steps.print_records([asdict(summary) for summary in summaries], as_json=json)


def search(
    corpus: Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")],
    text: Annotated[str, typer.Argument(help="What to look for; no character of it is syntax.")],
    system: Annotated[str, typer.Option("--system", "-s", help="bm25, tfidf, minilm, …")] = "bm25",
    k: Annotated[int, typer.Option("-k", min=1, help="How many papers.")] = 10,
    year_from: Annotated[int | None, typer.Option(help="The earliest year.", show_default=False)] = None,
    year_to: Annotated[int | None, typer.Option(help="The latest year.", show_default=False)] = None,
    venue: Annotated[str | None, typer.Option(help="The venue, word for word.", show_default=False)] = None,
    field: Annotated[str | None, typer.Option(help="A field of study.", show_default=False)] = None,
    least_citations: Annotated[
        int | None, typer.Option(help="The least citation count.", show_default=False)
    ] = None,
    through: Annotated[
        str, typer.Option(help="How vectors are compared: exact, pgvector, or a kind of Faiss index.")
    ] = "exact",
    precision: Precision = "auto",
    distance: Distance = None,
    device: Device = None,
    option: Options = None,
    paper_template: PaperTemplate = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """Find the papers of a corpus that are nearest to a text; a filter never gives fewer than pass."""
    with steps.connect(db, wait_s=wait) as database:
        request = steps.SearchRequest(
            corpus,
            text,
            system,
            k,
            steps.PaperFilter(year_from, year_to, venue, field, least_citations),
            paper_template,
            through,
            steps.SystemOptions(
                steps.find_index_folder(database), precision, distance, device, parse_options(option or [])
            ),
        )
        found = steps.search(database, request)
    steps.print_records([asdict(paper) for paper in found], as_json=json)


def add_indexing_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.add_typer(index_app, name="index", help="Make side indexes and vectors, for a benchmark or a corpus.")
    app.command()(search)
