"""A user's own questions to the database, which can change nothing."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import pyarrow as pa

from pinakes.database.backend import ArrowResult, RawResult
from pinakes.database.core import Database
from pinakes.database.driver_errors import driver_errors, explain, is_cancelled, read_message
from pinakes.errors import InputError

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a query may take, in seconds, and how many rows it may give; None: any number."""

    timeout_s: float | None = None
    max_rows: int | None = None


NO_LIMITS: Final = Limits()


@contextmanager
def ask(database: Database, text: str, limits: Limits = NO_LIMITS) -> Iterator[RawResult]:
    """The result of a user's query over a database that was opened read-only.

    Raises `InputError` where the database refuses the text, or a limit is reached, at once or while its rows
    come.
    """
    watch = _Watch(limits)
    with database.read() as session:
        with watch.explained():
            result = session.query(text, timeout_s=limits.timeout_s)
        if not result.columns:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        yield RawResult(result.columns, watch.over(result.rows, lambda _row: 1))


@contextmanager
def ask_arrow(database: Database, text: str, limits: Limits = NO_LIMITS) -> Iterator[ArrowResult]:
    """As `ask`, in Arrow tables; of columns of one name the second is called `name_2`."""
    watch = _Watch(limits)
    with database.read() as session:
        with watch.explained():
            result = session.query_arrow(text, timeout_s=limits.timeout_s)
        names = number_repeated(result.schema.names)
        if not names:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        schema = pa.schema([field.with_name(name) for field, name in zip(result.schema, names, strict=True)])
        parts = (part.rename_columns(names) for part in watch.over(result.parts, lambda part: part.num_rows))
        yield ArrowResult(schema, parts)


def number_repeated(names: Sequence[str]) -> list[str]:
    """The names, none of them twice.

    >>> number_repeated(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    unique: list[str] = []
    for name in names:
        number, wanted = 1, name
        while wanted in unique:
            number += 1
            wanted = f"{name}_{number}"
        unique.append(wanted)
    return unique


class _Watch:
    """The limits of one query, from now on."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.end_s = None if limits.timeout_s is None else time.monotonic() + limits.timeout_s

    def over(self, parts: Iterator[_Part], count: Callable[[_Part], int]) -> Generator[_Part]:
        """The parts of the result as they come, until a limit is reached."""
        rows = 0
        with self.explained():
            for part in parts:
                rows += count(part)
                if self.limits.max_rows is not None and rows > self.limits.max_rows:
                    raise InputError(
                        f"the query gives more than the {self.limits.max_rows} rows that --max-rows allows; "
                        "add a LIMIT to the query, or allow more."
                    )
                if self.end_s is not None and time.monotonic() > self.end_s:
                    raise self._too_late()
                yield part

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What the drivers raise within, as a user's error."""
        try:
            yield
        except InputError as error:
            if is_cancelled(error.__cause__):
                raise self._too_late() from error
            raise
        except driver_errors() as error:
            if is_cancelled(error):
                raise self._too_late() from error
            raise explain(error) or InputError(f"the database refuses the query: {error}") from error
        except UnicodeDecodeError as error:
            raise InputError(f"the database refuses the query: {read_message(error)}") from error

    def _too_late(self) -> InputError:
        if self.limits.timeout_s is None:
            return InputError("the database ended the query; ask for less, or ask again.")
        return InputError(
            f"the query took longer than the {self.limits.timeout_s:g} seconds that --timeout allows; ask "
            "for less, or allow more."
        )
