"""The queries of a benchmark one by one, with the papers that their pages show, from one stream of rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.report.site.names import list_links
from pinakes.report.site.selects import COLUMNS, PAPER, SENTENCE, VALUE, select_pages, select_query_ids

TOP: Final = 10
"""papers of each system that a page shows"""
MOST_JUDGED: Final = 40
"""judged papers that a page shows, the highest grades"""
_KIND, _RUN = (list(COLUMNS).index(name) for name in ("kind", "run_id"))


@dataclass(slots=True)
class ShownPaper:
    """A paper on the page of a query.

    Attributes:
        grade: None: nobody judged it.
        ranks: run id -> its rank there; without runs that do not rank it.
        links: names and addresses.
    """

    paper_id: int
    source_id: str
    title: str
    grade: int | None
    ranks: Mapping[int, int]
    links: Sequence[tuple[str, str]]


@dataclass(slots=True)
class ShownQuery:
    """A query with what its page shows.

    Attributes:
        groups: grouping column -> value, where it has one.
        text: its own; empty where it is a paper.
        title, abstract, source_id, links: of the query paper; empty where there is none.
        judged, relevant: how many papers are.
        sentences: of the abstract with whether the query asks with each; empty where it asks with the whole.
        papers: by paper_id: the highest of each run, and judged ones.
        values: run id -> measure -> value.
    """

    query_id: str
    groups: Mapping[str, str]
    text: str = ""
    title: str = ""
    abstract: str = ""
    source_id: str = ""
    links: Sequence[tuple[str, str]] = ()
    judged: int = 0
    relevant: int = 0
    sentences: list[tuple[str, bool]] = field(default_factory=list)
    papers: list[ShownPaper] = field(default_factory=list)
    values: dict[int, dict[str, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called in a line: its paper's title, its text, or else its id."""
        return " ".join((self.title or self.text or self.query_id).split())

    def list_top(self, run_id: int) -> list[ShownPaper]:
        """The papers that a run has highest, best first."""
        found = [one for one in self.papers if one.ranks.get(run_id, TOP + 1) <= TOP]
        return sorted(found, key=lambda one: (one.ranks[run_id], one.paper_id))


def read_groups(database: Database, benchmark: Benchmark) -> dict[str, dict[str, str]]:
    """Query id -> its grouping columns with their values, by query id."""
    with database.read() as session:
        rows = session.rows(select_query_ids(benchmark))
    found = {
        str(row["query_id"]): {name: row[name] for name in benchmark.group_by if row[name] is not None}
        for row in rows
    }
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """Which queries, runs and measures of a benchmark are read.

    Attributes:
        groups: the queries, with the values of their grouping columns.
    """

    benchmark: Benchmark
    groups: Mapping[str, Mapping[str, str]]
    run_ids: Sequence[int]
    measures: Sequence[str]
    relevant_from: int


def stream_queries(database: Database, request: QueryRequest) -> Iterator[ShownQuery]:
    """The queries in the database's order; until the last one the database's file is held."""
    statement = select_pages(
        request.benchmark,
        request.run_ids,
        request.measures,
        relevant_from=request.relevant_from,
        top=TOP,
        most_judged=MOST_JUDGED,
    )
    with database.read() as session:
        rows = session.stream_rows(statement)
        for query_id, of_query in groupby(rows, key=itemgetter(0)):
            if query_id in request.groups:
                yield _collect(str(query_id), request.groups[query_id], of_query)


def _collect(query_id: str, groups: Mapping[str, str], rows: Iterable[tuple[Any, ...]]) -> ShownQuery:
    query = ShownQuery(query_id, groups)
    papers: dict[int, ShownPaper] = {}
    sentences: dict[int, tuple[str, bool]] = {}
    for row in rows:
        kind = row[_KIND]
        if kind == PAPER:
            _id, _kind, paper_id, grade, _judged, _relevant, ranks, source_id, title, *rest = row
            links = list_links(rest[2]) if rest[2] else ()
            papers[paper_id] = ShownPaper(paper_id, source_id, title or "", grade, _read_ranks(ranks), links)
        elif kind == VALUE:
            run_id, measure, value = row[_RUN : _RUN + 3]
            query.values.setdefault(run_id, {})[measure] = value
        elif kind == SENTENCE:
            found = dict(zip(COLUMNS, row, strict=True))
            sentences[found["position"]] = (found["text"], bool(found["is_requested"]))
        else:
            found = dict(zip(COLUMNS, row, strict=True))
            for name in ("text", "title", "abstract", "source_id"):
                setattr(query, name, found[name] or "")
            query.judged, query.relevant = int(found["judged"] or 0), int(found["relevant"] or 0)
            query.links = list_links(found["identifiers"] or "")
    query.sentences = [sentences[position] for position in sorted(sentences)]
    query.papers = [papers[paper_id] for paper_id in sorted(papers)]
    return query


def _read_ranks(text: str | None) -> dict[int, int]:
    """Run id -> rank.

    >>> _read_ranks("1:7,2:130"), _read_ranks(None)
    ({1: 7, 2: 130}, {})
    """
    pairs = (pair.split(":") for pair in (text or "").split(",") if pair)
    return {int(run_id): int(rank) for run_id, rank in pairs}
