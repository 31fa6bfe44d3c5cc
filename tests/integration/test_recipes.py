"""Recipes asked of a database: what may be left out, what is looked up, and the command line."""

import pytest

import pinakes
from pinakes.database import Database
from pinakes.database.read_only import ask
from pinakes.errors import InputError, UnknownNameError
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.recipes import fill, find_recipe
from pinakes.run.run import RunRequest, run
from tests.calling import Call

pytestmark = pytest.mark.in_turn


@pytest.fixture
def ranked(initialised: Database) -> Database:
    """A corpus, and one run on the benchmark of its name."""
    load(initialised, LoadRequest("synthetic", options={"papers": "60", "seed": "1"}))
    initialise(initialised)
    index(initialised, "synthetic", "bm25")
    run(initialised, RunRequest("synthetic", "bm25"))
    return initialised


def test_what_the_database_has_one_of_can_be_left_out(ranked: Database) -> None:
    told: list[str] = []
    text = fill(ranked, find_recipe("missed-relevant"), {"limit": "3"}, told.append)
    assert told == ["benchmark=synthetic, the only one.", "system=bm25, the only one."]
    assert "FROM synthetic.judgments" in text
    assert "system = 'bm25'" in text
    assert text.endswith("LIMIT 3\n")
    with ask(ranked, text) as result:
        assert len(list(result.rows)) <= 3


def test_what_is_not_in_the_database_is_an_error(ranked: Database) -> None:
    recipe = find_recipe("missed-relevant")
    with pytest.raises(UnknownNameError, match=r"unknown system 'bm52'; known: bm25\. Did you mean"):
        fill(ranked, recipe, {"system": "bm52"})
    with pytest.raises(UnknownNameError, match="unknown benchmark 'main'"):
        fill(ranked, recipe, {"benchmark": "main"})
    with pytest.raises(UnknownNameError, match="parameter of the recipe missed-relevant: 'corpus'"):
        fill(ranked, recipe, {"corpus": "synthetic"})
    with pytest.raises(UnknownNameError, match=r"unknown measure 'AP'; known: none in this database"):
        fill(ranked, find_recipe("hard-queries"), {})
    with pytest.raises(InputError, match=r"needs paper=…, as paper=syn-00000001\."):
        fill(ranked, find_recipe("citation-contexts"), {})


def test_a_hostile_value_is_a_value(ranked: Database) -> None:
    text = fill(ranked, find_recipe("field-classics"), {"field": "x' OR '1'='1"})
    with ask(ranked, text) as result:
        assert list(result.rows) == []


def test_the_command_asks_by_name(call: Call) -> None:
    found = call("sql", "--recipe", "corpus-sizes", "--format", "json").data
    assert {row["corpus"] for row in found} == {
        row["name"] for row in call("sql", "SELECT name FROM corpora", "--format", "json").data
    }
    printed = call("sql", "--recipe", "corpus-sizes", "--print-query").out
    assert call("sql", printed, "--format", "json").data == found
    answered = pinakes.connect().recipe("corpus-sizes").arrow().to_pylist()
    assert [row["papers"] for row in answered] == [row["papers"] for row in found]
    assert "hard-queries" in {row["recipe"] for row in call("sql", "--recipes", "--format", "json").data}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no query is given"),
        (("SELECT 1", "SELECT 2"), "2 queries are given"),
        (("--recipe", "corpus-size"), "unknown recipe"),
        (("--recipe", "corpus-sizes", "SELECT 1"), "expected NAME=VALUE"),
        (("--recipes", "SELECT 1"), "leave out the rest"),
        (("--print-query", "SELECT 1"), "name it with --recipe"),
    ],
)
def test_what_is_not_said_well_is_told(call: Call, words: tuple[str, ...], message: str) -> None:
    outcome = call("sql", *words)
    assert outcome.code == 1
    assert message in outcome.err
