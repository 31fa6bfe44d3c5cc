"""A mapping: which path of a record feeds which column of which staged table.

Leaves out: reading it from a file (`mapping_file`) and applying it (`rows`).
"""

import re
from collections.abc import Mapping as Mapped
from dataclasses import dataclass, field
from typing import Any, Final

from pinakes.loaders.base import PAPER_CHILDREN, PAPER_COLUMNS, CorpusDescription
from pinakes.loaders.mapped.values import Path, parse_path
from pinakes.loaders.staging import STAGED

DEFAULTS: Final[dict[str, dict[str, str]]] = {
    "labels": {"split": "all", "quality": "gold", "label": "value"},
    "judgments": {"assessor": "published", "split": "test"},
    "sentences": {"section_number": "0"},
}
"""Staged table -> obligatory column -> what it holds when no mapping feeds it.

A label is the word `value` only beside a value.
"""

OWN_ID: Final = {
    **dict.fromkeys(STAGED, "source_id"),
    "citations": "citing_source_id",
}
"""Staged table -> the column that takes the record's own paper when no mapping feeds it."""

NUMBERED: Final = {
    "authorships": "position",
    "sentences": "position",
    "sections": "section_number",
    "review_scores": "review_id",
}
"""Staged table -> the column that takes an item's number, from 1, when no mapping feeds it."""

EXPECTED_RECORDS: Final = frozenset(
    {"papers", "mentioned_papers", "queries", "judgments", "pool_sources", "sentence_selections", "deletions"}
)
"""Staged tables to which a record owes a row: without an obligatory value it is rejected. A row of another
table is left out then, unless the mapping requires the column."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """What feeds a column.

    Attributes:
        paths: the first that holds something is taken.
        value: a constant; with paths, what stands in where none of them holds anything.
        split: parts the text; `part` (from 0, negative from the end) is kept.
        pattern: a regular expression; its first group, or the whole match, is kept, and a text without a
            match is rejected.
        renamed: a value -> what it becomes; others stay as they are.
        missing: values that stand for none.
        join: what parts of a list are joined with.
        prefix: is put before the value.
        normalise: an identifier scheme, or `title`: the value in its one spelling (`identifiers`).
        is_required: whether a record without the value is rejected.
        is_optional: whether a file may lack the column altogether.
    """

    name: str
    paths: tuple[Path, ...] = ()
    value: Any = None
    split: str | None = None
    part: int = 0
    pattern: re.Pattern[str] | None = None
    renamed: Mapped[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    join: str | None = None
    prefix: str = ""
    normalise: str | None = None
    is_required: bool = False
    is_optional: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether the text is changed on its way."""
        changes = (self.split, self.pattern, self.normalise, self.prefix or None, self.renamed or None)
        return any(change is not None for change in changes)


@dataclass(frozen=True, slots=True)
class TableMapping:
    """What feeds a staged table: its columns, and for `each` item of a list a row instead of one a record."""

    name: str
    columns: tuple[ColumnMapping, ...]
    each: Path | None = None
    separator: str | None = None
    each_is_optional: bool = False

    def names(self) -> set[str]:
        """The columns that the mapping feeds."""
        return {column.name for column in self.columns}


@dataclass(frozen=True, slots=True)
class Source:
    """Paths that start at the record: where the mapping says them, and if a file may lack all of them."""

    place: str
    paths: tuple[Path, ...]
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Mapping:
    """A whole mapping file.

    `csv` holds delimiter, encoding, quoted and columns as given; `corpus` what the file says of the corpus.
    """

    tables: tuple[TableMapping, ...]
    corpus: CorpusDescription | None = None
    csv: Mapped[str, Any] = field(default_factory=dict)

    def list_sources(self) -> list[Source]:
        """What the mapping reads of a record itself, in the order of its tables."""
        listed = []
        for table in self.tables:
            if table.each is not None:
                listed.append(Source(f"{table.name}.each", (table.each,), table.each_is_optional))
            for column in table.columns:
                paths = tuple(path for path in column.paths if table.each is None or path.from_record)
                if paths:
                    listed.append(Source(f"{table.name}.{column.name}", paths, column.is_optional))
        return listed

    def list_owned(self) -> frozenset[str]:
        """What the records say of their papers in full: columns of papers, and tables that hang on them."""
        owned: set[str] = set()
        for table in self.tables:
            if table.name == "papers":
                owned |= table.names() & set(PAPER_COLUMNS)
            elif table.name in PAPER_CHILDREN:
                owned.add(table.name)
        return frozenset(owned if any(table.name == "papers" for table in self.tables) else ())


def map_names(table: str, names: set[str] | None) -> Mapping:
    """The mapping of records that carry our staged names.

    Args:
        table: the staged table whose columns the record has; lists under the names of other staged tables
            hold rows of those.
        names: the names that a file has, where it says so before its first record.
    """
    columns = tuple(_map_name(name) for name in STAGED[table].names[1:] if names is None or name in names)
    may_nest = set(STAGED) - {"papers"} if table == "papers" else {"mentioned_papers"} - {table}
    nested = (name for name in STAGED if name in may_nest and (names is None or name in names))
    return Mapping((TableMapping(table, columns), *map(_map_nested, nested)))


def _map_nested(table: str) -> TableMapping:
    columns = tuple(map(_map_name, STAGED[table].names[1:]))
    return TableMapping(table, columns, parse_path(table), each_is_optional=True)


def _map_name(name: str) -> ColumnMapping:
    return ColumnMapping(name, (Path(name, (name,), False),), is_optional=True)
