"""The reference pages, made from the program: `python -m tests.reference`.

Commands, settings, loaders, systems, measures and benchmarks, as the command line, the registries and their
docstrings have them.
"""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import typer.main

from pinakes import cli
from pinakes.cli import codes
from pinakes.cli.exporting import DEFAULT_EXPORT
from pinakes.cli.indexing import DEFAULT_INDEX
from pinakes.evaluators.base import REQUIRED
from pinakes.evaluators.other_names import ALIASES
from pinakes.evaluators.registry import FAMILIES, find_family, parse_measure
from pinakes.loaders.registry import LOADERS, find_loader
from pinakes.options import describe_options, list_options
from pinakes.queries.definition import Benchmark, read_benchmarks
from pinakes.settings import Settings
from pinakes.systems.base import ABILITIES
from pinakes.systems.registry import describe_systems, list_kinds
from tests.documents import make_anchor
from tests.made_pages import write_pages

FOLDER: Final = Path(__file__).parents[1] / "docs" / "reference"
MADE: Final = "Made by `python -m tests.reference`."
GROUPS: Final = {
    "loading": "Commands that load",
    "deriving": "Commands that derive",
    "exporting": "Commands that export, and take corpora back",
    "indexing": "Commands that index and encode",
    "training": "The command that trains encoders",
    "searching": "Commands that search",
    "sampling": "Commands that make benchmarks",
    "systems": "The command that lists systems",
    "running": "Commands that run",
    "evaluating": "Commands that score and compare",
    "reporting": "Commands that show",
    "removing": "Commands that remove",
    "planning": "The command that plans",
    "demo": "The demo",
}
"""modules of pinakes.cli -> headings"""
DEFAULTS: Final = {"index": DEFAULT_INDEX, "export": DEFAULT_EXPORT}
"""the command of a group that is called without its name"""

_VALUES: Final = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}
_COMMON_FROM: Final = 8  # commands that take an option of the same help: it is described once


def render() -> dict[str, str]:
    """Path below the folder -> the page."""
    pages = {
        "commands.md": _render_commands(),
        "settings.md": _render_settings(),
        "loaders.md": _render_loaders(),
        "systems.md": _render_systems(),
        "measures.md": _render_measures(),
    }
    for module, heading in GROUPS.items():
        pages[f"commands/{module}.md"] = _render_group(module, heading)
    suites: dict[str, list[Benchmark]] = {}
    for benchmark in read_benchmarks():
        suites.setdefault(benchmark.suite.name if benchmark.suite else "", []).append(benchmark)
    for suite, benchmarks in suites.items():
        name = f"benchmarks_of_{suite}.md" if suite else "benchmarks.md"
        heading = f"Benchmarks of the suite {suite}" if suite else "Benchmarks"
        pages[name] = _render_benchmarks(heading, benchmarks)
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in pages.items()}


def list_commands() -> Iterator[tuple[str, str, Any]]:
    """Group of commands, words of a command (without the program's), and the command."""
    for name, command in typer.main.get_command(cli.app).commands.items():  # type: ignore[attr-defined]
        for word, part in getattr(command, "commands", {"": command}).items():
            words = name if word == DEFAULTS.get(name, "") else f"{name} {word}"
            yield inspect.unwrap(part.callback).__module__.rpartition(".")[2], words, part


def _render_commands() -> Iterator[str]:
    yield f"# Commands\n\n{MADE} `pinakes COMMAND --help` says the same.\n"
    yield "| command | what it does |\n|---|---|"
    for group, words, command in list_commands():
        link = f"commands/{group}.md#{make_anchor(f'pinakes {words}')}"
        yield f"| [`pinakes {words}`]({link}) | {_say(_first(command.help))} |"
    yield "\n## Options of many commands\n"
    yield "| option | variable | what it says |\n|---|---|---|"
    for option in _find_common().values():
        yield f"| {_spell(option)} | {f'`{option.envvar}`' if option.envvar else ''} | {_say(option.help)} |"
    yield "\n## Exit codes\n\nThe [manual](../manual/command_line.md) says more of each.\n"
    yield "| exit code | name | meaning |\n|---:|---|---|"
    for name, doc in _read_field_docs(codes):
        yield f"| {codes.ExitCode[name].value} | `{name}` | {_say(doc)} |"


def _render_group(module: str, heading: str) -> Iterator[str]:
    common = _find_common()
    yield f"# {heading}\n\n{MADE}\n"
    for group, words, command in list_commands():
        if group == module:
            yield from _render_command(words, command, common)


