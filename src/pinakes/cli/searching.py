"""The command that searches a corpus: `search`.

It stands apart from the other commands (`cli`) for the number of its options only.
"""

from dataclasses import asdict
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import (
    DatabaseUrl,
    Device,
    Distance,
    Json,
    Options,
    PaperTemplate,
    Precision,
    Wait,
    parse_options,
    parse_positions,
)


def add_searching_command(app: typer.Typer) -> None:
    """Add `pinakes search`."""
    app.command()(search)


def search(
    corpus: Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")],
    text: Annotated[
        str, typer.Argument(help="What to look for; no character of it is syntax.", show_default=False)
    ] = "",
    system: Annotated[str, typer.Option("--system", "-s", help="bm25, tfidf, minilm, …")] = "bm25",
    k: Annotated[int, typer.Option("-k", min=1, help="How many papers.")] = 10,
    paper: Annotated[
        str | None,
        typer.Option(help="Ask with this paper of the corpus, by its source's id, in place of TEXT."),
    ] = None,
    sentences: Annotated[
        str, typer.Option(help="Ask with these sentences of its abstract, as 2,3.", show_default=False)
    ] = "",
    year_from: Annotated[int | None, typer.Option(help="The earliest year.", show_default=False)] = None,
    year_to: Annotated[int | None, typer.Option(help="The latest year.", show_default=False)] = None,
    venue: Annotated[str | None, typer.Option(help="The venue, word for word.", show_default=False)] = None,
    field: Annotated[str | None, typer.Option(help="A field of study.", show_default=False)] = None,
    min_citations: Annotated[
        int | None, typer.Option(help="The least citation count.", show_default=False)
    ] = None,
    through: Annotated[
        str, typer.Option(help="How vectors are compared: exact, pgvector, or faiss:KIND.")
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
    """Find the papers of a corpus that are nearest to a text or a paper; a filter never gives fewer."""
    with steps.connect(db, wait_s=wait) as database:
        request = steps.SearchRequest(
            corpus,
            text,
            system,
            k,
            steps.PaperFilter(year_from, year_to, venue, field, min_citations),
            paper_template,
            steps.SystemOptions(
                steps.find_index_folder(database),
                precision,
                distance,
                device,
                parse_options(option or []),
                through,
            ),
            paper,
            parse_positions(sentences),
        )
        found = steps.search(database, request)
    steps.print_records([asdict(paper) for paper in found], as_json=json)
