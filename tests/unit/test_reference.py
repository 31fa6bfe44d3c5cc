"""The reference pages are those of the program as it is."""

from tests import reference
from tests.made_pages import read_pages


def test_the_pages_are_made_from_the_program() -> None:
    assert read_pages(reference.FOLDER) == reference.render(), "run `python -m tests.reference`"


def test_every_command_with_every_option_is_on_a_page() -> None:
    pages = reference.render()
    told = "\n".join(pages.values())
    for group, words, command in reference.list_commands():
        page = pages[f"commands/{group}.md"]
        assert f"## pinakes {words}\n" in page
        for parameter in command.params:
            assert parameter.opts[0] in told or parameter.param_type_name == "argument"


def test_every_alias_of_a_measure_stands_for_one() -> None:
    lines = reference.render()["measures.md"].splitlines()
    assert "| `MAP` | `AP` |" in lines
    assert "| `iprec_at_recall` | `IPrec@0.1` as `iprec_at_recall_0.10` |" in lines


def test_the_command_of_a_group_without_its_name_is_its_default_one() -> None:
    words = {words for _, words, _ in reference.list_commands()}
    assert {"index", "index faiss", "export", "remove benchmark", "remove run", "tune bm25"} <= words