def _render_command(words: str, command: Any, common: Mapping[str, Any]) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = _list_options(command)
    usage = " ".join(["pinakes", words, "[OPTIONS]", *map(_place, arguments)])
    yield f"## pinakes {words}\n\n```text\n{usage}\n```\n\n{_join(command.help)}\n"
    if arguments:
        yield "| argument | | what it is |\n|---|---|---|"
        for one in arguments:
            yield f"| `{_metavar(one)}` | {'' if one.required else 'optional'} | {_say(one.help)} |"
        yield ""
    own = [one for one in options if _key(one) not in common]
    if own:
        yield "| option | default | what it says |\n|---|---|---|"
        for one in own:
            yield f"| {_spell(one)} | {_show_default(one)} | {_say(one.help)} |"
        yield ""
    shared = [one.opts[0] for one in options if _key(one) in common]
    if shared:
        listed = ", ".join(f"`{one}`" for one in shared)
        yield f"Also, as [many commands](../commands.md#options-of-many-commands): {listed}.\n"


def _find_common() -> dict[str, Any]:
    """The options that many commands have with the same help, by spelling and help."""
    found = [one for _, _, command in list_commands() for one in _list_options(command)]
    counts = Counter(map(_key, found))
    return {_key(one): one for one in found if counts[_key(one)] >= _COMMON_FROM}


def _list_options(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "option" and not one.hidden]


def _key(parameter: Any) -> str:
    return f"{' '.join(parameter.opts)}: {parameter.help}"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper().strip("[].").replace("_", "-")


def _place(argument: Any) -> str:
    name = _metavar(argument) + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _spell(option: Any) -> str:
    """`--jobs NUMBER`, `--quiet`, `-q`, …"""
    kind = option.type_descriptor.annotation
    while get_origin(kind) in (list, tuple):
        kind = get_args(kind)[0]
    value = ""
    if not option.is_flag:
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        value = " " + (option.metavar or "|".join(map(str, choices)) or _VALUES.get(kind, "VALUE"))
    spelled = [f"`{one}{value}`" for one in option.opts] + [f"`{one}`" for one in option.secondary_opts]
    return ", ".join(spelled).replace("|", "\\|")


def _show_default(option: Any) -> str:
    default = option.default
    if option.required:
        return "must be given"
    if default is None or default is False or default == () or callable(default):
        return ""
    listed = default if isinstance(default, list | tuple) else [default]
    return ", ".join(f"`{one}`" for one in listed)


def _render_settings() -> Iterator[str]:
    yield f"# Settings\n\n{MADE}\n"
    yield "Every option can be set by an environment variable, `PINAKES_<COMMAND>_<OPTION>` or one of those"
    yield "below; what a command line says comes first. Those of images and of tests are told in the"
    yield "[manual](../manual/environment.md).\n"
    yield "| variable | what it says |\n|---|---|"
    found = {one.envvar: one for _, _, c in list_commands() for one in _list_options(c) if one.envvar}
    for _, doc in sorted(_read_attributes(Settings)):
        name = re.search(r"`(PINAKES_\w+)`", doc)
        assert name, doc
        text = re.sub(r" \(`PINAKES_\w+`(?:, ([^)]*))?\)", lambda m: f" ({m[1]})" if m[1] else "", doc)
        if name[1] not in found:
            yield f"| `{name[1]}` | {_say(text).replace('; None: ', '; by default ')} |"
    yield "\n## Options with a variable of their own\n"
    yield "| variable | option | what it says |\n|---|---|---|"
    for name, option in sorted(found.items()):
        yield f"| `{name}` | {_spell(option)} | {_say(option.help)} |"


def _render_loaders() -> Iterator[str]:
    yield f"# Loaders\n\n{MADE} What becomes of a source's parts is told in [formats](../manual/formats.md);"
    yield "how loads go on, and what they say, in [loading](../manual/loading.md).\n"
    modules: dict[str, list[str]] = {}
    for name, target in LOADERS.items():
        modules.setdefault(target.partition(":")[0], []).append(name)
    for module, names in modules.items():
        yield f"## {', '.join(names)}\n"
        yield _join(import_module(module).__doc__) + "\n"
        options = find_loader(names[0]).options
        if options:
            yield "| `--option` | what it says |\n|---|---|"
            for option, text in options.items():
                yield f"| `{option}=` | {_say(text)} |"
            yield ""


def _render_systems() -> Iterator[str]:
    yield f"# Systems\n\n{MADE} `pinakes systems` lists the same. What each system computes is told in"
    yield "the [manual](../manual/systems.md).\n"
    yield "| name of a system | what it can do | options |\n|---|---|---|"
    for row in describe_systems():
        options = ", ".join(f"`{one}`" for one in row["options"].split(", ") if one)
        yield f"| `{row['system']}` | {row['can']} | {options} |"
    yield "\n## What a system can do\n\n| ability | means |\n|---|---|"
    for ability, meaning in ABILITIES.items():
        yield f"| `{ability}` | {meaning} |"
    yield "\n## Options of systems\n"
    yield "| `--option` | of | values | default | what it is |\n|---|---|---|---|---|"
    declared: dict[tuple[str, ...], list[str]] = {}
    for name, kind in list_kinds():
        for row in describe_options(list_options(kind.own_options)):
            declared.setdefault(tuple(row.values()), []).append(f"`{name}`")
    for (option, values, default, text), names in declared.items():
        yield f"| `{option}` | {', '.join(names)} | {values} | {default} | {text} |"


