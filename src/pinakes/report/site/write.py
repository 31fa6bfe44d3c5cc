"""A site written into a folder: benchmark after benchmark, each read once, page after page."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.errors import DatabaseBusyError, InputError, PinakesError
from pinakes.evaluate.compare import read_query_values
from pinakes.queries.definition import read_benchmark
from pinakes.queries.suites import list_suites
from pinakes.report.reproduction.gather import gather_matrix
from pinakes.report.site.benchmark_pages import BenchmarkPages, find_benchmark_page, render_own
from pinakes.report.site.folder import FIRST, SiteFolder, Written
from pinakes.report.site.gather import (
    OwnSubject,
    Subject,
    choose_looks,
    count_queries,
    find_folder,
    find_lead,
    gather_own,
    gather_subject,
    list_evaluated,
    read_evaluated_at,
    require_evaluated,
    test_subject,
)
from pinakes.report.site.keys import Key
from pinakes.report.site.lines import QueryLine, make_line, order_ids
from pinakes.report.site.queries import QueryRequest, ShownQuery, stream_queries
from pinakes.report.site.query_page import QueryPages, find_query_page
from pinakes.report.site.record import Part
from pinakes.report.site.suite_pages import (
    SuiteRow,
    describe_suite,
    draw_suites,
    find_suite_folder,
    open_scored_suite,
    recall_suite,
    render_suite,
)
from pinakes.report.site.top_pages import (
    OverviewRow,
    read_quality,
    recall_row,
    render_overview,
    render_quality,
    render_reproduction,
)
from pinakes.report.suite.gather import gather_suite
from pinakes.schema import check_schema
from pinakes.settings import read_settings
from pinakes.workload.suite import open_suite

MOST_QUERIES: Final = 10_000
_ASSETS: Final = ("sortable.js", "site.js", "LICENSE-sortable-tablesort.txt")


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """What a site is of.

    Attributes:
        names: benchmarks, and suites with theirs; none: all that have evaluated runs.
        most_queries: so many queries of a benchmark have a page, the lowest of the leading system.
    """

    names: Sequence[str] = ()
    most_queries: int = MOST_QUERIES


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """What became of a site: its benchmarks, its files, and benchmarks that could not be done, with why."""

    benchmarks: int
    files: Written
    failed: Sequence[tuple[str, str]]


def write_site(
    database: Database,
    folder: Path,
    request: SiteRequest | None = None,
    *,
    report: Callable[[str], None] = lambda _line: None,
) -> SiteSummary:
    """Write the site; the same rows give the same bytes, and a file that has them is left as it is.

    A benchmark is not drawn again where nothing that its pages show is another, and all of them are there as
    they were written. Pages whose query, system or benchmark is no longer asked for are removed. A benchmark
    that cannot be done is named, its pages stay as they are, and the others go on.

    Raises:
        EvaluationError: no run was evaluated, or none of a benchmark that was named.
        InputError: the folder cannot be written, or holds a file of that name that no site made.
        SchemaVersionError: the database has no tables, or others.
    """
    asked = request or SiteRequest()
    if asked.most_queries < 1:
        raise InputError(f"--most-queries is {asked.most_queries}; expected 1 or more.")
    check_schema(database)
    evaluated = list_evaluated(database)
    names, suites = _choose(database, asked.names, evaluated)
    rows: list[OverviewRow] = []
    failed: list[tuple[str, str]] = []
    with SiteFolder(folder) as site:
        looks = choose_looks(database, names, site.looks)
        site.keep_looks(looks)
        writer = _Writer(database, site, asked, looks)
        _write_assets(site)
        for name in names:
            report(name)
            with _told_apart(site, failed, name, f"{find_folder(name)}/"):
                rows.append(writer.write_benchmark(name))
        report("published figures and data")
        for page, text in render_reproduction(gather_matrix(database)):
            site.write(page, text)
        site.write("quality.html", render_quality(read_quality(database)))
        found = []
        for name in suites:
            with _told_apart(site, failed, name, find_suite_folder(name)):
                found += writer.write_suite(name, rows)
        tables = [draw_suites(found)] if found else []
        site.write(FIRST, render_overview(rows, failed, tables))
        return SiteSummary(len(rows), site.finish(), failed)


@contextmanager
def _told_apart(site: SiteFolder, failed: list[tuple[str, str]], name: str, prefix: str) -> Iterator[None]:
    """What cannot be done is named, and its pages stay as they are; the rest of the site goes on."""
    try:
        yield
    except (DatabaseBusyError, InputError):
        raise
    except PinakesError as error:
        failed.append((name, str(error)))
        site.keep_part(prefix)


def _choose(
    database: Database, asked: Sequence[str], evaluated: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The benchmarks and suites of a site: those that are asked for, a suite with its benchmarks, or all."""
    suites = list_suites(read_settings().benchmark_folders)
    if not asked:
        return list(evaluated), _find_suites(evaluated)
    require_evaluated([name for name in asked if name not in suites], evaluated)
    chosen: list[str] = []
    for name in asked:
        members = [one.name for one in open_suite(database, name).members] if name in suites else [name]
        found = [member for member in members if member in evaluated]
        require_evaluated([] if found else [name], evaluated)
        chosen += found
    return list(dict.fromkeys(chosen)), [name for name in suites if name in asked]


