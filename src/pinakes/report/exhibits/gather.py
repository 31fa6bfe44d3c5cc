"""What a benchmark's `[[exhibits]]` show: tables, heat maps, agreement, pairs of groups."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.compiled import EVERY_COLUMN
from pinakes.errors import BenchmarkError, EvaluationError
from pinakes.evaluate.agreement import MEASURES, measure_agreement
from pinakes.queries.definition import Benchmark
from pinakes.queries.exhibits import Exhibit as Definition
from pinakes.queries.relations import relation
from pinakes.report.exhibits.data import (
    Exhibit,
    GroupPair,
    GroupPairsExhibit,
    HeatMapExhibit,
    HeatMapPanel,
    TableExhibit,
)
from pinakes.schema import papers

MOST_ROWS: Final = 200
"""rows of a view that a report shows"""

_HEAT_MAP_COLUMNS: Final = 5


def gather_exhibits(database: Database, benchmark: Benchmark) -> list[Exhibit]:
    """Every exhibit that has something to show, in the benchmark's order.

    Raises:
        BenchmarkError: a view does not have the columns that its exhibit reads.
    """
    found = (_GATHERERS[exhibit.kind](database, benchmark, exhibit) for exhibit in benchmark.exhibits)
    return [exhibit for exhibit in found if exhibit is not None]


def _gather_table(database: Database, benchmark: Benchmark, exhibit: Definition) -> TableExhibit | None:
    columns, rows = _read_view(database, benchmark, exhibit)
    unknown = [name for name in (*exhibit.key, *exhibit.measures) if name not in columns]
    if unknown:
        raise BenchmarkError(
            f"the exhibit {exhibit.title!r} of {benchmark.name} names the column {unknown[0]!r}; its view "
            f"{exhibit.view} has {', '.join(columns)}."
        )
    key = exhibit.key or columns[:1]
    order = {row: place for place, row in enumerate(exhibit.published or {})}

    def place(row: Mapping[str, Any]) -> tuple[int, list[tuple[str, Any]]]:
        names = [row[name] for name in key]
        printed = order.get(" / ".join(str(name) for name in names), len(order))
        return printed, [_sortable(value) for value in names]

    ordered = sorted(rows, key=place)
    if not ordered:
        return None
    values = tuple(tuple(row[name] for name in columns) for row in ordered[:MOST_ROWS])
    return TableExhibit(
        exhibit.title,
        tuple(columns),
        values,
        tuple(key),
        exhibit.measures,
        dict(exhibit.published or {}),
        exhibit.source,
        exhibit.note,
        max(0, len(ordered) - MOST_ROWS),
    )


def _sortable(value: Any) -> tuple[str, Any]:
    """A value as it is ordered among others: numbers by size, then words, then what is null."""
    if value is None:
        return ("~", 0)
    return ("number", value) if isinstance(value, int | float) else ("word", str(value))


def _read_view(
    database: Database, benchmark: Benchmark, exhibit: Definition
) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of a view's columns, and its rows in no order."""
    view = sa.table(exhibit.view, schema=benchmark.name)
    with database.read() as session:
        found = session.fetch_arrow(sa.select(EVERY_COLUMN).select_from(view))
    rows = [{name: _simplify(value) for name, value in row.items()} for row in found.to_pylist()]
    return found.column_names, rows


def _simplify(value: Any) -> Any:
    """A value as Python's own kinds of numbers; the databases give different ones.

    >>> _simplify(Decimal("3")), _simplify(Decimal("0.5")), _simplify("a")
    (3, 0.5, 'a')
    """
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _gather_heat_map(database: Database, benchmark: Benchmark, exhibit: Definition) -> HeatMapExhibit | None:
    columns, rows = _read_view(database, benchmark, exhibit)
    if len(columns) != _HEAT_MAP_COLUMNS:
        raise BenchmarkError(
            f"the heat map {exhibit.title!r} of {benchmark.name} reads group a, group b, grade a, grade b "
            f"and count; its view {exhibit.view} has {', '.join(columns)}."
        )
    panels: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for row in rows:
        group_a, group_b, grade_a, grade_b, count = (row[name] for name in columns)
        panels.setdefault((str(group_a), str(group_b)), {})[int(grade_a), int(grade_b)] = int(count)
    if not panels:
        return None
    defined = {int(grade) for grade in benchmark.grades if grade.isdecimal()}
    seen = {grade for counts in panels.values() for pair in counts for grade in pair}
    drawn = tuple(HeatMapPanel(*groups, dict(sorted(panels[groups].items()))) for groups in sorted(panels))
    return HeatMapExhibit(exhibit.title, tuple(sorted(defined | seen)), drawn, exhibit.note)


def _gather_agreement(database: Database, benchmark: Benchmark, exhibit: Definition) -> TableExhibit | None:
    try:
        found = measure_agreement(database, benchmark.name, exhibit.column)
    except EvaluationError:  # nobody judged the same papers: there is nothing to show
        return None
    places = {row.group: place for place, row in enumerate(found)}
    rows = sorted(found, key=lambda row: places[row.group])  # a group's two stages together
    return TableExhibit(
        exhibit.title,
        (exhibit.column, "adjudication", "queries", *MEASURES),
        tuple((r.group, r.stage, r.queries, *(getattr(r, name) for name in MEASURES)) for r in rows),
        (exhibit.column, "adjudication"),
        exhibit.measures or tuple(MEASURES),
        dict(exhibit.published or {}),
        exhibit.source,
        exhibit.note,
    )


def _gather_pairs(database: Database, benchmark: Benchmark, exhibit: Definition) -> GroupPairsExhibit | None:
    if exhibit.column not in benchmark.group_by:
        raise BenchmarkError(
            f"the exhibit {exhibit.title!r} of {benchmark.name} pairs queries by {exhibit.column!r}; the "
            f"benchmark groups by {', '.join(benchmark.group_by) or 'nothing'}."
        )
    queries = relation(benchmark, "queries")
    query = sa.select(papers.c.source_id, queries.c[exhibit.column].label("group"), queries.c.query_id).join(
        papers, queries.c.paper_id == papers.c.paper_id
    )
    with database.read() as session:
        rows = session.rows(query)
    requested: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if row["group"] is not None:
            requested.setdefault(row["source_id"], []).append((str(row["group"]), row["query_id"]))
    pairs = tuple(pair for paper in sorted(requested) for pair in _pair_groups(paper, requested[paper]))
    return GroupPairsExhibit(exhibit.title, exhibit.column, pairs, exhibit.note) if pairs else None


def _pair_groups(paper: str, queries: Sequence[tuple[str, str]]) -> list[GroupPair]:
    """Each two queries of a paper that are in different groups, by the groups' names.

    >>> [(pair.query_a, pair.query_b) for pair in _pair_groups("p", [("b", "q2"), ("a", "q1"), ("a", "q3")])]
    [('q1', 'q2'), ('q3', 'q2')]
    """
    pairs = combinations(sorted(queries), 2)
    return [GroupPair(paper, *one, *other) for one, other in pairs if one[0] != other[0]]


_GATHERERS: Final[Mapping[str, Callable[[Database, Benchmark, Definition], Exhibit | None]]] = {
    "table": _gather_table,
    "heat_map": _gather_heat_map,
    "agreement": _gather_agreement,
    "group_pairs": _gather_pairs,
}
