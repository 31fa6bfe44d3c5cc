"""Recipes: reading their files, and filling in what a user gives for their parameters."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import orjson

from pinakes.database import Database
from pinakes.database.sql_blocks import quote_text
from pinakes.errors import InputError, UnknownNameError, show
from pinakes.progress import say_nothing

KINDS: Final = ("benchmark", "corpus", "system", "measure", "index", "terms", "text", "number")
"""of parameters: what is looked up in the database (`index`: one that is written down), a text of which the
terms are asked for, as the parameter `index` makes them, any text, and any number"""

_KNOWN: Final = {
    "benchmark": "SELECT name FROM benchmarks ORDER BY name",
    "corpus": "SELECT name FROM corpora ORDER BY name",
    "system": """
        SELECT DISTINCT system FROM runs WHERE CAST(:benchmark AS TEXT) IS NULL OR benchmark = :benchmark
        ORDER BY system
    """,
    "measure": """
        SELECT DISTINCT scores.measure FROM scores INNER JOIN runs ON scores.run_id = runs.run_id
        WHERE CAST(:benchmark AS TEXT) IS NULL OR runs.benchmark = :benchmark
        ORDER BY scores.measure
    """,
    "index": "SELECT name FROM term_indexes ORDER BY name",
}
_NONE: Final = {"index": "none in this database; `pinakes index --postings` writes one down"}
_USED: Final = _KNOWN | {"benchmark": "SELECT DISTINCT benchmark FROM runs ORDER BY benchmark"}
"""the values that a parameter is given where it is left out, and there is one alone"""

_PARAMETER: Final = re.compile(r"\{(\w+)\}: (\w+)(?: = (\S.*)| \((\S.*)\))")
_PLACE: Final = re.compile(r"'\{(\w+)\}'|\{(\w+)\}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_IDENTIFIER: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is to be said for a recipe.

    Attributes:
        name: as in `{name}` of its text.
        kind: one of `KINDS`.
        default: what it is where nothing is said; None: it must be said.
        example: a value for the documentation.
    """

    name: str
    kind: str
    default: str | None
    example: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """A question and its query.

    Attributes:
        name: as in `pinakes sql --recipe NAME`.
        question: one sentence.
        why: what the answer is for and how to read it, in Markdown; it may be empty.
        text: the query. `{name}` stands for a number or for a schema, `'{name}'` for a text.
    """

    name: str
    question: str
    why: str
    parameters: tuple[Parameter, ...]
    text: str

    def write(self, values: Mapping[str, str]) -> str:
        """The query with these values, one for each parameter.

        Raises:
            InputError: a value cannot be written into a query.
        """
        kinds = {one.name: one.kind for one in self.parameters}

        def put(place: re.Match[str]) -> str:
            name = place[1] or place[2]
            return _quote(name, values[name]) if place[1] else _check_bare(name, kinds[name], values[name])

        return _PLACE.sub(put, self.text)

    def write_example(self) -> str:
        """The query with the values of the documentation."""
        return self.write({one.name: one.example for one in self.parameters})


@dataclass(frozen=True, slots=True)
class Section:
    """Recipes of one subject, and what is said before them, in Markdown."""

    title: str
    text: str
    recipes: tuple[Recipe, ...]


@cache
def read_sections() -> tuple[Section, ...]:
    """All recipes, in the order of the cookbook."""
    folder = files("pinakes.recipes")
    contents = tomllib.loads(folder.joinpath("contents.toml").read_text(encoding="utf-8"))
    return tuple(
        Section(
            section["title"],
            section.get("text", "").strip(),
            tuple(
                _read(name, folder.joinpath("texts", f"{name}.sql").read_text(encoding="utf-8"))
                for name in section["recipes"]
            ),
        )
        for section in contents["section"]
    )


def list_recipes() -> tuple[list[str], list[tuple[str, str, str]]]:
    """The names of columns, and a row a recipe: its name, its question, its parameters as they are given."""
    rows = [
        (
            recipe.name,
            recipe.question,
            " ".join(f"{one.name}={one.default or '…'}" for one in recipe.parameters),
        )
        for section in read_sections()
        for recipe in section.recipes
    ]
    return ["recipe", "question", "parameters"], rows


def find_recipe(name: str) -> Recipe:
    """The recipe of a name.

    Raises:
        UnknownNameError: there is none.
    """
    known = {recipe.name: recipe for section in read_sections() for recipe in section.recipes}
    if name not in known:
        raise UnknownNameError("recipe", name, list(known), "`pinakes sql --recipes` says what they ask.")
    return known[name]


