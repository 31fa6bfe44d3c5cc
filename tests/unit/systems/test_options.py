"""Options of systems are declared, read and listed in one place: no database is opened here."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from pinakes.errors import InputError, UnknownNameError
from pinakes.options import list_options, option, parse_options, read_options, spell
from pinakes.systems.base import ABILITIES, SystemOptions
from pinakes.systems.names import NAMED, SYSTEMS
from pinakes.systems.registry import (
    describe_systems,
    find_system,
    list_kinds,
    list_system_options,
    require_ability,
)
from pinakes.vectors.nearest import describe_index_options, list_build_options, list_search_options


@dataclass(frozen=True, slots=True)
class Toy:
    """One option of each type."""

    word: str = option("a", "A word.", choices=("a", "b", "c"))
    text: str = option("", "Any text.")
    count: int = option(3, "A count.", minimum=1, maximum=9)
    weight: float | None = option(None, "A weight.", above=0)
    flag: bool = option(True, "A flag.")


def test_what_is_not_given_has_its_default() -> None:
    assert read_options(Toy, "toy", {}) == Toy("a", "", 3, None, True)


def test_values_have_the_type_that_is_declared() -> None:
    given = {"word": "b", "text": "x=y", "count": "9", "weight": "1e-3", "flag": "no"}
    assert read_options(Toy, "toy", given) == Toy("b", "x=y", 9, 0.001, False)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("word", "d", "one of a, b, c"),
        ("count", "0", "a whole number from 1 to 9"),
        ("count", "2.0", "a whole number from 1 to 9"),
        ("count", "", "a whole number from 1 to 9"),
        ("weight", "0", "a number above 0"),
        ("weight", "nan", "a number above 0"),
        ("weight", "inf", "a number above 0"),
        ("weight", "much", "a number above 0"),
        ("flag", "true", "yes or no"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_what_is_expected(name: str, value: str, expected: str) -> None:
    with pytest.raises(InputError) as error:
        read_options(Toy, "toy", {name: value})
    assert str(error.value) == f"option of toy: {name} is {value!r}; expected {expected}."


def test_an_unknown_or_fixed_option_is_refused_with_those_that_are_free() -> None:
    with pytest.raises(
        UnknownNameError, match=r"option of toy 'size'; known: count, flag, text, weight, word$"
    ):
        read_options(Toy, "toy", {"size": "1"})
    with pytest.raises(UnknownNameError, match=r"option of toy 'count'; known: flag, text, weight, word$"):
        read_options(Toy, "toy", {"count": "1"}, fixed={"count": "4"})
    assert read_options(Toy, "toy", {"flag": "no"}, fixed={"count": "4"}) == Toy(count=4, flag=False)


@pytest.mark.parametrize("name", [name for name, _ in list_kinds()])
def test_every_declared_default_is_a_value_that_the_option_can_have(name: str) -> None:
    own_options = dict(list_kinds())[name].own_options
    for one in list_options(own_options):
        assert one.help.endswith(".")
        if one.default is not None and one.default != "":
            assert one.read(name, spell(one.default)) == one.default


@pytest.mark.parametrize("name", sorted(NAMED))
def test_what_a_named_baseline_fixes_is_an_option_of_its_system(name: str) -> None:
    baseline = NAMED[name]
    known = list_options(dict(list_kinds())[baseline.system].own_options)
    assert parse_options(known, name, baseline.options).keys() == baseline.options.keys()
    assert {one.name for one in list_system_options(name)} == {one.name for one in known} - set(
        baseline.options
    )


def test_a_system_implements_what_it_declares(tmp_path: Path) -> None:
    for _, kind in list_kinds():
        assert kind.can <= ABILITIES.keys()
        for ability in kind.can & {"rank", "rank_groups", "index_corpus", "search"}:
            owner = next(base for base in kind.__mro__ if ability in vars(base))
            assert owner.__name__ != "System"
    rows = {row["system"]: row for row in describe_systems()}
    assert rows["tfidf"] == {
        "system": "tfidf",
        "can": "rank, index_corpus, search, weigh",
        "options": "analysis, sublinear_tf, trained_on",
    }
    assert rows.keys() >= SYSTEMS.keys()


def test_what_a_system_cannot_do_is_said_with_those_that_can(tmp_path: Path) -> None:
    system = find_system("word2vec", SystemOptions(tmp_path))
    require_ability(system, "rank")
    with pytest.raises(InputError) as error:
        require_ability(system, "search")
    assert str(error.value) == (
        "word2vec cannot search a corpus: it can rank a benchmark; give the vectors of papers. Systems that "
        "can: bm25, sparse_bm25, tfidf, an encoder, formats:CODE=SYSTEM,CODE=SYSTEM, mean:SYSTEM,SYSTEM."
    )
    with pytest.raises(InputError, match="No system can yet"):
        require_ability(system, "translate")


def test_the_options_of_an_index_are_those_of_its_kind() -> None:
    build, search = list_build_options("hnsw"), list_search_options("faiss:hnsw")
    assert [(one.name, one.default) for one in build + search] == [
        ("m", 32),
        ("ef_construction", 80),
        ("ef_search", 128),
    ]
    assert parse_options(search, "faiss:hnsw", {"ef_search": "64"}) == {"ef_search": 64}
    with pytest.raises(InputError, match="nlist is '0'; expected a whole number of at least 1"):
        parse_options(list_build_options("ivf_flat"), "the ivf_flat index", {"nlist": "0"})
    with pytest.raises(UnknownNameError, match="way to search 'faiss:tree'; known: exact, faiss:flat"):
        list_search_options("faiss:tree")
    assert [row["at"] for row in describe_index_options("faiss:ivf_pq")] == ["build", "build", "search"]
