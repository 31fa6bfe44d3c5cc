"""The citances of the release: one record a sentence of `citing_sentences.json` or a line of an annotation.

The context is the cleaned sentence where there is one, else the raw one; the mention is located in it where
an annotation gives a marker that stands there once. The facets of an annotation ("Method_Citation") are the
citation's intents, in one spelling. `citing_paper_authority` is the citation count of the citing paper. Of
the release of 2019, 9 sentences hold a NUL character and are rejected.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Final

import orjson

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.documents import check_whole, load_documents, reject_document
from pinakes.loaders.reading.values import expect_object, take_int, take_text
from pinakes.loaders.scisumm.papers import decode_document, name_paper, strip_sentence_tags
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_FIELDS: Final = (
    "Citance Number", "Reference Article", "Citing Article", "Citation Marker Offset", "Citation Marker",
    "Citation Offset", "Citation Text", "Reference Offset", "Reference Text", "Discourse Facet",
    "Annotator",
)  # fmt: skip
"""The fields of an annotation's line, in their order; the last is missing from some."""

_FACET: Final = re.compile(r"(Aim|Method|Result|Implication|Hypothesis)s?[_ ]citation", re.IGNORECASE)
_SPELLINGS: Final = {"result": "Results_Citation"}

_Citance = tuple[str, bytes, Callable[[], Rows]]
"""location, raw text, and what makes the rows"""


def read_citances(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The citances of all documents of the file, numbered through."""
    numbers = count(1)
    for name, raw in load_documents(file):
        try:
            check_whole(raw)
            citances = list(_split_json(name, raw) if ".json" in name.lower() else _split_lines(name, raw))
        except RecordError as error:
            yield reject_document(next(numbers), name, raw, error)
            continue
        for location, shown, parse in citances:
            yield take_record(next(numbers), location, shown, parse)


def _split_lines(name: str, raw: bytes) -> Iterator[_Citance]:
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            yield f"{name}: line {number}", line, partial(_parse_line, line)


def _split_json(name: str, raw: bytes) -> Iterator[_Citance]:
    topic = name.split("/")[-2] if "/" in name else ""
    try:
        entries = orjson.loads(decode_document(raw))
    except orjson.JSONDecodeError as error:
        raise RecordError("not_json", str(error)) from error
    if not isinstance(entries, list):
        raise RecordError("not_an_object", f"a JSON {type(entries).__name__}, expected a list of objects")
    for index, entry in enumerate(entries):
        parse = partial(_parse_sentence, name_paper(topic), entry)
        yield f"{name}[{index}]", orjson.dumps(entry), parse


def _parse_sentence(cited: str, value: object) -> Rows:
    entry = expect_object(value)
    citing, number = take_text(entry, "citing_paper_id"), take_text(entry, "citance_No")
    if not citing or not number or not cited:
        raise RecordError("missing_field", "no citing_paper_id or citance_No, or no topic's folder")
    context = take_text(entry, "clean_text") or take_text(entry, "raw_text")
    rows = _cite(citing, cited, number, context)
    authority = take_int(entry.get("citing_paper_authority"), "citing_paper_authority")
    rows["mentioned_papers"][0]["citation_count"] = authority
    return rows


def _cite(citing: str, cited: str, number: str, context: str | None) -> dict[str, list[dict[str, Any]]]:
    """The rows of one citance; both papers are mentioned, since a topic may lack the text of either."""
    citation = {
        "citing_source_id": citing,
        "reference_key": cited,
        "source_reference_id": f"{cited}#{number}",
        "context": context or None,
    }
    return {"mentioned_papers": [{"source_id": citing}, {"source_id": cited}], "citations": [citation]}


def _parse_line(raw: bytes) -> Rows:
    values = _split_fields(decode_document(raw))
    citing, cited = (name_paper(values[field]) for field in ("Citing Article", "Reference Article"))
    if not citing or not cited or not values["Citance Number"]:
        raise RecordError("missing_field", "no Citing Article, Reference Article or Citance Number")
    context = strip_sentence_tags(values["Citation Text"])
    rows = _cite(citing, cited, values["Citance Number"], context)
    marker = " ".join(values["Citation Marker"].split())
    if marker and context.count(marker) == 1:
        start = context.index(marker)
        rows["citations"][0] |= {"context_start": start, "context_end": start + len(marker)}
    rows["citations"][0]["intents"] = _read_facets(values["Discourse Facet"])
    return rows


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
    return {name: "" if value == "NA" else value for name, value in zip(_FIELDS, values, strict=True)}


def _read_facets(written: str) -> str | None:
    """The facets, in one spelling, sorted, joined by a comma.

    >>> _read_facets("['Results_Citation','Method Citation']"), _read_facets("Aim_citation")
    ('Method_Citation,Results_Citation', 'Aim_Citation')
    """
    words = {found[1].lower() for found in _FACET.finditer(written)}
    if written and not words:
        raise RecordError("invalid_value", f"Discourse Facet: unknown {written!r:.80}")
    return ",".join(sorted(_SPELLINGS.get(word, f"{word.title()}_Citation") for word in words)) or None
