"""What the Python API gives: the rows of a query, and the rows that a command prints."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, overload

import pyarrow as pa

from pinakes.errors import PinakesError

if TYPE_CHECKING:  # importing `pinakes` waits for none of them
    import pandas as pd
    import polars as pl

SHOWN_ROWS: Final = 20
LONGEST_SHOWN: Final = 60


class Records(list[dict[str, Any]]):
    """Rows of one kind, each a dict by column name."""

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return pa.Table.from_pylist(list(self))

    def pandas(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame."""
        return _to_pandas(self.arrow())

    def polars(self) -> "pl.DataFrame":
        """The rows as a polars DataFrame."""
        return _to_polars(self.arrow())

    def __repr__(self) -> str:
        """The first rows as a table, as a command prints it."""
        from pinakes.report.formatting import format_field

        shown = [[format_field(name, value) for name, value in row.items()] for row in self[:SHOWN_ROWS]]
        return _draw(list(self[0]) if self else [], shown, len(self))


@dataclass(frozen=True, slots=True, eq=False)
class Searcher:
    """A corpus that is ready to be searched, as it was when it was opened.

    Attributes:
        corpus: its name.
        system: what searches it, as it is called in a run.
    """

    corpus: str
    system: str
    _find: Callable[[Sequence[str], int], list[Records]] = field(repr=False)

    @overload
    def search(self, texts: str, k: int = 10) -> Records: ...  # type: ignore[overload-overlap]  # a str too

    @overload
    def search(self, texts: Sequence[str], k: int = 10) -> list[Records]: ...

    def search(self, texts: str | Sequence[str], k: int = 10) -> "Records | list[Records]":
        """The `k` best papers for a text, or for each of several, which take less time together.

        Raises:
            InputError: a text has no words.
            IndexingError: `k` is below 1.
        """
        if isinstance(texts, str):
            return self._find([texts], k)[0]
        return self._find(list(texts), k)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """What a query gave. Of columns of one name the second is called `name_2`."""

    table: pa.Table

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table; a vector is a fixed-size list, a UUID is text."""
        return self.table

    def pandas(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame."""
        return _to_pandas(self.table)

    def polars(self) -> "pl.DataFrame":
        """The rows as a polars DataFrame."""
        return _to_polars(self.table)

    def records(self) -> Records:
        """The rows as dicts by column name."""
        return Records(self.table.to_pylist())

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return list(self.table.column_names)

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, each a tuple."""
        return iter(list(zip(*(column.to_pylist() for column in self.table.columns), strict=True)))

    def __repr__(self) -> str:
        """The first rows as a table, as `pinakes sql` prints it."""
        shown = Result(self.table.slice(0, SHOWN_ROWS))
        return _draw(self.columns, list(shown), len(self))


def _draw(columns: Sequence[str], rows: Sequence[Sequence[object]], count: int) -> str:
    from pinakes.report.formatting import shorten
    from pinakes.report.output import Output
    from pinakes.report.terminal import print_rows

    drawn = StringIO()
    cut = [
        [shorten(value, LONGEST_SHOWN) if isinstance(value, str) else value for value in row] for row in rows
    ]
    print_rows(columns, cut, Output(stream=drawn))
    more = f"{count:,} row{'' if count == 1 else 's'}"
    if count > len(rows):
        more += f"; the first {len(rows)} are shown"
    return f"{drawn.getvalue()}{more}"


def _to_pandas(table: pa.Table) -> "pd.DataFrame":
    try:
        import pandas as _  # noqa: F401 (pyarrow would say less)
    except ModuleNotFoundError as error:
        raise PinakesError("pandas is not installed; run `pip install pandas`.") from error
    return table.to_pandas()


def _to_polars(table: pa.Table) -> "pl.DataFrame":
    try:
        import polars
    except ModuleNotFoundError as error:
        raise PinakesError("polars is not installed; run `pip install polars`.") from error
    return polars.DataFrame(table)
