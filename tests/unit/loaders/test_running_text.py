"""Running text with mentions: white space, floats, blocks, nesting."""

from lxml import etree

from pinakes.loaders.reading.running_text import (
    Markup,
    find_descendant,
    find_mentions,
    list_children,
    list_descendants,
    name_entities,
    read_running_text,
)

MARKUP = Markup(
    floats=frozenset({"fig"}), blocks=frozenset({"p", "item"}), containers=frozenset({"p", "item", "td"})
)


def _read(xml: str) -> list[tuple[str, str]]:
    """Each mention's context, and what stands at its offsets there."""
    mentions = find_mentions(etree.fromstring(xml), MARKUP, lambda element: element.tag == "x")
    return [(found.context, found.context[found.start : found.end]) for found in mentions]


def test_white_space_is_one_space_wherever_the_document_breaks_it() -> None:
    root = etree.fromstring("<p>\n  Of <b>H<sub>2</sub>O</b>\n\tand  <i> air</i> .\n</p>")
    assert read_running_text(root, MARKUP).text == "Of H2O and air ."


def test_comments_and_instructions_are_no_text_but_what_follows_them_is() -> None:
    root = etree.fromstring("<p>one<!-- two --> three<?go four?> five</p>")
    assert read_running_text(root, MARKUP).text == "one three five"


def test_element_without_text_is_empty() -> None:
    assert read_running_text(None, MARKUP).text == ""
    assert read_running_text(etree.fromstring("<p> <b/> </p>"), MARKUP).text == ""


def test_mention_is_located_in_its_own_sentence() -> None:
    assert _read("<a><p>One thing. As <x>Lee et al. (2019)</x> say. A third.</p></a>") == [
        ("As Lee et al. (2019) say.", "Lee et al. (2019)")
    ]


def test_nested_and_empty_mentions_keep_their_places() -> None:
    assert _read("<p>See <x><x/>[1, <x>2</x>]</x> and<x/>.</p>") == [
        ("See [1, 2] and.", "[1, 2]"),
        ("See [1, 2] and.", ""),
        ("See [1, 2] and.", "2"),
        ("See [1, 2] and.", ""),
    ]


def test_mention_in_a_float_has_the_context_of_its_caption_and_not_of_the_text_around() -> None:
    assert _read("<p>Before <fig><p>Plot of <x>[1]</x>.</p></fig> after.</p>") == [("Plot of [1].", "[1]")]
    assert _read("<p>Before <fig>Plot of <x>[1]</x>.</fig> after.</p>") == [("Plot of [1].", "[1]")]


def test_mention_in_the_innermost_of_nested_containers_is_found_once() -> None:
    assert _read("<p>A list: <item>as <x>[1]</x></item><item>or <x>[2]</x></item></p>") == [
        ("as [1]", "[1]"),
        ("or [2]", "[2]"),
    ]


def test_mention_outside_of_any_container_has_its_parents_text() -> None:
    assert _read("<a><b>As <x>[1]</x> says.</b> More.</a>") == [("As [1] says.", "[1]")]


def test_named_entities_become_characters_and_nothing_after_them_is_lost() -> None:
    parser = etree.XMLParser(resolve_entities=False)
    root = etree.fromstring('<!DOCTYPE p SYSTEM "x.dtd"><p>&alpha;<b/>&beta; of &x; end</p>', parser)
    name_entities(root)
    assert read_running_text(root, MARKUP).text == "αβ of &x; end"


def test_names_are_found_in_any_namespace_and_in_document_order() -> None:
    root = etree.fromstring('<a xmlns="urn:n"><b><c>1</c></b><c>2</c></a>')
    assert [found.text for found in list_descendants(root, "c")] == ["1", "2"]
    assert [found.text for found in list_children(root, "c")] == ["2"]
    assert find_descendant(None, "c") is None
