"""science-parse's JSON: a paper's sections, references, and every mention of a reference with its sentence.

A document is `{"name": "25.pdf", "metadata": {…}}`, as the command writes one a file or one a line, or the
metadata alone, as the server answers. The name without `.pdf` is the `source_id`. PeerRead's layout around
such documents is `peerread`'s; there the reviews' title and abstract stand, and science-parse's fill gaps.

A reference is numbered by its place in the list, from 0; a mention of a number beyond the list is kept and
names a work of which nothing is known. Offsets that do not lie in their context are left out. Leaves out:
e-mail addresses, the PDF's producer, references' authors, venues and patterns, sections without a text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.peerread import (
    REVIEW_COLUMNS,
    Place,
    locate_document,
    parse_reviews,
    read_annotations,
)
from pinakes.loaders.reading.rows import list_authorships, list_sections
from pinakes.loaders.reading.values import take_objects
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.rows import make_reference_key
from pinakes.loaders.reading.json_records import parse_json_object, read_json_lines
from pinakes.loaders.reading.values import take_int, take_list, take_object, take_text, take_year
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows, show_raw

_PARSED: Final = frozenset({"year", "authorships", "sections", "citations"})
_COLUMNS: Final = {
    "papers": _PARSED | {"title", "abstract"},
    "parsed": _PARSED,
    "reviews": REVIEW_COLUMNS,
    "annotations": frozenset({"review_scores"}),
}
"""Role -> what its files say of their papers."""


def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
    """A corpus named after the file or folder."""
    name = "" if source is None else source.resolve().name.split(".")[0]
    return CorpusDescription(name=name, title=name, source="science-parse")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The documents of a folder or archive by role, then its annotations; or the file that is given."""
    if source is not None and source.is_file():
        lowered = strip_compression(source.name.lower())
        for suffix, role in ((".jsonl", "papers"), (".tsv", "annotations")):
            if lowered.endswith(suffix):
                return [InputFile(source, source.name, role)]
    found = find_documents(source, suffixes=(".json",))
    parts = [_take_role(file, role) for role in ("reviews", "parsed", "papers") for file in found]
    tables = sorted(source.glob("*annotation*.tsv*")) if source is not None and source.is_dir() else []
    return [
        *filter(None, parts),
        *(InputFile(path, path.name, "annotations") for path in tables),
    ]


def _take_role(file: InputFile, role: str) -> InputFile | None:
    """The file's documents of that role, as a file of their own; None where there are none."""
    names = file.documents or (file.name,)
    chosen = tuple(name for name in names if locate_document(file.path, name).role == role)
    if not chosen:
        return None
    if len(chosen) == len(names):
        return replace(file, role=role)
    # The digest is that of all the documents: a load knows a file by its digest and its role.
    is_folder = file.path is not None and file.path.is_dir()
    name = f"{chosen[0]} to {chosen[-1]}" if is_folder else file.name
    return replace(file, role=role, name=f"{role}: {show_raw(name)}", documents=chosen)


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file."""
    return gather_chunks(_read_records(file), first_row=first_row)


def _read_records(file: InputFile) -> Iterator[Accepted | Rejected]:
    if file.role == "annotations":
        return read_annotations(file)
    if not file.documents and strip_compression(file.name.lower()).endswith(".jsonl"):
        return read_json_lines(file, _parse_line)
    return read_documents(file, partial(_parse_document, file.path))


def _parse_line(record: dict[str, Any]) -> Rows:
    return parse_paper(record, Place("papers", ""))


def _parse_document(path: Path | None, raw: bytes, name: str) -> Rows:
    place = locate_document(path, name)
    record = parse_json_object(raw)
    return parse_reviews(record, place) if place.role == "reviews" else parse_paper(record, place)


def parse_paper(record: Mapping[str, Any], place: Place) -> Rows:
    """What a document says; outside PeerRead's layout, its own name counts before that of its file."""
    metadata = take_object(record, "metadata") or record
    printed = (take_text(record, "name") or "").removesuffix(".pdf") if place.role == "papers" else ""
    source_id = printed or place.source_id
    if not source_id:
        raise RecordError("missing_field", "no name")
    texts = {"title": take_text(metadata, "title"), "abstract": take_text(metadata, "abstractText")}
    paper = {"source_id": source_id, "year": take_year(metadata.get("year"))}
    references, keys = _parse_references(source_id, metadata)
    rows: Rows = {
        "papers": [paper | texts if place.role == "papers" else paper],
        "authorships": list_authorships(source_id, _list_authors(metadata)),
        "sections": list_sections(source_id, _list_sections(metadata)),
        "references": references,
        "citations": _list_citations(source_id, keys, take_objects(metadata, "referenceMentions")),
    }
    return (
        rows if place.role == "papers" else {**rows, "mentioned_papers": [{"source_id": source_id, **texts}]}
    )


def _list_authors(metadata: Mapping[str, Any]) -> Iterator[tuple[None, str]]:
    """The authors' names, which the command prints bare and the server in objects."""
    for author in take_list(metadata, "authors") or []:
        name = take_text(author if isinstance(author, dict) else {"name": author}, "name")
        if name:
            yield None, name


def _list_sections(metadata: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    for section in take_objects(metadata, "sections"):
        yield take_text(section, "heading"), take_text(section, "text") or ""


def _parse_references(source_id: str, metadata: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of `references`, and the reference keys in the order of the list."""
    references, keys = [], []
    for number, reference in enumerate(take_objects(metadata, "references")):
        title = take_text(reference, "title")
        key = make_reference_key(title=title, mention=(source_id, str(number)))
        keys.append(key)
        references.append({"reference_key": key, "title": title, "year": take_year(reference.get("year"))})
    return references, keys


def _list_citations(source_id: str, keys: list[str], mentions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for every mention, then one for every reference without any."""
    rows = []
    unmentioned = dict(enumerate(keys))
    for mention in mentions:
        number = take_int(mention.get("referenceID"), "referenceID")
        if number is None:
            raise RecordError("missing_field", "a mention without referenceID")
        unmentioned.pop(number, None)
        is_listed = 0 <= number < len(keys)
        key = keys[number] if is_listed else make_reference_key(mention=(source_id, str(number)))
        rows.append(_build_citation(source_id, key, number) | _take_context(mention))
    return rows + [_build_citation(source_id, key, number) for number, key in unmentioned.items()]


def _build_citation(source_id: str, key: str, number: int) -> dict[str, Any]:
    return {"citing_source_id": source_id, "reference_key": key, "source_reference_id": str(number)}


def _take_context(mention: Mapping[str, Any]) -> dict[str, Any]:
    """The context and the offsets in it, without the white space around it."""
    context = take_text(mention, "context")
    if context is None:
        return {}
    printed = str(mention["context"])
    shift = len(printed) - len(printed.lstrip())
    start, end = (take_int(mention.get(name), name) for name in ("startOffset", "endOffset"))
    if start is None or end is None or not shift <= start <= end <= shift + len(context):
        return {"context": context}
    return {"context": context, "context_start": start - shift, "context_end": end - shift}


LOADER: Final = Loader(
    name="science-parse",
    summary="science-parse's JSON, one document a file or a line, alone or in PeerRead's layout with reviews",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    describes=lambda role: _COLUMNS[role],
)
