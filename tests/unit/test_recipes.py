"""Recipes: their files, and what may be written into a query."""

from importlib.resources import files

import pytest

from pinakes.errors import InputError, UnknownNameError
from pinakes.recipes import Parameter, Recipe, find_recipe, list_recipes, parse_values, read_sections
from pinakes.recipes.recipe import KINDS
from tests import cookbook
from tests.made_pages import read_pages

ALL = [recipe for section in read_sections() for recipe in section.recipes]
ASKED = Recipe(
    "asked",
    "What?",
    "",
    (
        Parameter("name", "text", None, "a"),
        Parameter("n", "number", "1", "1"),
        Parameter("b", "benchmark", None, "c"),
    ),
    "SELECT '{name}' AS a FROM {b}.queries LIMIT {n}",
)


def test_the_cookbook_is_made_from_the_recipes() -> None:
    assert read_pages(cookbook.FOLDER) == cookbook.render(), "run `python -m tests.cookbook`"


def test_every_file_is_in_the_contents_once() -> None:
    texts = sorted(entry.name for entry in files("pinakes.recipes").joinpath("texts").iterdir())
    assert texts == sorted(f"{recipe.name}.sql" for recipe in ALL)


@pytest.mark.parametrize("recipe", ALL, ids=lambda recipe: recipe.name)
def test_a_recipe_uses_its_parameters_and_has_a_question(recipe: Recipe) -> None:
    assert recipe.question.endswith("?")
    assert recipe.text.startswith(("SELECT", "WITH"))
    for one in recipe.parameters:
        assert one.kind in KINDS
        quoted, bare = f"'{{{one.name}}}'" in recipe.text, recipe.text.replace(f"'{{{one.name}}}'", "")
        assert quoted or f"{{{one.name}}}" in bare
        assert f"{{{one.name}}}" not in bare or one.kind in ("benchmark", "number")
    assert "{" not in recipe.write_example()


def test_recipes_are_listed_with_what_must_be_said() -> None:
    _columns, rows = list_recipes()
    assert (
        "co-citation",
        "Which papers are cited together most often?",
        "mentioned=2 at_least=2 limit=20",
    ) in rows
    assert len(rows) == len(ALL)


def test_a_text_is_quoted() -> None:
    assert ASKED.write({"name": "O'Hara; DROP TABLE papers --", "n": "5", "b": "csfcube"}) == (
        "SELECT 'O''Hara; DROP TABLE papers --' AS a FROM csfcube.queries LIMIT 5"
    )
    assert "'{b}'" in ASKED.write({"name": "{b}", "n": "5", "b": "csfcube"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "a\\"),
        ("name", "a\nb"),
        ("name", "a\0"),
        ("n", "5; DROP TABLE papers"),
        ("n", ""),
        ("n", "1e9"),
        ("n", "٣"),
        ("n", "5\n"),
        ("b", "main; DROP TABLE papers"),
        ("b", 'a"b'),
        ("b", "Main"),
        ("b", "a\n"),
        ("b", ""),
    ],
)
def test_what_is_none_of_its_kind_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError):
        ASKED.write({"name": "a", "n": "1", "b": "c"} | {name: value})


def test_words_are_names_with_values() -> None:
    assert parse_values(["measure=P@5", "paper=a=b"]) == {"measure": "P@5", "paper": "a=b"}
    with pytest.raises(InputError, match="given twice"):
        parse_values(["a=1", "a=2"])
    with pytest.raises(InputError, match="expected NAME=VALUE"):
        parse_values(["5"])


def test_a_misspelt_recipe_is_guessed() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean hard-queries"):
        find_recipe("hard-querys")
