"""What a benchmark's folder asks of a report: its baselines, and tables and figures of its own views."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

ExhibitKind = Literal["table", "heat_map", "agreement", "group_pairs"]

_KINDS: Final = get_args(ExhibitKind)
_NEEDS_VIEW: Final = ("table", "heat_map")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A system as a paper ran it: how we run it, and the published row that it is to be held against.

    Attributes:
        system: as `--system` takes it.
        published: the system's name in `published`; empty: none was published.
        label: what a report calls the run; empty: as it calls any other.
        options: the system's own options.
        query_template, paper_template, distance: None: as the system and the benchmark say.
    """

    system: str
    published: str = ""
    label: str = ""
    options: Mapping[str, str] | None = None
    query_template: str | None = None
    paper_template: str | None = None
    distance: str | None = None

    @property
    def name(self) -> str:
        """What it is called: its label, else the published row's name, else the system's."""
        return self.label or self.published or self.system


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table or a figure of a report that is not about one run.

    Attributes:
        kind: `table`, the rows of a view; `heat_map`, a view of (facet or other group a, group b, grade a,
            grade b, count), a panel for each pair of groups; `agreement`, how the assessors of the corpus
            agree, by group; `group_pairs`, the headline measure of papers that are asked with two groups.
        title: its heading.
        view: the view that it shows, one of the benchmark's own; empty where the kind needs none.
        column: the grouping column of `agreement` and `group_pairs`; empty for the others.
        key: the columns of a table's view that name a row, as `published` does with ` / ` between.
        source: paper and table of what was published.
        measures: the columns that the published figures are of.
        published: row -> figures as printed, one for each of `measures`.
        note: what a reader should know.
    """

    kind: ExhibitKind
    title: str
    view: str = ""
    column: str = ""
    key: tuple[str, ...] = ()
    source: str = ""
    measures: tuple[str, ...] = ()
    published: Mapping[str, tuple[str, ...]] | None = None
    note: str = ""


def read_baselines(tables: Sequence[Mapping[str, Any]]) -> tuple[Baseline, ...]:
    """The `[[baselines]]` of a benchmark.toml; ValueError or TypeError where one is not as it should be."""
    return tuple(Baseline(**table) for table in tables)


def read_exhibits(tables: Sequence[Mapping[str, Any]], views: Sequence[str]) -> tuple[Exhibit, ...]:
    """The `[[exhibits]]` of a benchmark.toml, whose folder has the given views of its own.

    Raises ValueError or TypeError where one is not as it should be.
    """
    return tuple(_read_exhibit(table, views) for table in tables)


def _read_exhibit(table: Mapping[str, Any], views: Sequence[str]) -> Exhibit:
    lists = {name: tuple(table[name]) for name in ("key", "measures") if name in table}
    published = {row: tuple(figures) for row, figures in table.get("published", {}).items()}
    exhibit = Exhibit(**{**table, **lists, "published": published})
    if exhibit.kind not in _KINDS:
        raise ValueError(f"an exhibit's kind is {exhibit.kind!r}; expected one of {', '.join(_KINDS)}")
    if exhibit.kind in _NEEDS_VIEW and exhibit.view not in views:
        known = ", ".join(views) or "none"
        raise ValueError(f"an exhibit shows the view {exhibit.view!r}; the folder's own views are: {known}")
    if exhibit.kind not in _NEEDS_VIEW and not exhibit.column:
        raise ValueError(f"the exhibit {exhibit.title!r} names no column to group by")
    for row, figures in published.items():
        if len(figures) != len(exhibit.measures):
            raise ValueError(f"the exhibit {exhibit.title!r} has {len(figures)} figures in the row {row!r}")
    return exhibit
