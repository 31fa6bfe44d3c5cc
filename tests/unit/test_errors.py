"""Errors reach the user from other processes too."""

import inspect
import pickle

import pytest

from pinakes import errors
from pinakes.errors import PinakesError, UnknownNameError, show

PLAIN = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PinakesError)]


@pytest.mark.parametrize("kind", [kind for kind in PLAIN if kind is not UnknownNameError])
def test_an_error_that_was_pickled_is_the_same(kind: type[PinakesError]) -> None:
    found = pickle.loads(pickle.dumps(kind("what was wrong")))
    assert type(found) is kind
    assert str(found) == "what was wrong"


def test_an_unknown_name_that_was_pickled_is_the_same() -> None:
    found = pickle.loads(pickle.dumps(UnknownNameError("code", "T_Nothing", ["T_ARot"], "Leave it out.")))
    assert type(found) is UnknownNameError
    assert str(found) == "unknown code 'T_Nothing'; known: T_ARot. Leave it out."


@pytest.mark.parametrize(
    ("given", "known", "told"),
    [
        ("scifac", ["cranfield", "scifact"], " Did you mean scifact?"),
        ("SciFact", ["cranfield", "scifact"], " Did you mean scifact?"),
        ("s2orc_json", ["s2orc", "s2orc-json"], " Did you mean s2orc-json or s2orc?"),
        ("synth", ["scifact", "synthetic"], " Did you mean synthetic?"),
        ("bm2", ["bm25", "minilm"], " Did you mean bm25?"),
        ("list", ["aan", "beir"], ""),
        ("", ["aan", "beir"], ""),
        ("x" * 100_000, ["aan"], ""),
    ],
)
def test_an_unknown_name_says_what_was_probably_meant(given: str, known: list[str], told: str) -> None:
    message = str(UnknownNameError("corpus", given, known))
    assert message.endswith(f"known: {', '.join(known)}.{told}" if told else f"known: {', '.join(known)}")


def test_what_to_do_stands_before_what_was_meant() -> None:
    message = str(UnknownNameError("corpus", "toi", ["toy"], "`pinakes load` loads one."))
    assert message == "unknown corpus 'toi'; known: toy. `pinakes load` loads one. Did you mean toy?"


def test_of_very_many_names_the_nearest_are_listed() -> None:
    names = [f"corpus{number}" for number in range(1000)]
    message = str(UnknownNameError("corpus", "corpus99x", names))
    assert "corpus99, " in message
    assert "and 988 more. Did you mean corpus99" in message
    assert len(message) < 300
    assert "and 940 more" in str(UnknownNameError("corpus", "Zz", names))


def test_an_empty_name_is_called_so() -> None:
    assert str(UnknownNameError("corpus", " ", ["toy"])) == "an empty name is that of no corpus; known: toy"


def test_content_of_a_user_is_shown_on_one_line_and_cut() -> None:
    message = str(UnknownNameError("corpus", "a\n\x1b[31m" + "b" * 500_000, ["toy"]))
    assert "'a\\n\\x1b[31mb" in message
    assert len(message) < 400
    assert show(b"\xff\x00") == repr("\ufffd\x00")
    assert show({"k": "v" * 1000}).endswith(" (cut)")