def _find_suites(benchmarks: Sequence[str]) -> list[str]:
    """The suites of the benchmarks; a folder that cannot be read is told where its pages are made."""
    found = set()
    for name in benchmarks:
        with suppress(PinakesError):
            suite = read_benchmark(name, read_settings().benchmark_folders).suite
            found |= {suite.name} if suite is not None else set()
    return sorted(found)


class _Writer:
    """Writes the pages of benchmarks and suites into one folder."""

    def __init__(
        self, database: Database, site: SiteFolder, request: SiteRequest, looks: dict[str, int]
    ) -> None:
        self._database = database
        self._site = site
        self._request = request
        self._looks = looks
        self._evaluated_at = read_evaluated_at(database)

    def write_benchmark(self, name: str) -> OverviewRow:
        """Write all pages of a benchmark, unless they are there; what the overview says of it."""
        prefix = f"{find_folder(name)}/"
        before = self._site.find_part(prefix)
        row = before and recall_row(before.said, self._evaluated_at.get(name))
        own = gather_own(self._database, name)
        if own is not None:
            key = Key(own.benchmark, own.report).finish()
            if before is None or before.key != key or not row:
                row = self._write_own(own)
                self._site.end_part(prefix, Part(key, row.say()))
            else:
                self._site.keep_part(prefix)
            return row
        subject = gather_subject(self._database, name, self._looks)
        if before is not None and row and before.key == self._find_key(subject):
            self._site.keep_part(prefix)
            return row
        row, key = self._write_subject(subject)
        self._site.end_part(prefix, Part(key, row.say()))
        return row

    def _write_own(self, own: OwnSubject) -> OverviewRow:
        name = own.benchmark.name
        self._site.write(find_benchmark_page(name), render_own(own))
        lead, queries = own.find_lead() or (None, None)
        return OverviewRow(
            name=name,
            title=own.benchmark.title,
            task=own.benchmark.task,
            measure=own.benchmark.headline_measure,
            lead=lead,
            runs=len(own.report.runs),
            queries=queries,
            evaluated_at=self._evaluated_at.get(name),
            warnings=own.report.warnings,
        )

    def _start_key(self, subject: Subject) -> Key:
        """The key of a benchmark that has not been tested, before its queries."""
        return Key(subject, self._request.most_queries)

    def _find_key(self, subject: Subject) -> str:
        key = self._start_key(subject)
        deque(key.watch(self._stream(subject)), maxlen=0)
        return key.finish()

    def _stream(self, subject: Subject) -> Iterator[ShownQuery]:
        run_ids = [run.run_id for run in subject.list_shown()]
        measures = subject.list_measures()
        request = QueryRequest(subject.benchmark, subject.groups, run_ids, measures, subject.relevant_from)
        return stream_queries(self._database, request) if subject.groups else iter(())

    def _write_subject(self, untested: Subject) -> tuple[OverviewRow, str]:
        """Write the pages; what the overview says, and the key of what they show."""
        key = self._start_key(untested)
        subject = test_subject(self._database, untested)
        name, report = subject.report.name, subject.report
        paged = self._choose_queries(subject)
        lines = self._write_queries(subject, paged, key) if subject.groups else []
        pages = BenchmarkPages(subject, lines, frozenset(paged))
        for page, text in (*pages.render_lists(), *pages.render_report()):
            self._site.write(f"{subject.folder}/{page}", text)
        for pair in pages.list_pairs():
            self._site.write(f"{subject.folder}/pair/{pages.name_pair(pair)}", pages.render_pair(pair))
        row = OverviewRow(
            name=name,
            title=report.title,
            task=subject.benchmark.task,
            measure=report.headline_measure,
            lead=find_lead(subject),
            runs=len(report.runs),
            queries=count_queries(subject),
            evaluated_at=self._evaluated_at.get(name),
            warnings=report.warnings,
        )
        return row, key.finish()

    def write_suite(self, name: str, rows: Sequence[OverviewRow]) -> list[SuiteRow]:
        """Write the page of a suite, unless it is there; what the overview says, nothing without scores."""
        suite = open_scored_suite(self._database, name, self._looks, rows)
        if suite is None:
            return []
        prefix = find_suite_folder(name)
        before = self._site.find_part(prefix)
        row = recall_suite(before.said) if before is not None and before.key == suite.key else None
        if row is not None:
            self._site.keep_part(prefix)
            return [row]
        report = gather_suite(self._database, name)
        row = describe_suite(report)
        self._site.write(f"{prefix}index.html", render_suite(report, suite, self._looks, rows))
        self._site.end_part(prefix, Part(suite.key, row.say()))
        return [row]

    def _choose_queries(self, subject: Subject) -> list[str]:
        """The queries that have a page, in the order in which a reader goes through them."""
        most, runs = self._request.most_queries, subject.list_shown()
        if len(subject.groups) <= most or not runs:
            return order_ids(subject.groups)
        values = read_query_values(self._database, runs[0].run_id, subject.report.headline_measure)
        worst = sorted(subject.groups, key=lambda query_id: (values.get(query_id, 0.0), query_id))
        return order_ids(worst[:most])

    def _write_queries(self, subject: Subject, paged: Sequence[str], key: Key) -> list[QueryLine]:
        """Write the pages of the queries as the database streams them; a line for each, in order."""
        run_ids = [run.run_id for run in subject.list_shown()]
        measure = subject.report.headline_measure
        pages = QueryPages(subject)
        near = _find_neighbours(paged)
        lines = {}
        for query in key.watch(self._stream(subject)):
            lines[query.query_id] = make_line(query, run_ids, measure)
            if query.query_id in near:
                text = pages.render(query, *near[query.query_id])
                self._site.write(f"{subject.folder}/{find_query_page(query.query_id)}", text)
        return [lines[query_id] for query_id in order_ids(lines)]


def _find_neighbours(
    ordered: Sequence[str],
) -> dict[str, tuple[tuple[str, str] | None, tuple[str, str] | None]]:
    """Query id -> id and file of the query before, and of that behind."""
    files_of = [(query_id, find_query_page(query_id).partition("/")[2]) for query_id in ordered]
    before = [None, *files_of[:-1]]
    after = [*files_of[1:], None]
    return {query_id: (one, other) for query_id, one, other in zip(ordered, before, after, strict=True)}


def _write_assets(site: SiteFolder) -> None:
    own = files("pinakes.report.site") / "assets"
    for name in _ASSETS:
        site.write(f"assets/{name}", (own / name).read_bytes())
    shared = files("pinakes.report") / "templates" / "report.css"
    site.write("assets/site.css", shared.read_bytes() + (own / "site.css").read_bytes())
