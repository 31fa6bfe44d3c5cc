"""The one family of errors that Pinakes raises on purpose.

A message says what was wrong, what was expected and what to do next. `cli.main` prints the message
without a traceback; anything else that is raised is a defect of Pinakes and keeps its traceback.
"""

from typing import Self


class PinakesError(Exception):
    """Base class of every error that a user can cause and mend."""


class DatabaseError(PinakesError):
    """The database cannot be reached, opened or written."""


class DatabaseBusyError(DatabaseError):
    """Another process holds the DuckDB file."""


class SchemaVersionError(DatabaseError):
    """The database was made by an older or a newer Pinakes, or is not a Pinakes database."""


class UnknownNameError(PinakesError):
    """A name is in no registry; the message lists the known ones."""

    def __init__(self, kind: str, name: str, known: list[str], hint: str = "") -> None:
        listed = ", ".join(sorted(known)) or "none"
        super().__init__(f"unknown {kind} {name!r}; known: {listed}{'. ' + hint if hint else ''}")
        self._given = (kind, name, known, hint)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, list[str], str]]:
        return type(self), self._given  # what another process raises is pickled


class InputError(PinakesError):
    """A file, an option or a record of the user's is not what it has to be."""


class OtherContentError(InputError):
    """A file has the name of one that is read, and the content of another; of several, it is passed over."""


class LoadError(PinakesError):
    """A load could not be finished; what it had committed stays, and a second start goes on from there."""


class IndexingError(PinakesError):
    """A model, a vector or a side index cannot be made or used."""


class BenchmarkError(PinakesError):
    """A benchmark folder is incomplete, or its views do not give what is expected."""


class RunError(PinakesError):
    """A ranking cannot be made, imported or stored."""


class EvaluationError(PinakesError):
    """Measures cannot be computed from what was given."""


class FetchError(PinakesError):
    """A file of a known dataset cannot be fetched, or is not what is published."""
