"""What a document says of citances: `citing_sentences.json`, an annotation of lines, or one as CSV.

Texts in an annotation hold the sentences' tags; `NA` and an empty value say nothing.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Final

import orjson

from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.json_records import show_json
from pinakes.loaders.reading.tables import MAX_CELL_CHARACTERS
from pinakes.loaders.reading.values import expect_object, take_int, take_text
from pinakes.loaders.scisumm.papers import decode_document, name_paper, strip_sentence_tags
from pinakes.loaders.staging import RecordError

_FIELDS: Final = (
    "Citance Number", "Reference Article", "Citing Article", "Citation Marker Offset", "Citation Marker",
    "Citation Offset", "Citation Text", "Reference Offset", "Reference Text", "Discourse Facet",
    "Annotator",
)  # fmt: skip
"""The fields of an annotation's line, in their order; the last is missing from some."""
_CLEAN: Final = "Citation Text Clean"
_REQUIRED: Final = ("Citance Number", "Reference Article", "Citing Article", "Citation Text")
"""columns without which a CSV is no annotation"""
_FACET_COLUMNS: Final = ("Discourse Facet", "Reference Citation")
"""what the facet's column is called; in one file of the test set of 2018 it is the second"""

_READ: Final = frozenset({*_REQUIRED, *_FACET_COLUMNS, _CLEAN, "Citation Marker"})
_SENTENCE: Final = frozenset({
    "citing_paper_id", "citance_No", "citance_number", "clean_text", "raw_text", "citing_paper_authority",
})  # fmt: skip
"""What is read of an annotation, and of an entry of `citing_sentences.json`; the rest is left out."""
_TOPIC: Final = re.compile(r"[A-Z]\d\d-\d{4}")
_FACET: Final = re.compile(r"(Aim|Method|Result|Implication|Hypothesis)s?[_ ]citation", re.IGNORECASE)
_SPELLINGS: Final = {"result": "Results_Citation"}


@dataclass(frozen=True, slots=True)
class Citance:
    """What one document says of one citance; `rank` says whose text is taken, the lowest first.

    `unread` are the fields that say something and are not read.
    """

    rank: int
    cited: str
    citing: str
    number: str
    context: str = ""
    marker: str = ""
    facets: frozenset[str] = frozenset()
    authority: int | None = None
    unread: frozenset[str] = frozenset()


Entry = tuple[str, bytes, Callable[[], Citance]]
"""location, raw text, and what gives the citance"""


def split_document(name: str, raw: bytes) -> Iterator[Entry]:
    """The entries of a document, by its suffix."""
    plain = strip_compression(name.lower())
    if plain.endswith(".json"):
        return _split_json(name, raw)
    return _split_csv(name, raw) if plain.endswith(".csv") else _split_lines(name, raw)


def name_topic(name: str) -> str:
    """The paper that a document's citances cite, as its folder says.

    >>> name_topic("A00-1031/citing_sentences.json"), name_topic("A00-2018/Citance_XML/citing_sentences.json")
    ('A00-1031', 'A00-2018')
    """
    folder = PurePosixPath(name).parent
    is_below = folder.name.lower() in ("citance_xml", "annotation")
    return name_paper(folder.parent.name if is_below else folder.name)


def _split_json(name: str, raw: bytes) -> Iterator[Entry]:
    try:
        entries = orjson.loads(decode_document(raw))
    except orjson.JSONDecodeError as error:
        raise RecordError("not_json", str(error)) from error
    if not isinstance(entries, list):
        raise RecordError("not_an_object", f"a JSON {type(entries).__name__}, expected a list of objects")
    for index, entry in enumerate(entries):
        yield f"{name}[{index}]", show_json(entry), partial(_parse_sentence, name_topic(name), entry)


def _parse_sentence(cited: str, value: object) -> Citance:
    entry = expect_object(value)
    citing = take_text(entry, "citing_paper_id")
    number = take_text(entry, "citance_No") or take_text(entry, "citance_number")
    if not citing or not number or not cited:
        raise RecordError(
            "missing_field", "no citing_paper_id, no citance_No or citance_number, or no topic's folder"
        )
    context = take_text(entry, "clean_text") or take_text(entry, "raw_text") or ""
    authority = take_int(entry.get("citing_paper_authority"), "citing_paper_authority")
    unread = frozenset(name for name, value in entry.items() if value and name not in _SENTENCE)
    return Citance(0, cited, citing, number, context, authority=authority, unread=unread)


