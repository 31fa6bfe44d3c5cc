"""The command that searches a corpus: `search`."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions, PaperTemplate, SystemChoices
from pinakes.errors import InputError

app = CommandGroup()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is looked for, and how."""

    system: Annotated[str, typer.Option("--system", "-s", help="bm25, tfidf, minilm, …")] = "bm25"
    k: Annotated[int, typer.Option("-k", min=1, help="How many papers.")] = 10
    paper: Annotated[
        str | None,
        typer.Option(help="Ask with this paper of the corpus, by its source's id, in place of TEXT."),
    ] = None
    sentences: Annotated[str, typer.Option(help="Ask with these sentences of its abstract, as 2,3.")] = ""
    year_from: Annotated[int | None, typer.Option(help="The earliest year.")] = None
    year_to: Annotated[int | None, typer.Option(help="The latest year.")] = None
    venue: Annotated[str | None, typer.Option(help="The venue, word for word.")] = None
    field: Annotated[str | None, typer.Option(help="A field of study.")] = None
    min_citations: Annotated[int | None, typer.Option(help="The least citation count.")] = None
    through: Annotated[
        str, typer.Option(help="How vectors are compared: exact, pgvector, or faiss:KIND.")
    ] = "exact"


@app.command()
def search(
    corpus: Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")],
    text: Annotated[str, typer.Argument(help="What to look for; no character of it is syntax.")] = "",
    *,
    given: SearchOptions,
    choices: SystemChoices,
    paper_template: PaperTemplate = None,
    common: Annotated[CommonOptions, Omit("quiet")],
) -> None:
    """Find the papers of a corpus that are nearest to a text or a paper; a filter never gives fewer."""
    from pinakes.search.filter import PaperFilter
    from pinakes.search.search import SearchRequest, search

    with common.connect() as database:
        request = SearchRequest(
            corpus,
            text,
            given.system,
            given.k,
            PaperFilter(given.year_from, given.year_to, given.venue, given.field, given.min_citations),
            paper_template,
            choices.for_database(database, given.through),
            given.paper,
            parse_positions(given.sentences),
        )
        found = search(database, request)
    common.print_records([asdict(paper) for paper in found])


def parse_positions(text: str) -> tuple[int, ...]:
    """Positions of sentences, from 1, from numbers with commas between.

    Raises:
        InputError: a part is no such number.

    >>> parse_positions("3, 1"), parse_positions("")
    ((3, 1), ())
    """
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    for part in parts:
        if not part.isdecimal() or not 0 < int(part) < 1 << 31:
            raise InputError(f"--sentences {text!r}: expected numbers from 1 with commas between, as 2,3.")
    return tuple(map(int, parts))