def fill(
    database: Database, recipe: Recipe, given: Mapping[str, str], tell: Callable[[str], None] = say_nothing
) -> str:
    """The query of a recipe with what a user gives.

    A benchmark, corpus, system or measure that is left out is the one that the database has, where it has one
    alone; `tell` takes a line that says so.

    Raises:
        UnknownNameError: the recipe has no such parameter, or the database no such benchmark, corpus,
            system or measure.
        InputError: a parameter is missing, or a value is none of its kind.
    """
    names = [one.name for one in recipe.parameters]
    for name in given:
        if name not in names:
            raise UnknownNameError(f"parameter of the recipe {recipe.name}:", name, names or ["none"])
    values: dict[str, str] = {}
    for one in recipe.parameters:
        if one.name in given:
            value = given[one.name]
        elif one.default is not None:
            value = one.default
        else:
            value = _find_only(database, recipe, one, values)
            tell(f"{one.name}={value}, the only one.")
        if one.kind in _KNOWN:
            known = _look_up(database, _KNOWN[one.kind], values)
            if value not in known:
                raise UnknownNameError(
                    one.kind, value, known or [_NONE.get(one.kind, "none in this database")]
                )
        values[one.name] = _find_terms(database, one, value, values) if one.kind == "terms" else value
    return recipe.write(values)


def parse_values(words: list[str]) -> dict[str, str]:
    """Values from words as NAME=VALUE.

    Raises:
        InputError: a word has no equals sign, or a name comes twice.

    >>> parse_values(["benchmark=csfcube", "limit=5"])
    {'benchmark': 'csfcube', 'limit': '5'}
    """
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"{show(word)}: expected NAME=VALUE, as benchmark=csfcube.")
        if name in values:
            raise InputError(f"{show(name)} is given twice.")
        values[name] = value
    return values


def _find_only(database: Database, recipe: Recipe, one: Parameter, values: Mapping[str, str]) -> str:
    found = _look_up(database, _USED[one.kind], values) if one.kind in _USED else []
    if len(found) == 1:
        return found[0]
    listed = f" Here: {', '.join(found[:12])}{', …' if len(found) > 12 else ''}." if found else ""
    raise InputError(f"the recipe {recipe.name} needs {one.name}=…, as {one.name}={one.example}.{listed}")


def _find_terms(database: Database, one: Parameter, text: str, values: Mapping[str, str]) -> str:
    """The terms of a text, with blanks between, as the papers of the recipe's index were read."""
    from pinakes.indexers.analysis import Analysis  # late: most recipes read no text

    query = "SELECT analysis FROM term_indexes WHERE name = :name"
    with database.read() as session:
        saved = orjson.loads(session.scalar(query, {"name": values["index"]}))
    terms = " ".join(Analysis.from_json(saved).build().analyze(text))
    if not terms:
        raise InputError(f"{one.name}={show(text)} has no term; expected words that are no stop words.")
    return terms


def _look_up(database: Database, query: str, values: Mapping[str, str]) -> list[str]:
    parameters = {"benchmark": values.get("benchmark")} if ":benchmark" in query else {}
    with database.read() as session:
        return [str(next(iter(row.values()))) for row in session.rows(query, parameters)]


def _quote(name: str, value: str) -> str:
    # A Postgres that does not conform to the standard would take a backslash for an escape.
    if "\\" in value or not value.isprintable():
        raise InputError(f"{name}={show(value)}: a backslash or a control character cannot be asked for.")
    return quote_text(value)


def _check_bare(name: str, kind: str, value: str) -> str:
    if kind == "number":
        if not _NUMBER.fullmatch(value):
            raise InputError(f"{name}={show(value)}: expected a number, as 20 or 0.5.")
        return value
    if not _IDENTIFIER.fullmatch(value):
        raise InputError(f"{name}={show(value)} is no name of a {kind}.")
    return value


def _read(name: str, content: str) -> Recipe:
    lines = content.splitlines()
    head = [line[3:] for line in lines[: _count_head(lines)]]
    parameters = [found for line in head if (found := _PARAMETER.fullmatch(line))]
    why = [line for line in head[1:] if not _PARAMETER.fullmatch(line)]
    return Recipe(
        name,
        head[0],
        "\n".join(why).strip(),
        tuple(Parameter(one[1], one[2], one[3], one[3] or one[4]) for one in parameters),
        "\n".join(lines[len(head) :]) + "\n",
    )


def _count_head(lines: list[str]) -> int:
    return next(number for number, line in enumerate(lines) if not line.startswith("--"))
