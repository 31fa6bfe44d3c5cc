"""The options of `pinakes sample`, declared once.

The command line, the checks of values, the row of `samplings` and the manual's table follow this declaration;
the defaults are in the `[sampling]` of a benchmark.toml. `pinakes --help` reads this module, so that it must
import nothing heavy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from pinakes.errors import InputError, UnknownNameError, show

_WORDS: Final = {int: "a whole number", str: "a text", Path: "a path"}

OptionValue = str | int | Sequence[int] | Sequence[Path] | None


@dataclass(frozen=True, slots=True)
class Option:
    """What an option says of itself, besides its name and type.

    Attributes:
        help: what the command line and the manual print.
        minimum: the smallest number that it may be, or that each of its numbers may be.
        choices: the words that it may be; empty: any.
        column: the column of `samplings` that keeps it; None: none does.
        flag: its name on the command line, with underscores, where that is not its own.
    """

    help: str
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    column: str | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """The value of every option: what was given, else the benchmark's `[sampling]`."""

    year: Annotated[int, Option("Year of the queries, and the last of drawn candidates.", column="year")]
    queries: Annotated[
        int, Option("Test queries: in all, or for each field.", minimum=1, column="query_count")
    ]
    validation_queries: Annotated[
        int, Option("Queries for tuning, as many more.", minimum=0, column="validation_count")
    ]
    pool_sizes: Annotated[
        tuple[int, ...], Option("Papers of a pool. May be repeated.", minimum=1, flag="pool_size")
    ]
    validation_pool_size: Annotated[int, Option("Papers of a pool for tuning.", minimum=1)]
    repeats: Annotated[int, Option("Independent pools of each size.", minimum=1, column="repeats")]
    seed: Annotated[str, Option("Another seed, another sample.", column="seed")]
    exclude: Annotated[
        tuple[Path, ...],
        Option("File of source ids that must be no query, one a line. May be repeated."),
    ] = ()
    assigned_by: Annotated[str | None, Option("Whose fields of study, as mag.", column="assigned_by")] = None
    min_abstract: Annotated[
        int, Option("Pre-filter: characters of an abstract.", minimum=0, column="min_abstract")
    ]
    min_citations: Annotated[
        int, Option("Pre-filter: citations of a paper.", minimum=0, column="min_citations")
    ]
    counted: Annotated[
        str,
        Option(
            "Pre-filter: count citations made, received, or either, where enough of one suffice.",
            choices=("made", "received", "either"),
            column="counted",
        ),
    ]
    min_cited: Annotated[int, Option("Papers that a query cites at least.", minimum=1, column="min_cited")]

    def stored_columns(self) -> dict[str, Any]:
        """Their columns of the row of `samplings`."""
        return {
            declared.option.column: getattr(self, name)
            for name, declared in declared_options().items()
            if declared.option.column
        }


class Declared(NamedTuple):
    """An option with its flag, as `pool_size`, and its type: that of each value where it `may_repeat`."""

    flag: str
    type: type
    may_repeat: bool
    option: Option


@cache
def declared_options() -> dict[str, Declared]:
    """Name -> option, in the order of the help."""
    hints = get_type_hints(SampleOptions, include_extras=True)
    return {one.name: _declare(one.name, *get_args(hints[one.name])) for one in fields(SampleOptions)}


def _declare(name: str, hint: Any, option: Option) -> Declared:
    origin = get_origin(hint)
    return Declared(option.flag or name, get_args(hint)[0] if origin else hint, origin is tuple, option)


def choose_options(
    benchmark: str, defaults: Mapping[str, Any], given: Mapping[str, OptionValue]
) -> SampleOptions:
    """What is given, else the benchmark's `[sampling]`, each checked; None and what is empty say nothing.

    Raises:
        UnknownNameError: there is no such option.
        InputError: a value is missing, or not as it should be.
    """
    said = {name: value for name, value in given.items() if value not in (None, "", (), [])}
    chosen = {**defaults, **said}
    declared = declared_options()
    for name in chosen:
        if name not in declared:
            raise UnknownNameError("option of a sample", name, list(declared))
    missing = [one.name for one in fields(SampleOptions) if one.default is MISSING and one.name not in chosen]
    if missing:
        raise InputError(f"{missing[0]} is missing; expected it in the [sampling] of {benchmark}.")
    return SampleOptions(**{name: _check(name, declared[name], value) for name, value in chosen.items()})


def _check(name: str, declared: Declared, value: Any) -> Any:
    """The value; of several, each once and in order."""
    if declared.may_repeat:
        if not isinstance(value, list | tuple) or not value:
            raise InputError(f"{name} is {value!r}; expected a list.")
        return tuple(sorted({_check(name, declared._replace(may_repeat=False), one) for one in value}))
    option = declared.option
    if not isinstance(value, declared.type) or isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; expected {_WORDS[declared.type]}.")
    if isinstance(value, int) and option.minimum is not None and value < option.minimum:
        raise InputError(f"{name} is {value}; expected at least {option.minimum}.")
    if option.choices and value not in option.choices:
        raise InputError(f"{name} is {show(value)}; expected one of {', '.join(option.choices)}.")
    return value
