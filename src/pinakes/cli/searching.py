"""The commands that search: `search` in a corpus, `explain` of a score, `summarize` in one document."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions, PaperTemplate, SystemChoices, Templates, parse_options
from pinakes.errors import InputError

if TYPE_CHECKING:  # a command's help does not wait for it
    from pinakes.database import Database
    from pinakes.search.documents import Summary
    from pinakes.search.filter import PaperFilter
    from pinakes.search.search import SearchRequest
    from pinakes.search.summarize import SummaryRequest

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

    @property
    def wanted(self) -> "PaperFilter":
        """The filter."""
        from pinakes.search.filter import PaperFilter

        return PaperFilter(self.year_from, self.year_to, self.venue, self.field, self.min_citations)


@dataclass(frozen=True, slots=True)
class ManyQueries:
    """A file of queries, and where their rankings go."""

    queries: Annotated[
        Path | None,
        typer.Option(
            help="In place of TEXT: a file of queries, one a line; .jsonl with _id and text, .tsv with both."
        ),
    ] = None
    trec: Annotated[
        Path | None, typer.Option(help="With --queries: write the rankings as a TREC run to this file.")
    ] = None

    def check(self, *, asks_otherwise: bool) -> None:
        """Raise `InputError` where it is not said, once, what to ask with."""
        if self.trec is not None and self.queries is None:
            raise InputError("--trec is the run of a file of queries; add --queries FILE, or leave it out.")
        if self.queries is not None and asks_otherwise:
            raise InputError("expected either --queries, or a text or a paper to ask with, not both.")


@app.command()
def search(
    corpus: Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")],
    text: Annotated[str, typer.Argument(help="What to look for; no character of it is syntax.")] = "",
    *,
    given: SearchOptions,
    many: ManyQueries,
    choices: SystemChoices,
    paper_template: PaperTemplate = None,
    common: CommonOptions,
) -> None:
    """Find the papers of a corpus that are nearest to a text or a paper; a filter never gives fewer."""
    from pinakes.search.search import SearchRequest, search

    many.check(asks_otherwise=bool(text or given.paper or given.sentences))
    with common.connect_to_look() as database:
        request = SearchRequest(
            corpus,
            text,
            given.system,
            given.k,
            given.wanted,
            paper_template,
            choices.for_database(database, common.say, given.through),
            given.paper,
            parse_positions(given.sentences),
        )
        if many.queries is not None:
            _search_many(database, request, many.queries, many.trec, common)
            return
        found = search(database, request)
    common.print_records([asdict(paper) for paper in found])


def _search_many(
    database: "Database", request: "SearchRequest", file: Path, run: Path | None, common: CommonOptions
) -> None:
    """Print the papers of each query of a file, or write them to a run; then raise what is wrong with it."""
    from pinakes.run.export_run import write_trec_line
    from pinakes.search.query_files import read_query_file
    from pinakes.search.searcher import open_searcher
    from pinakes.writing.files import write_lines

    asked = read_query_file(file)
    searcher = open_searcher(database, request)
    database.close()  # nobody waits for the file while it is searched
    found = searcher.search([query.text for query in asked.queries], request.k)
    ranked = list(zip((query.query_id for query in asked.queries), found, strict=True))
    if run is None:
        rows = [{"query_id": one, **asdict(paper)} for one, papers in ranked for paper in papers]
        common.print_records(rows)
    else:
        tag = "_".join(f"pinakes-{searcher.system}".split())
        write_lines(
            run,
            (
                write_trec_line(one, paper.source_id, paper.rank, paper.score, tag)
                for one, papers in ranked
                for paper in papers
            ),
        )
    empty = sum(not papers for papers in found)
    common.say(
        f"{len(found):,} queries, {sum(map(len, found)):,} papers"
        + (f"; {empty:,} queries found none" if empty else "")
    )
    asked.require_whole()


@app.command()
def explain(
    query: Annotated[
        str,
        typer.Argument(
            help="A text, or with --benchmark the id of a query; no character of it is syntax.",
            metavar="QUERY",
        ),
    ],
    paper: Annotated[str, typer.Argument(help="The paper, by its source's id.", metavar="PAPER")],
    corpus: Annotated[str | None, typer.Option(help="The corpus of the paper.")] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="In place of --corpus: the benchmark whose query it is.")
    ] = None,
    system: Annotated[
        str, typer.Option("--system", "-s", help="sparse_bm25, or a named baseline that it is.")
    ] = "sparse_bm25",
    *,
    choices: Annotated[SystemChoices, Omit("precision", "distance", "device", "format")],
    templates: Templates,
    common: CommonOptions,
) -> None:
    """Print what each term of a query adds to the score of a paper, and the paper's rank."""
    from pinakes.report.present.explain import print_explanation
    from pinakes.search.explain import ExplainRequest, explain

    with common.connect_to_look() as database:
        options = choices.for_database(database, common.say)
        request = ExplainRequest(
            query,
            paper,
            corpus,
            benchmark,
            system,
            options,
            templates.query_template,
            templates.paper_template,
        )
        found = explain(database, request)
    print_explanation(found, common.output)


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


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """Which document is read, and what for."""

    query: Annotated[str, typer.Option(help="What to look for; no character of it is syntax.")] = ""
    corpus: Annotated[str | None, typer.Option(help="The corpus of the paper.")] = None
    paper: Annotated[str | None, typer.Option(help="The paper to read, by its source's id.")] = None
    about: Annotated[
        str | None,
        typer.Option(help="In place of --query: the abstract of this paper, or cited work, of the corpus."),
    ] = None
    k: Annotated[int, typer.Option("-k", min=1, help="How many sentences.")] = 5
    system: Annotated[
        str, typer.Option("--system", "-s", help="tfidf, bm25, or an encoder: minilm, a folder, a hub id.")
    ] = "tfidf"
    splitter: Annotated[
        str,
        typer.Option(help="What ends a sentence: punkt, or source (its own sentences; a file's lines)."),
    ] = "punkt"
    encoding: Annotated[str, typer.Option(help="Of the text file.")] = "utf-8"
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown, the query's terms bold.")] = False


@app.command()
def summarize(
    file: Annotated[
        Path | None, typer.Argument(help="A text file, which is in no corpus.", metavar="FILE")
    ] = None,
    *,
    given: SummaryOptions,
    choices: Annotated[SystemChoices, Omit("format")],
    common: CommonOptions,
) -> None:
    """Print the sentences of a paper, or of a text file, that answer a query best, in its own order."""
    from pinakes.report.present.summary import print_summary
    from pinakes.search.sentence_scorers import ScorerOptions
    from pinakes.search.summarize import SummaryRequest

    options = ScorerOptions(
        choices.precision, choices.device, choices.distance, parse_options(choices.option)
    )
    request = SummaryRequest(
        file,
        given.corpus,
        given.paper,
        given.query,
        given.about,
        given.k,
        given.system,
        cast(Literal["punkt", "source"], given.splitter),
        given.encoding,
        options,
    )
    summary = _read_summary(request, common)
    print_summary(summary, common.output, as_markdown=given.markdown)
    if not common.output.is_for_programs:
        common.say(*summary.notes)


def _read_summary(request: "SummaryRequest", common: CommonOptions) -> "Summary":
    """The summary; no database is opened for a file and a query in words."""
    from pinakes.search.summarize import check_request, summarize

    check_request(request)
    if not request.needs_database:
        return summarize(None, request)
    with common.connect_read_only() as database:
        return summarize(database, request)
