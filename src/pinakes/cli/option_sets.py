"""Options that belong together, as one parameter of a command: a dataclass whose fields are the options.

    app = CommandGroup()

    @app.command()
    def resolve(corpus: CorpusName, common: Annotated[CommonOptions, Omit("quiet")]) -> None: ...

has the options of every field of `CommonOptions` but `--quiet`, where the parameter stands.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.models import ArgumentInfo, CommandFunctionType, OptionInfo

from pinakes.cli.completing import COMPLETED
from pinakes.errors import InputError


class Omit:
    """The fields of a set that a command does not take; they have their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


class CommandGroup(typer.Typer):
    """Commands of which each takes sets of options."""

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Make a command of the function, as Typer does, with the fields of its sets as options."""
        add = super().command(name, **settings)

        def register(command: CommandFunctionType) -> CommandFunctionType:
            add(takes_option_sets(command))
            return command

        return register


def takes_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer takes it, with the fields of its dataclasses as parameters of their own."""
    parameters: list[inspect.Parameter] = []
    sets: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind, chosen = _read_set(parameter.annotation)
        if kind is None:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        sets[parameter.name] = (kind, [field.name for field in chosen])
        parameters += [_make_parameter(field) for field in chosen]

    _complete(parameters)

    @wraps(command)
    def take(**given: Any) -> None:
        _refuse_empty(parameters, given)
        for name, (kind, names) in sets.items():
            given[name] = kind(**{option: given.pop(option) for option in names})
        command(**given)

    take.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    take.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return take


def _complete(parameters: Sequence[inspect.Parameter]) -> None:
    """Have a shell complete the parameters whose names say what they are."""
    for parameter in parameters:
        for note in get_args(parameter.annotation):
            if isinstance(note, ArgumentInfo | OptionInfo) and parameter.name in COMPLETED:
                note.autocompletion = COMPLETED[parameter.name]


def _refuse_empty(parameters: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> None:
    """Raise `InputError` for a text that is empty, where the command has no empty text for its default.

    Else a variable of a script that is not set would be taken for an option that was left out.
    """
    for parameter in parameters:
        value, default = given[parameter.name], parameter.default
        is_empty = value == "" or (isinstance(value, list | tuple) and "" in value)
        if is_empty and not (isinstance(default, str) and not default.strip()):
            raise InputError(f"{_spell(parameter)} is empty; give it a value, or leave it out.")


def _spell(parameter: inspect.Parameter) -> str:
    """An option or argument as the command line has it."""
    for note in get_args(parameter.annotation):
        if isinstance(note, ArgumentInfo):
            return note.metavar or parameter.name.upper()
        if isinstance(note, OptionInfo):
            declared = (one for one in note.param_decls or () if one.startswith("--"))
            return next(declared, f"--{parameter.name.replace('_', '-')}")
    return parameter.name


def _read_set(annotation: Any) -> tuple[type | None, list["Field[Any]"]]:
    """The dataclass of a parameter and those of its fields that the command takes; None: it is an option."""
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    if not isinstance(kind, type) or not is_dataclass(kind):
        return None, []
    omitted = {name for note in notes if isinstance(note, Omit) for name in note.names}
    return kind, [field for field in fields(kind) if field.name not in omitted]


def _make_parameter(field: "Field[Any]") -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
    )
