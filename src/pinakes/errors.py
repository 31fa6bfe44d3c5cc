"""The one family of errors that Pinakes raises on purpose.

A message says what was wrong, what was expected and what to do next. `cli.main` prints the message
without a traceback; anything else that is raised is a defect of Pinakes and keeps its traceback.
"""

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Final, Self

MAX_LISTED: Final = 60
NEAR_LISTED: Final = 12
"""names that an error lists, and how many where one of them was probably meant; of more, the nearest"""
MAX_MESSAGE: Final = 4_000
"""characters of a whole message"""
SHOWN_CHARACTERS: Final = 200
"""of a user's content in an error"""


class PinakesError(Exception):
    """Base class of every error that a user can cause and mend."""


class DatabaseError(PinakesError):
    """The database cannot be reached, opened or written."""


class DatabaseBusyError(DatabaseError):
    """Another process holds the DuckDB file, or does the job that only one may do at a time.

    Attributes:
        holder: who it is and what it holds, as far as it is known.
    """

    def __init__(self, message: str, holder: str = "another process") -> None:
        super().__init__(message)
        self.holder = holder

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (str(self), self.holder)  # what another process raises is pickled


class SchemaVersionError(DatabaseError):
    """The database was made by an older or a newer Pinakes, or is not a Pinakes database."""


class UnknownNameError(PinakesError):
    """A name is in no registry; the message lists the known ones, and says which was probably meant."""

    def __init__(self, kind: str, name: str, known: Sequence[str], hint: str = "") -> None:
        what = f"unknown {kind} {show(name)}" if name.strip() else f"an empty name is that of no {kind}"
        said = f"{what}; known: {list_known(name, known)}"
        said += f". {hint}" if hint else ""
        meant = suggest(name, known)
        super().__init__(f"{said.removesuffix('.')}.{meant}" if meant else said)
        self._given = (kind, name, known, hint)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, Sequence[str], str]]:
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


class RegressionError(PinakesError):
    """Scores are below those that were accepted."""


class FetchError(PinakesError):
    """A file of a known dataset cannot be fetched, or is not what is published."""


def show(content: object, limit: int = SHOWN_CHARACTERS) -> str:
    """A user's content as an error shows it: quoted on one line, control characters escaped, cut.

    >>> show("a\\nb"), show("x" * 30, 10)
    ("'a\\\\nb'", "'xxxxxxxxxx' (the first 10 of 30 characters)")
    """
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    if isinstance(text, str):
        return (
            repr(text)
            if len(text) <= limit
            else f"{text[:limit]!r} (the first {limit} of {len(text)} characters)"
        )
    written = repr(text)
    return written if len(written) <= limit else f"{written[:limit]} (cut)"


def clean(message: str) -> str:
    """A message as a terminal may have it: without control characters but line ends, and not without an end.

    >>> clean("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\nb'
    """
    kept = message[:MAX_MESSAGE]
    shown = "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in kept)
    return shown if kept == message else f"{shown} … (the first {MAX_MESSAGE} of {len(message)} characters)"


def suggest(name: str, known: Collection[str]) -> str:
    """` Did you mean …?` with the known names that are nearest to a wrong one; empty where none is near.

    >>> suggest("SciFacts", ["scifact", "cranfield"]), suggest("x", ["scifact"])
    (' Did you mean scifact?', '')
    """
    near = _find_near(name, known)
    listed = " or ".join([", ".join(near[:-1]), near[-1]] if len(near) > 1 else near)
    return f" Did you mean {listed}?" if near else ""


def _find_near(name: str, known: Collection[str]) -> list[str]:
    """At most three, the nearest first; upper and lower case, `_` and `-` are alike."""
    plain = {one: _simplify(one) for one in sorted(known)}
    wanted = _simplify(name)
    close = get_close_matches(wanted, list(dict.fromkeys(plain.values())), n=3, cutoff=0.6)
    if len(wanted) > 2:
        starting = [text for text in plain.values() if text.startswith(wanted) and text not in close]
        close += starting
    return [one for text in close for one, simple in plain.items() if simple == text][:3]


def _simplify(name: str) -> str:
    return name.casefold().replace("-", "_").strip()


def list_known(name: str, known: Collection[str]) -> str:
    """The known names by name; of very many those that are nearest to a wrong one, and how many more.

    >>> list_known("x", ["b", "a"]), list_known("x", [])
    ('a, b', 'none')
    """
    limit = NEAR_LISTED if _find_near(name, known) else MAX_LISTED
    if len(known) <= limit:
        return ", ".join(sorted(known)) or "none"
    compared = SequenceMatcher(b=name)

    def distance(one: str) -> tuple[float, str]:
        compared.set_seq1(one)
        return -compared.quick_ratio(), one

    nearest = sorted(sorted(known, key=distance)[:limit])
    return f"{', '.join(nearest)} and {len(known) - limit} more"
