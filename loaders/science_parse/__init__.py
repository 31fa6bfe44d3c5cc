"""science-parse's JSON: a paper's sections, references, and every mention of a reference with its sentence.

A document is `{"name": "25.pdf", "metadata": {…}}`, as the command writes one a file or one a line, or the
metadata alone, as the server answers. The name without `.pdf` is the `source_id`. A reference is numbered by
its place in the list, from 0; a mention of a number beyond the list is kept and names a work of which nothing
is known. Of a reference, a mention or a score what is no number, where one is expected, is left out, and the
paper is loaded.

PeerRead (Kang et al. 2018) lays venues, splits and reviews around such documents:
`<venue>/<split>/parsed_pdfs/25.pdf.json` is science-parse's; `<venue>/<split>/reviews/25.json` says the title
and abstract as they were submitted, whether the paper was accepted, and its reviews (science-parse's title
and abstract fill gaps). Each venue numbers its papers: the `source_id` is `<venue>/25`. A review's
scores are numbers or digits; its number in the file is the `review_id`, since reviewers are not named or
comment several times. Aspects are in small letters (`soundness_correctness`). The decision is a label of the
task `peerread_decision`, gold; silver for arXiv's sections, whose acceptance was inferred.

`*annotation*.tsv` is the table of aspects that annotators read out of ICLR 2017's reviews: one line a review,
`-` where the review says nothing. They are scores of that reviewer, who is the `review_id`. A paper's scores
are replaced as a whole, so those of the files and those of the table belong into corpora of their own.

Leaves out, and counts: e-mail addresses, the PDF's producer, references' authors, venues and patterns; the
text of reviews and comments, presentation formats, histories, dates, authors as printed; mentions without a
number; scores that are no number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pinakes.loaders.base import InputFile, Loader, Options, describe_by_name
from pinakes.loaders.left_out import leave_fields, leave_member_fields, leave_out
from pinakes.loaders.reading.bibliography import Bibliography, CitedWork
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import find_documents, read_documents
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import parse_json_object, read_json_lines
from pinakes.loaders.reading.rows import list_authorships, list_sections
from pinakes.loaders.reading.values import (
    take_int,
    take_list,
    take_object,
    take_objects,
    take_or_leave,
    take_text,
    take_year,
)
from pinakes.loaders.science_parse.reviews import Place, parse_reviews, read_annotations
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw

_PARSED: Final = frozenset({"year", "authorships", "sections", "citations"})
_COLUMNS: Final = {
    "papers": _PARSED | {"title", "abstract"},
    "parsed": _PARSED,
    "reviews": frozenset({"title", "abstract", "venue", "identifiers", "fields", "review_scores"}),
    "annotations": frozenset({"review_scores"}),
}
"""Role -> what its files say of their papers."""
_METADATA: Final = frozenset(
    {"title", "abstractText", "authors", "year", "sections", "references", "referenceMentions"}
)
_DOCUMENT: Final = frozenset({"name", "metadata"})
_SECTION: Final = frozenset({"heading", "text"})
_REFERENCE: Final = frozenset({"title", "year"})
_MENTION: Final = frozenset({"referenceID", "context", "startOffset", "endOffset"})
"""What is read of an object, by its fields; the rest is left out."""
_SPLITS: Final = ("train", "dev", "test")
_FOLDERS: Final = {"parsed_pdfs": "parsed", "reviews": "reviews"}


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
    leave_fields(record, _DOCUMENT if metadata is not record else _DOCUMENT | _METADATA)
    if metadata is not record:
        leave_fields(metadata, _METADATA, "metadata.")
    printed = (take_text(record, "name") or "").removesuffix(".pdf") if place.role == "papers" else ""
    source_id = printed or place.source_id
    if not source_id:
        raise RecordError("missing_field", "no name")
    texts = {"title": take_text(metadata, "title"), "abstract": take_text(metadata, "abstractText")}
    paper = {"source_id": source_id, "year": take_year(metadata.get("year"))}
    rows: Rows = {
        "papers": [paper | texts if place.role == "papers" else paper],
        "authorships": list_authorships(source_id, _list_authors(metadata)),
        "sections": list_sections(source_id, _list_sections(metadata)),
        **_list_citations(source_id, metadata),
    }
    return (
        rows if place.role == "papers" else {**rows, "mentioned_papers": [{"source_id": source_id, **texts}]}
    )


def _list_authors(metadata: Mapping[str, Any]) -> Iterator[tuple[None, str]]:
    """The authors' names, which the command prints bare and the server in objects."""
    for author in take_list(metadata, "authors"):
        name = take_text(author if isinstance(author, dict) else {"name": author}, "name")
        if name:
            yield None, name
        else:
            leave_out("authorships", "no_value")