def _render_measures() -> Iterator[str]:
    yield f"# Measures\n\n{MADE} What computes them, and their traps, are told in the"
    yield "[manual](../manual/measures.md).\n"
    yield "A name is `base(parameter=value)@cutoff`. A required parameter is marked *.\n"
    yield "| base | cutoff | parameters, with defaults | a query's values | order |\n|---|---|---|---|---|"
    cutoffs = {"none": "", "optional_rank": "`@k`, or none", "rank": "`@k`", "share": "`%share`"}
    for base in FAMILIES:
        family = find_family(base)
        parameters = ", ".join(
            f"`{name}`{_write_default(value)}" for name, value in family.parameters.items()
        )
        cutoff = cutoffs.get(family.cutoff, "`@level`, a level of recall")
        summed = "are counted" if family.is_count else "are averaged"
        order = "as given" if family.in_given_order else "by score, then id"
        yield f"| `{base.rstrip('%')}` | {cutoff} | {parameters} | {summed} | {order} |"
    yield "\n## Other names\n\n| name | stands for |\n|---|---|"
    for name in sorted(ALIASES, key=str.lower):
        yield f"| `{name}` | {_find_meant(name)} |"


def _write_default(value: Any) -> str:
    if value is REQUIRED:
        return " *"
    return "" if value is None else f" ({value})"


def _find_meant(name: str) -> str:
    """The measure that another name stands for, at a cutoff where it needs one."""
    for written in (name, f"{name}@10", f"{name}_10", f"{name}_0.10", f"{name}@0.1"):
        try:
            return f"`{parse_measure(written).name}`" + (f" as `{written}`" if written != name else "")
        except Exception:  # noqa: BLE001 (the next spelling is tried)
            continue
    raise AssertionError(name)


def _render_benchmarks(heading: str, benchmarks: Iterable[Benchmark]) -> Iterator[str]:
    yield f"# {heading}\n\n{MADE} What they rank and why is told in the [manual](../manual/benchmarks.md).\n"
    for one in benchmarks:
        yield f"## {one.name}\n\n{one.title}. {one.citation}. Licence: {one.licence}.\n"
        corpora = ", ".join(f"`{name}`" for name in filter(None, (one.corpus, *one.other_corpora)))
        pools = {"shared": "one for all queries", "per_query": "each query has its own"}
        yield f"- task `{one.task}`" + (f", format `{one.format}`" if one.format else "")
        yield f"- reads {corpora or 'the corpus that `--corpus` names'}"
        if one.task == "ranking":
            yield f"- pool: {pools.get(one.pool, 'each query names one of several')}"
            yield f"- templates: queries `{one.query_template}`, papers `{one.paper_template}`"
        others = [f"`{name}`" for name in one.measures if name != one.headline_measure]
        yield f"- headline measure `{one.headline_measure}`" + (
            f"; also {', '.join(others)}" if others else ""
        )
        if one.grades:
            yield "- grades: " + ", ".join(f"{grade} ({meaning})" for grade, meaning in one.grades.items())
        if one.group_by:
            yield f"- grouped by {', '.join(f'`{name}`' for name in one.group_by)}"
        if one.splits:
            yield f"- splits: {', '.join(f'`{name}`' for name in one.splits)}"
        if one.published:
            yield f"- {len(one.published)} published figures"
        if one.own_views:
            yield f"- further views: {', '.join(f'`{one.name}.{view}`' for view in one.own_views)}"
        yield from (f"- {note}" for note in one.notes)
        yield ""


def _read_field_docs(module: Any) -> Iterator[tuple[str, str]]:
    """The names that the one class of a module assigns, with the strings behind them."""
    (kind,) = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef)]
    for node, behind in zip(kind.body, kind.body[1:], strict=False):
        if isinstance(node, ast.Assign) and isinstance(behind, ast.Expr):
            yield ast.unparse(node.targets[0]), str(ast.literal_eval(behind.value))


def _read_attributes(kind: type) -> Iterator[tuple[str, str]]:
    """The `Attributes:` of a docstring."""
    _, _, listed = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    for found in re.finditer(r"^    (\w+): ((?:.*\n?(?:     +.*\n?)*))", listed, re.MULTILINE):
        yield found[1], " ".join(found[2].split())


def _join(text: str | None) -> str:
    """A docstring with each paragraph on a line."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or "").split("\f")[0])
    return "\n\n".join(_break_lists(one) for one in paragraphs)


def _break_lists(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if any(re.match(r"\s*(?:[-*>|]|\d\.) ", line) for line in lines) or re.match(r" {4}", paragraph):
        return paragraph
    return " ".join(line.strip() for line in lines)


def _first(text: str | None) -> str:
    return _join(text).split("\n\n")[0]


def _say(text: str | None) -> str:
    """A text as a cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    write_pages(FOLDER, render())
