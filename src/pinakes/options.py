"""Options by `name=value`: declared in a frozen dataclass, read by one parser, listed from the same fields.

A field's type, default, help and values are all that the command line, the manual and an error say of it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, Final, TypeVar, cast, get_args

from pinakes.errors import InputError, UnknownNameError, show, suggest

Value = str | int | float | bool | None
Declared = TypeVar("Declared")

_SPELLINGS: Final = {"yes": True, "no": False}
_WORDS: Final = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        type: str, int, float or bool; a bool is written `yes` or `no`.
        default: its value where none is given; None: what `help` says.
        choices: the values that a text can have; empty: any.
        minimum, maximum: of a number, both included.
        above: what a number must exceed.
    """

    name: str
    type: type[Any]
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None

    @property
    def expected(self) -> str:
        """What a value can be, in words.

        >>> Option("b", float, 0.75, "", minimum=0, maximum=1).expected
        'a number from 0 to 1'
        """
        if self.choices:
            alike = len(self.choices) == 2
            return " or ".join(self.choices) if alike else f"one of {', '.join(self.choices)}"
        words = _WORDS[self.type]
        if self.above is not None:
            return f"{words} above {spell(self.above)}"
        if self.minimum is not None and self.maximum is not None:
            return f"{words} from {spell(self.minimum)} to {spell(self.maximum)}"
        return words if self.minimum is None else f"{words} of at least {spell(self.minimum)}"

    def read(self, of: str, text: str) -> Value:
        """The value that a text means.

        Raises:
            InputError: it is none that the option can have.
        """
        value = self._convert(text)
        if value is None or (self.choices and value not in self.choices) or not self._is_in_range(value):
            meant = suggest(text, self.choices)
            raise InputError(f"option of {of}: {self.name} is {show(text)}; expected {self.expected}.{meant}")
        return value

    def _convert(self, text: str) -> Value:
        if self.type is bool:
            return _SPELLINGS.get(text)
        if self.type is int:
            return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
        if self.type is float:
            try:
                return float(text)
            except ValueError:
                return None
        return text

    def _is_in_range(self, value: Value) -> bool:
        if isinstance(value, str | bool | None):
            return True
        return (
            math.isfinite(value)
            and (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.above is None or value > self.above)
        )


def option(
    default: Value,
    help: str,
    *,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> Any:
    """A field of a dataclass of options; the parameters are those of `Option`."""
    said = {"choices": tuple(choices), "minimum": minimum, "maximum": maximum, "above": above}
    return field(default=default, metadata={"help": help, **said})


@dataclass(frozen=True, slots=True)
class NoOptions:
    """What has no option of its own."""


def list_options(declared: type[Any]) -> tuple[Option, ...]:
    """The options that a dataclass declares, in its order."""
    return tuple(
        Option(one.name, _find_type(one.type), cast(Value, one.default), **one.metadata)
        for one in fields(declared)
    )


def _find_type(annotation: Any) -> type[Any]:
    """The type of the values of `X`, of `X | None`, or of a `Literal` of texts."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    found: type[Any] = parts[0] if parts else annotation
    return type(found) if isinstance(found, str) else found


def read_options(
    declared: type[Declared],
    of: str,
    given: Mapping[str, str],
    fixed: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, str] | None = None,
) -> Declared:
    """The options that were given, with the defaults for the others; `of` names what they are of.

    `fixed` are values that nobody else may set; `elsewhere` says of an option that there is not where it is.

    Raises:
        UnknownNameError: there is no option of that name, or it is fixed; the message lists the others.
        InputError: a value is not one that its option can have.
    """
    return declared(**parse_options(list_options(declared), of, given, fixed, elsewhere))


def parse_options(
    known: Sequence[Option],
    of: str,
    given: Mapping[str, str],
    fixed: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The values of the options that were given or are fixed, as `read_options`.

    >>> parse_options([Option("m", int, 32, "Links of a vector.", minimum=1)], "hnsw", {"m": "16"})
    {'m': 16}
    """
    fixed = fixed or {}
    free = [one.name for one in known if one.name not in fixed]
    unknown = sorted(given.keys() - set(free))
    if unknown:
        raise UnknownNameError(f"option of {of}", unknown[0], free, (elsewhere or {}).get(unknown[0], ""))
    texts = {**fixed, **given}
    return {one.name: one.read(of, texts[one.name]) for one in known if one.name in texts}


def spell(value: Value) -> str:
    """A value as `name=value` writes it; nothing for None.

    >>> spell(True), spell(60.0), spell(0.75)
    ('yes', '60', '0.75')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def describe_options(known: Sequence[Option]) -> list[dict[str, str]]:
    """One row an option: its name, what it can be, its default and its help."""
    return [
        {"option": one.name, "values": one.expected, "default": spell(one.default), "help": one.help}
        for one in known
    ]
