"""What a benchmark's exhibits show, as `pinakes.report.exhibits` gathers it from the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class TableExhibit:
    """Rows of a view, or another small table, with what was printed of it.

    Attributes:
        columns: the names of the columns; `rows` have a value for each.
        key: the columns that name a row.
        measures: the columns that printed figures are of.
        published: row, as `key` names it with ` / ` between -> the printed figures of `measures`.
        source: paper and table of what was printed.
        left_out: rows that are too many to show.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    key: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    published: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    note: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class HeatMapPanel:
    """How often two grades come together in a pair of groups: `counts[(grade a, grade b)]`."""

    group_a: str
    group_b: str
    counts: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class HeatMapExhibit:
    """A panel for each pair of groups, over the same grades."""

    title: str
    grades: tuple[int, ...]
    panels: tuple[HeatMapPanel, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class GroupPair:
    """One paper that is a query in two groups: the paper's source id, and group and query of each."""

    paper: str
    group_a: str
    query_a: str
    group_b: str
    query_b: str


@dataclass(frozen=True, slots=True)
class GroupPairsExhibit:
    """The papers that are queries in two groups of a column; the values are those of the report."""

    title: str
    column: str
    pairs: tuple[GroupPair, ...]
    note: str = ""


Exhibit = TableExhibit | HeatMapExhibit | GroupPairsExhibit