def _split_lines(name: str, raw: bytes) -> Iterator[Entry]:
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            yield f"{name}: line {number}", line, partial(_parse_line, line)


def _parse_line(raw: bytes) -> Citance:
    return _parse_fields(_split_fields(decode_document(raw)))


def _split_fields(line: str) -> dict[str, str]:
    """The values by name; a text may hold the bar that parts them, so that each next name is sought."""
    starts = []
    place = 0
    for name in _FIELDS:
        found = line.find(f"{name}:", place)
        if found < 0 and name != "Annotator":
            raise RecordError("malformed_line", f"expected the field {name!r}")
        place = found + len(name) + 1 if found >= 0 else len(line)
        starts.append((found if found >= 0 else len(line), place))
    ends = [start for start, _ in starts[1:]] + [len(line)]
    values = (
        line[begin:end].strip().strip("|").strip() for (_, begin), end in zip(starts, ends, strict=True)
    )
    return dict(zip(_FIELDS, values, strict=True))


def _split_csv(name: str, raw: bytes) -> Iterator[Entry]:
    """The rows of a CSV under a header; rows without any value are left out."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    lines = list(io.StringIO(decode_document(raw), newline=""))
    reader = csv.reader(lines, strict=True)
    header = [cell.strip() for cell in next(reader, [])]
    missing = [column for column in _REQUIRED if column not in header]
    if missing:
        raise RecordError("malformed_line", f"no column {', '.join(missing)}")
    # The gold files are called after their topic and annotator, and lie beside each other.
    named = _TOPIC.match(PurePosixPath(name).name)
    topic = named[0] if named else name_topic(name)
    for number in count(1):
        first = reader.line_num
        try:
            cells, fault = next(reader), ""
        except StopIteration:
            return
        except csv.Error as error:
            cells, fault = [], str(error)
        if fault or any(cell.strip() for cell in cells):
            shown = "".join(lines[first : reader.line_num]).encode()
            yield f"{name}: row {number}", shown, partial(_parse_row, topic, header, cells, fault)


def _parse_row(topic: str, header: list[str], cells: list[str], fault: str) -> Citance:
    if fault or len(cells) != len(header):
        raise RecordError("malformed_line", fault or f"{len(cells)} cells, expected {len(header)}")
    values = dict(zip(header, cells, strict=True))
    written = name_paper(values["Reference Article"])
    if written not in ("", "NA", topic):
        raise RecordError("invalid_value", f"Reference Article: {written!r:.80}, in a file of {topic}")
    values["Reference Article"] = topic
    return _parse_fields(values)


def _parse_fields(written: Mapping[str, str]) -> Citance:
    values = {name: "" if value.strip() == "NA" else value.strip() for name, value in written.items()}
    citing, cited = (name_paper(values[field]) for field in ("Citing Article", "Reference Article"))
    if not citing or not cited or not values["Citance Number"]:
        raise RecordError("missing_field", "no Citing Article, Reference Article or Citance Number")
    text = values.get(_CLEAN) or values["Citation Text"]
    facets = next((values[name] for name in _FACET_COLUMNS if name in values), "")
    return Citance(
        1,
        cited,
        citing,
        values["Citance Number"],
        strip_sentence_tags(text),
        " ".join(values.get("Citation Marker", "").split()),
        _read_facets(facets),
        unread=frozenset(name for name, value in values.items() if value and name not in _READ),
    )


def _read_facets(written: str) -> frozenset[str]:
    """The facets in one spelling.

    >>> sorted(_read_facets("['Results_Citation','Method Citation']")), _read_facets("")
    (['Method_Citation', 'Results_Citation'], frozenset())
    """
    words = {found[1].lower() for found in _FACET.finditer(written)}
    if written and not words:
        raise RecordError("invalid_value", f"Discourse Facet: unknown {written!r:.80}")
    return frozenset(_SPELLINGS.get(word, f"{word.title()}_Citation") for word in words)