def _list_sections(metadata: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    sections = take_objects(metadata, "sections")
    leave_member_fields(sections, _SECTION, "sections.")
    for section in sections:
        yield take_text(section, "heading"), take_text(section, "text") or ""


def _list_citations(source_id: str, metadata: Mapping[str, Any]) -> Rows:
    references, mentions = (take_objects(metadata, name) for name in ("references", "referenceMentions"))
    leave_member_fields(references, _REFERENCE, "references.")
    leave_member_fields(mentions, _MENTION, "referenceMentions.")
    works = (
        CitedWork(
            str(number),
            take_text(reference, "title"),
            take_or_leave("field references.year", take_year, reference.get("year")),
        )
        for number, reference in enumerate(references)
    )
    bibliography = Bibliography(source_id, works)
    for mention in mentions:
        given = mention.get("referenceID")
        number = take_or_leave("citations", take_int, given, "referenceID")
        if number is not None:
            bibliography.add_mention(str(number), *_take_context(mention))
        elif given in (None, ""):
            leave_out("citations", "no_reference")
    return bibliography.build_rows()


def _take_context(mention: Mapping[str, Any]) -> tuple[str | None, int | None, int | None]:
    """The context and the offsets in it, without the white space around it."""
    context = take_text(mention, "context")
    if context is None:
        return None, None, None
    printed = str(mention["context"])
    shift = len(printed) - len(printed.lstrip())
    start, end = (
        take_or_leave(f"field referenceMentions.{name}", take_int, mention.get(name), name)
        for name in ("startOffset", "endOffset")
    )
    if start is None or end is None:
        return context, None, None
    if not shift <= start <= end <= shift + len(context):
        leave_out("field referenceMentions.startOffset", "invalid")
        return context, None, None
    return context, start - shift, end - shift


def locate_document(path: Path | None, name: str) -> Place:
    """The place of the document `name` of the file or folder at `path`.

    >>> locate_document(Path("data"), "acl_2017/dev/reviews/25.json")
    Place(role='reviews', source_id='acl_2017/25', venue='acl_2017', split='dev')
    >>> locate_document(Path("data"), "25.pdf.json")
    Place(role='papers', source_id='25', venue=None, split='all')
    """
    number = re.sub(r"(?:\.pdf)?\.json(?:\.\w+)?$|\.pdf$", "", PurePosixPath(name).name)
    folder = path.resolve() if path else Path()
    above = folder.parent if folder.name == name else folder
    *parts, _ = (*above.parts, *PurePosixPath(name).parts)
    role = _FOLDERS.get(parts[-1]) if len(parts) > 2 else None
    if role is None:
        return Place("papers", number)
    venue, split = parts[-3:-1]
    return Place(role, f"{venue}/{number}", venue, split if split in _SPLITS else "all")


LOADER: Final = Loader(
    name="science-parse",
    summary="science-parse's JSON, one document a file or a line, alone or in PeerRead's layout with reviews",
    describe_corpus=describe_by_name("science-parse"),
    find_files=find_files,
    read_chunks=gather_by_role(_read_records),
    describes=lambda role: _COLUMNS[role],
)
