"""A user's own questions to the database, which can change nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pinakes.database.core import Database
from pinakes.database.driver_errors import DRIVER_ERRORS, explain
from pinakes.database.results import RawResult
from pinakes.errors import InputError


@contextmanager
def ask(database: Database, text: str) -> Iterator[RawResult]:
    """The result of a user's query over a database that was opened read-only.

    Raises:
        InputError: the database refuses the text, at once or while its rows come.
    """
    with database.read() as session:
        result = session.query(text)
        if not result.columns:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        yield RawResult(result.columns, _explain_refusal(result.rows))


def _explain_refusal(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    try:
        yield from rows
    except DRIVER_ERRORS as error:
        raise explain(error) or InputError(f"the database refuses the query: {error}") from error
