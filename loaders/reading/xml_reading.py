"""XML without its dangers: no entity is resolved, nothing is fetched, no DTD is loaded.

A document that declares entities is rejected.
"""

import html.entities
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import IO, Any, cast

from lxml import etree

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.breaks import Salvaged
from pinakes.loaders.reading.documents import take_large_record
from pinakes.loaders.reading.streams import open_stream
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows


def parse_xml(raw: bytes) -> etree._Element:
    """The root element of a document, without comments and processing instructions."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(raw.lstrip(), parser)
    except etree.XMLSyntaxError as error:
        raise RecordError("not_xml", str(error)) from error
    _refuse_entities(root)
    return root


def _refuse_entities(element: etree._Element) -> None:
    declared: Any = element.getroottree().docinfo.internalDTD
    if declared is not None and declared.entities():
        raise RecordError("not_xml", "the document declares entities; expected none")


def element_text(element: etree._Element | None, default: str | None = None) -> str | None:
    """All text of an element and of those below it, white space collapsed; the default where none is left.

    Named characters of HTML (`&alpha;`), which documents take from DTDs that are not loaded, become those.

    >>> element_text(parse_xml(b"<t>A <i>fine</i>\\n title</t>"))
    'A fine title'
    """
    if element is None:
        return default
    if next(element.iter(etree.Entity), None) is None:
        text = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    else:  # which libxml2's own text leaves out
        text = "".join(map(_name_entity, map(str, element.itertext())))
    return " ".join(text.split()) or default


def _name_entity(text: str) -> str:
    return html.entities.html5.get(text[1:], text) if text.startswith("&") else text


def read_elements(
    file: InputFile, tag: str | Sequence[str], parse: Callable[[etree._Element], Rows]
) -> Iterator[Accepted | Rejected]:
    """One record an element of that tag, or of one of them, in a file of any size.

    `{*}tag` is the tag in any namespace. Where the document is damaged, the elements before that are kept and
    the rest is one rejected record.
    """
    with open_stream(file) as stream:
        yield from iterate_elements(stream, tag, parse)


def iterate_elements(
    stream: IO[bytes], tag: str | Sequence[str], parse: Callable[[etree._Element], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of `read_elements` from an open stream.

    When `parse` has an element, what stood before it in the document is there only as far as it came after
    the element before; its ancestors are there, without their text.
    """
    number = 0
    elements = etree.iterparse(
        cast(IO[bytes], Salvaged(stream)),
        events=("end",),
        tag=tag,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for number, (_, element) in zip(count(1), elements, strict=False):
            if number == 1:
                _refuse_entities(element)
            yield _take_element(number, element, parse)
            _let_go(element)
    except etree.XMLSyntaxError as error:
        wanted = tag if isinstance(tag, str) else ", ".join(tag)
        yield Rejected(number + 1, f"after {number} {wanted}", "not_xml", str(error), "")
    except RecordError as error:
        yield Rejected(number, "the document's head", error.reason, str(error), "")


def _take_element(
    number: int, element: etree._Element, parse: Callable[[etree._Element], Rows]
) -> Accepted | Rejected:
    raw = etree.tostring(element, encoding="utf-8", with_tail=False)
    names = [ancestor.tag for ancestor in element.iterancestors()]
    location = "/".join([*map(_local_name, reversed(names)), f"{_local_name(element.tag)}[{number}]"])
    return take_large_record(number, location, raw, partial(parse, element))


def _local_name(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def _let_go(element: etree._Element) -> None:
    """Free the element and what stands before it, which the tree would keep to the end of the file."""
    element.clear()
    for kept in (element, *element.iterancestors()):
        parent = kept.getparent()
        while parent is not None and kept.getprevious() is not None:
            del parent[0]
