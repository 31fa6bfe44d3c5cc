"""What ir_datasets gives, a named tuple each, as staged rows; fields without a column are counted by name.

A type of documents has the fields of its publisher. Title and abstract are the first of the fields below that
hold a text; where there is none, the abstract is what the package takes for the text of the whole
(`default_text`). A body beside an abstract becomes sections.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from pinakes.loaders.reading.qrels import NO_ITERATION
from pinakes.loaders.reading.rows import list_identifiers, list_sections, make_judgment
from pinakes.loaders.reading.values import clean_text, take_int, take_year
from pinakes.loaders.staging import RecordError, Rows

TITLES: Final = ("title", "headline", "page_title", "document_title")
ABSTRACTS: Final = ("abstract", "text", "body")
QUERY_TEXTS: Final = ("text", "title", "query", "raw_utterance")
DESCRIPTIONS: Final = ("description", "desc")
ASSESSOR: Final = "published"
POOL: Final = "scoreddocs"
"""what the pools say put a document into them"""

Parsed = tuple[Rows, int]
"""staged rows, and how large the record is"""


def parse_document(item: Any) -> Parsed:
    """A document as a paper."""
    fields, taken = _read_fields(item), ["doc_id"]
    source_id = _require(fields, "doc_id")
    title = _take_first(fields, TITLES, taken)
    abstract = _take_first(fields, ABSTRACTS, taken)
    sections = (
        _read_sections(source_id, fields.get("body"), taken) if abstract and "body" not in taken else []
    )
    if abstract is None:
        abstract = _read_default(item)
        taken += [
            name for name, value in fields.items() if isinstance(value, str) and value in (abstract or "")
        ]
    paper = {"source_id": source_id, "title": title, "abstract": abstract, "year": _read_year(fields, taken)}
    rows = {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, [("doi", _take(fields, "doi", taken))]),
        "sections": sections,
        "left_out": _list_left_out(fields, taken),
    }
    return rows, sum(len(part) for part in (title, abstract, *(row["text"] for row in sections)) if part)


def parse_query(item: Any) -> Parsed:
    """A query; one that is a document of the collection (background linking) is asked with that paper."""
    fields, taken = _read_fields(item), ["query_id"]
    query = {
        "query_id": _require(fields, "query_id"),
        "paper_source_id": _take(fields, "doc_id", taken),
        "text": _take_first(fields, QUERY_TEXTS, taken),
        "description": _take_first(fields, DESCRIPTIONS, taken),
        "narrative": _take(fields, "narrative", taken),
    }
    if query["text"] is None:
        query["text"] = _read_default(item)
        taken += [
            name
            for name, value in fields.items()
            if isinstance(value, str) and value in (query["text"] or "")
        ]
    if query["text"] is None and query["paper_source_id"] is None:
        raise RecordError("missing_field", "a query without a text")
    return {"queries": [query], "left_out": _list_left_out(fields, taken)}, 0


def parse_judgment(item: Any, split: str) -> Parsed:
    """A judgment; those of a query's subtopics have an assessor each, as `subtopic 3`."""
    fields, taken = _read_fields(item), ["query_id", "doc_id", "relevance", "subtopic_id"]
    grade = take_int(fields.get("relevance"), "relevance")
    if grade is None:
        raise RecordError("missing_field", "relevance is missing or empty")
    if str(fields.get("iteration", "")) in NO_ITERATION:
        taken.append("iteration")
    subtopic = clean_text(fields.get("subtopic_id"))
    assessor = ASSESSOR if subtopic is None else f"subtopic {subtopic}"
    query_id, source_id = _require(fields, "query_id"), _require(fields, "doc_id")
    judgment = make_judgment(query_id, source_id, grade, split, assessor=assessor)
    return {"judgments": [judgment], "left_out": _list_left_out(fields, taken)}, 0


def parse_scored(item: Any) -> Parsed:
    """A document of a query's first ranking, as a member of its pool; the score is left out."""
    fields = _read_fields(item)
    row = {"query_id": _require(fields, "query_id"), "source_id": _require(fields, "doc_id"), "source": POOL}
    left_out = _list_left_out(fields, ["query_id", "doc_id"])
    return {"pool_sources": [row], "left_out": left_out}, 0


def _read_fields(item: Any) -> dict[str, Any]:
    if not hasattr(item, "_asdict"):
        raise RecordError("not_an_object", f"a {type(item).__name__} has no named fields")
    fields: dict[str, Any] = item._asdict()
    return fields


def _require(fields: Mapping[str, Any], name: str) -> str:
    found = clean_text(fields.get(name), name)
    if found is None:
        raise RecordError("missing_field", f"{name} is missing or empty")
    return found


def _take(fields: Mapping[str, Any], name: str, taken: list[str]) -> str | None:
    """The text of a field, which is taken where it holds one."""
    value = fields.get(name)
    found = clean_text(value) if isinstance(value, str) else None
    if found is not None:
        taken.append(name)
    return found


def _take_first(fields: Mapping[str, Any], names: Iterable[str], taken: list[str]) -> str | None:
    return next((found for name in names if (found := _take(fields, name, taken)) is not None), None)


def _read_default(item: Any) -> str | None:
    """What the package takes for the text of the whole: of a web page without its tags."""
    return clean_text(item.default_text()) if hasattr(item, "default_text") else None


def _read_sections(source_id: str, body: Any, taken: list[str]) -> list[dict[str, Any]]:
    """The sections of a body that stands beside an abstract: one text, or parts with a title and a text."""
    if isinstance(body, str):
        parts: list[tuple[str | None, str]] = [(None, body.strip())]
    elif isinstance(body, list | tuple) and all(hasattr(part, "text") for part in body):
        parts = [(clean_text(getattr(part, "title", None)), str(part.text).strip()) for part in body]
    else:
        return []
    taken.append("body")
    return list_sections(source_id, parts)


def _read_year(fields: Mapping[str, Any], taken: list[str]) -> int | None:
    try:
        year = take_year(fields.get("year"))
    except RecordError:
        return None
    if year is not None:
        taken.append("year")
    return year


def _list_left_out(fields: Mapping[str, Any], taken: Collection[str]) -> list[dict[str, Any]]:
    """The fields that hold something and have no column, by name."""
    empty: tuple[Any, ...] = (None, "", b"", (), [], {})
    return [
        {"kind": f"field {name}", "reason": "no_column", "items": 1}
        for name, value in fields.items()
        if name not in taken and value not in empty
    ]
