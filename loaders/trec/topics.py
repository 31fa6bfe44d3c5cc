"""TREC's topics in their forms: `<top>` with and without end tags, XML, and lines of id and query.

Of `<top>`: num, title, desc, narr; a number that `Number:` announces is read without leading zeros, as
relevance lists have it. Of XML: `<topic>` (or `<query>`, `<top>`) with its id in an attribute or an element
(`number`, `num`, `id`, `qid`, `identifier`); where there is neither a query nor a title, all its elements
together are the query (TREC-PM's disease, gene, demographic). Lines are `id<TAB>query`, `id:query` or, of the
Genomics tracks, `<id>query`. Other elements have no column and are counted.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.reading.qrels import unpad
from pinakes.loaders.reading.rows import Row
from pinakes.loaders.reading.streams import read_lines, read_lines_at
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record
from pinakes.loaders.trec.markup import decode, find_encoding, strip_markup

Topic = tuple[dict[str, str | None], Counter[str]]
"""column of `benchmark_queries` -> text; elements that have no column, by name"""

_IDS: Final = ("number", "num", "id", "qid", "identifier")
_PARTS: Final = {
    "text": ("query", "title"),
    "description": ("question", "description", "desc", "need"),
    "narrative": ("narrative", "narr", "context"),
}
"""column -> the elements that are read for it, the first that is there"""
_TOPICS: Final = ("topic", "top", "query")
_LABELS: Final = {
    "num": ("query_id", "Number:"),
    "title": ("text", "Topic:"),
    "desc": ("description", "Description:"),
    "narr": ("narrative", "Narrative:"),
}
"""element of a classic topic -> its column, and the words that begin it"""
_TOP: Final = re.compile(r"<top>", re.IGNORECASE)
_TOP_END: Final = re.compile(r"</top>", re.IGNORECASE)
_PART: Final = re.compile(
    r"<(?:[A-Za-z]{2}-)?([A-Za-z]+)>(.*?)(?=<[A-Za-z]+(?:-[A-Za-z]+)?>|</|\Z)", re.DOTALL
)
_LINE: Final = re.compile(r"([^\s:]+)\s*[\t:]\s*(\S.*)")
_NUMBERED: Final = re.compile(r"\s*<(\d+)>\s*([^\s<].*)")


def read_topics(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    """The topics of a file, each as a record."""
    text = _read_text(file, options)
    if not text.lstrip().startswith("<") or _NUMBERED.match(text):
        yield from _read_lines(file, options)
        return
    topics = _split_sgml(file, text) if _is_classic(text) else _split_xml(file, text)
    for number, (raw, parse) in enumerate(topics, start=1):
        yield take_record(number, f"topic {number}", raw, partial(_check_topic, parse))


def _read_text(file: InputFile, options: Options) -> str:
    raw = b"\n".join(line for _, line in read_lines(file))
    try:
        return decode(raw, find_encoding(options, raw))
    except RecordError as error:
        raise InputError(f"{file.name}: {error}.") from error


def _is_classic(text: str) -> bool:
    return _TOP.search(text) is not None and not text.lstrip().startswith("<?xml")


def _check_topic(parse: Callable[[], Topic]) -> Rows:
    topic, left_out = parse()
    if topic.get("query_id") is None or topic.get("text") is None:
        raise RecordError("missing_field", "a topic without a number or without a query")
    rows: dict[str, list[Row]] = {"queries": [dict(topic)]}
    if left_out:
        rows["left_out"] = [
            {"kind": f"field {name}", "reason": "no_column", "items": items}
            for name, items in left_out.items()
        ]
    return rows


def _split_xml(file: InputFile, text: str) -> Iterator[tuple[str, Callable[[], Topic]]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{file.name} declares XML entities, which topics do not need; they are refused.")
    try:
        root = ElementTree.fromstring(text.lstrip())  # noqa: S314 (entities are refused above)
    except ElementTree.ParseError as error:
        raise InputError(f"{file.name} is not XML: {error}.") from error
    named = [[part for part in root.iter() if part.tag.lower() == name] for name in _TOPICS]
    topics = next(filter(None, named), [])
    if not topics:
        raise InputError(f"{file.name} has no <topic> and no <top>; expected TREC topics.")
    for topic in topics:
        yield ElementTree.tostring(topic, encoding="unicode").strip(), partial(_parse_xml_topic, topic)


def _parse_xml_topic(topic: ElementTree.Element) -> Topic:
    parts: dict[str, list[str]] = {}
    for child in topic:
        text = _collapse(" ".join(child.itertext()))
        if text is not None:
            parts.setdefault(child.tag.lower(), []).append(text)
    found: dict[str, str | None] = {"query_id": _find_id(topic.attrib, parts)}
    own = " ".join(filter(None, (topic.text, *(child.tail for child in topic))))
    for column, names in _PARTS.items():
        name = next((name for name in names if name in parts), None)
        found[column] = None if name is None else " ".join(parts.pop(name))
    if found["text"] is None:
        found["text"] = _collapse(" ".join([own, *(text for texts in parts.values() for text in texts)]))
        parts = {}
    if found["text"] is None:
        found["text"], found["description"] = found["description"], None
    return found, Counter({name: len(texts) for name, texts in parts.items()})


def _find_id(attributes: Mapping[str, str], parts: dict[str, list[str]]) -> str | None:
    for name in _IDS:
        value = clean_text(attributes.get(name))
        if value is not None:
            return value
    named = next((name for name in _IDS if name in parts), None)
    return None if named is None else " ".join(parts.pop(named))


def _collapse(text: str | None) -> str | None:
    return clean_text(" ".join((text or "").split()))


def _split_sgml(file: InputFile, text: str) -> Iterator[tuple[str, Callable[[], Topic]]]:
    begun, ended = len(_TOP.findall(text)), len(_TOP_END.findall(text))
    if ended not in (0, begun):
        raise InputError(f"{file.name} has {begun} <top>, but {ended} </top> that close them.")
    for start in _TOP.finditer(text):
        end = (_TOP_END if ended else _TOP).search(text, start.end())
        stop = len(text) if end is None else end.end() if ended else end.start()
        topic = text[start.start() : stop].strip()
        yield topic, partial(_parse_sgml_topic, text[start.end() : stop])


def _parse_sgml_topic(topic: str) -> Topic:
    # The parts of classic topics have no closing tags; each begins with its label in words.
    found: dict[str, str | None] = {}
    left_out: Counter[str] = Counter()
    for name, content in _PART.findall(topic):
        column, label = _LABELS.get(name.lower(), ("", ""))
        text = strip_markup(content) or ""
        value = clean_text(text.removeprefix(label))
        if column and column not in found:
            is_number = column == "query_id" and text.startswith(label)
            found[column] = unpad(value) if value and is_number else value
        elif value:
            left_out[name] += 1
    return found, left_out


def _read_lines(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    encoding = find_encoding(options, b"")
    for number, (line, _, raw) in enumerate(read_lines_at(file), start=1):
        yield take_record(number, f"line {line}", raw, partial(_parse_line, raw, encoding))


def _parse_line(raw: bytes, encoding: str) -> Rows:
    line = decode(raw, encoding).strip()
    found = _NUMBERED.fullmatch(line) or _LINE.fullmatch(line)
    if found is None:
        raise RecordError("malformed_line", "expected an id, a tab or a colon, and a query")
    return {"queries": [{"query_id": found[1], "text": found[2]}]}
