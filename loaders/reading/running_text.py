"""The running text of an XML element with the mentions in it, as JATS and TEI articles need it.

White space is collapsed, floats (figures, tables) are left out of the text around them, and blocks (the items
of a list) are set apart by a space.
"""

import html
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from lxml import etree

from pinakes.loaders.reading.mentions import find_context

Element = etree._Element
"""An element of a parsed document."""


@dataclass(frozen=True, slots=True)
class Markup:
    """What the tags of a format mean for its running text, by local names.

    Attributes:
        floats: elements that are no part of the text around them.
        blocks: elements that white space surrounds, whether or not the document writes it.
        containers: elements that hold a sentence as a whole; a mention's context is in the nearest of them.
    """

    floats: Collection[str]
    blocks: Collection[str]
    containers: Collection[str]


@dataclass(slots=True)
class RunningText:
    """A text, and where the marked elements stand in it: (start, end, element) in document order."""

    text: str = ""
    marks: list[tuple[int, int, Element]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mention:
    """An element that mentions something, the sentence around it and its offsets there."""

    element: Element
    context: str
    start: int
    end: int


def name_element(element: Element) -> str:
    """The element's name without its namespace; "" for a comment or a processing instruction.

    >>> name_element(etree.fromstring('<p xmlns="http://www.tei-c.org/ns/1.0"/>'))
    'p'
    """
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def list_children(element: Element, *names: str) -> list[Element]:
    """The children of these names, in order."""
    return [child for child in element if name_element(child) in names]


def list_descendants(element: Element, *names: str) -> list[Element]:
    """All elements of these names below the element, in document order."""
    return [found for found in element.iter() if found is not element and name_element(found) in names]


def find_descendant(element: Element | None, *path: str) -> Element | None:
    """The first element that the path of names leads to, each step anywhere below the one before.

    >>> root = etree.fromstring("<a><b><c>1</c></b><c>2</c></a>")
    >>> find_descendant(root, "b", "c").text, find_descendant(root, "c", "b") is None
    ('1', True)
    """
    for name in path:
        if element is None:
            return None
        element = next(iter(list_descendants(element, name)), None)
    return element


def name_entities(root: Element) -> None:
    """Put the characters of HTML's named entities into the tree; others stay as they are written.

    Documents take them from DTDs that are not loaded, and lxml keeps them as nodes of their own.

    >>> parser = etree.XMLParser(resolve_entities=False)
    >>> root = etree.XML("<!DOCTYPE p SYSTEM 'x'><p>5 &micro;m &x; on</p>", parser)
    >>> name_entities(root)
    >>> root.text
    '5 µm &x; on'
    """
    for entity in list(root.iter(etree.Entity)):
        parent, before = entity.getparent(), entity.getprevious()
        if parent is None:
            continue
        text = html.unescape(entity.text or "") + (entity.tail or "")
        entity.tail = None
        if before is None:
            parent.text = (parent.text or "") + text
        else:
            before.tail = (before.tail or "") + text
        parent.remove(entity)


def read_running_text(
    element: Element | None, markup: Markup, is_marked: Callable[[Element], bool] = lambda _element: False
) -> RunningText:
    """The element's text with white space collapsed, and where the elements that `is_marked` names stand.

    >>> markup = Markup(floats={"fig"}, blocks={"item"}, containers={"p"})
    >>> root = etree.fromstring("<p> See\\n<x>[1]</x>.<fig>no</fig><item>a</item><item>b</item></p>")
    >>> found = read_running_text(root, markup, lambda element: element.tag == "x")
    >>> found.text, [(start, end) for start, end, _ in found.marks]
    ('See [1]. a b', [(4, 7)])
    """
    if element is None:
        return RunningText()
    collector = _Collector(markup, is_marked)
    collector.add_element(element)
    return collector.build()


def find_mentions(root: Element, markup: Markup, is_mention: Callable[[Element], bool]) -> Iterator[Mention]:
    """Every element of the document that `is_mention` names, with the sentence that it stands in.

    Those of one container come together, in its order; containers come in the order of their first mention.
    """
    grouped: dict[Element, None] = {}
    for element in root.iter():
        if name_element(element) and is_mention(element):
            grouped[_find_container(element, markup)] = None
    for container in grouped:
        running = read_running_text(container, markup, is_mention)
        for start, end, element in running.marks:
            if _find_container(element, markup) is container:
                yield Mention(element, *find_context(running.text, start, end))


def _find_container(element: Element, markup: Markup) -> Element:
    """The nearest element around the mention that holds a sentence, or its parent where there is none."""
    parent = element.getparent()
    nearest = element if parent is None else parent
    for ancestor in element.iterancestors():
        if name_element(ancestor) in markup.containers:
            return ancestor
        if name_element(ancestor) in markup.floats:
            break  # the text around a float does not hold what stands in it
    return nearest


class _Collector:
    """The growing text, without its leading space; a space is written only when something follows it."""

    def __init__(self, markup: Markup, is_marked: Callable[[Element], bool]) -> None:
        self._markup = markup
        self._is_marked = is_marked
        self._parts: list[str] = []
        self._length = 0
        self._space_pending = False
        self._marks: list[tuple[int, int, Element]] = []
        self._unplaced: list[int] = []  # marks that wait for their first character

    def build(self) -> RunningText:
        return RunningText("".join(self._parts), self._marks)

    def add_element(self, root: Element) -> None:
        """Walk without recursion: a document decides how deep it nests."""
        opened: list[int | None] = []
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                is_float = element is not root and name_element(element) in self._markup.floats
                opened.append(None if is_float else self._open(element))
                if is_float:
                    self._space_pending = True
                    walk.skip_subtree()
                continue
            if event == "end":
                self._close(element, opened.pop())
            if element is not root:
                self._add(element.tail)

    def _open(self, element: Element) -> int | None:
        self._space_pending |= name_element(element) in self._markup.blocks
        mark = None
        if self._is_marked(element):
            mark = len(self._marks)
            self._marks.append((0, 0, element))
            self._unplaced.append(mark)
        self._add(element.text)
        return mark

    def _close(self, element: Element, mark: int | None) -> None:
        self._space_pending |= name_element(element) in self._markup.blocks
        if mark is None:
            return
        if mark in self._unplaced:
            self._unplaced.remove(mark)
            self._marks[mark] = (self._length, self._length, element)
        else:
            self._marks[mark] = (self._marks[mark][0], self._length, element)

    def _add(self, text: str | None) -> None:
        words = (text or "").split()
        if text and words:
            if (self._space_pending or text[0].isspace()) and self._length:
                self._write(" ")
            for mark in self._unplaced:
                self._marks[mark] = (self._length, self._length, self._marks[mark][2])
            self._unplaced.clear()
            self._write(" ".join(words))
        self._space_pending = text[-1].isspace() if text and words else self._space_pending or bool(text)

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
