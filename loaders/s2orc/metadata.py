"""The metadata of S2ORC's releases of 2019, a table, and of 2020, one paper a line.

Both have MAG's fields and citations both ways: a paper's `outbound_citations` are rows of its own; of
`inbound_citations` the other paper is the citing one. Without a venue, the journal stands for it. An author
has no id, so the name is one. In the table, lists stand in cells as Python prints them, and the columns
`has_doi`, `has_pmid` and so on hold the identifiers themselves. What is said of PDF and parses is left out,
and a journal beside a venue.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.left_out import keep_filled, leave_fields, leave_inner_fields, leave_out
from pinakes.loaders.reading.columnar import Layout
from pinakes.loaders.reading.columns import (
    LIST_OF_TEXTS,
    Members,
    NotPlainError,
    build_authorships,
    build_children,
    build_identifiers,
    build_table,
    clean_ids,
    clean_texts,
    clean_years,
    compare_venues,
    count_members,
    explode,
    gather_left_out,
    join_texts,
    sort_records,
)
from pinakes.loaders.reading.rows import (
    Row,
    describe_paper,
    leave_other_venues,
    list_authorships,
    list_identifiers,
    list_names,
)
from pinakes.loaders.reading.unread_fields import Codes
from pinakes.loaders.reading.values import take_id, take_text, take_texts, take_year
from pinakes.loaders.staging import STAGED, RecordError, Rows

SCHEMES: Final = {
    "doi": "doi",
    "arxiv_id": "arxiv",
    "acl_id": "acl",
    "mag_id": "mag",
    "pubmed_id": "pubmed",
    "pmc_id": "pmc",
}
"""field -> scheme of the identifier that it holds"""

_TEXTS: Final = ("paper_id", "title", "abstract", "venue", "journal", *SCHEMES)
_NAME: Final = pa.struct(
    [
        pa.field("first", pa.string()),
        pa.field("middle", LIST_OF_TEXTS),
        pa.field("last", pa.string()),
        pa.field("suffix", pa.string()),
    ]
)
_FIELDS: Final = (
    *(pa.field(name, pa.string()) for name in _TEXTS),
    pa.field("year", pa.int64()),
    pa.field("authors", pa.list_(_NAME)),
    pa.field("mag_field_of_study", LIST_OF_TEXTS),
)

_LINKS: Final = frozenset({"outbound_citations", "inbound_citations"})
NAME_PARTS: Final = frozenset(part.name for part in _NAME)
_READ: Final = _LINKS.union(field.name for field in _FIELDS)

REQUIRED: Final = (
    "pid", "title", "authors", "year", "venue", "mag_fos", "outbound_citations", "inbound_citations",
)  # fmt: skip
_TABLE_SCHEMES: Final = {
    "has_doi": "doi",
    "has_arxiv_id": "arxiv",
    "has_acl_id": "acl",
    "has_pmid": "pubmed",
    "has_pmc_id": "pmc",
}
_READ_OF_TABLE: Final = frozenset({*REQUIRED, *_TABLE_SCHEMES})
_QUOTED: Final = r"'[^'\\]*+(?:\\.[^'\\]*+)*'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*\""
_LIST: Final = re.compile(rf"\[(?:(?:{_QUOTED})(?:, (?:{_QUOTED}))*)?\]", re.DOTALL)
_MEMBER: Final = re.compile(_QUOTED, re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}


def build_layout(directions: tuple[str, ...]) -> Layout:
    """How metadata are read, with the citations of these directions (`outbound`, `inbound`)."""
    links = (pa.field(f"{direction}_citations", LIST_OF_TEXTS) for direction in directions)
    schema = pa.schema([*_FIELDS, *links])
    parse, leave = partial(parse_metadata, directions), partial(_leave, directions)
    return Layout((schema,), partial(_project, directions), parse, leave, _tell_venues)


def _tell_venues(columns: Mapping[str, pa.Array]) -> list[Codes]:
    return [compare_venues(columns["venue"], columns["journal"])]


def _leave(directions: tuple[str, ...], record: Mapping[str, Any]) -> None:
    """Note the fields that are not read of a record, and the links that are not asked for."""
    leave_fields(record, _READ)
    leave_inner_fields(record, "authors", NAME_PARTS)
    leave_other_venues(record, "journal")
    _leave_links(directions, record)


def _leave_links(directions: tuple[str, ...], record: Mapping[str, Any]) -> None:
    for name in _LINKS.difference(f"{direction}_citations" for direction in directions):
        leave_out(f"field {name}", "not_asked", bool(record.get(name)))


def parse_metadata(directions: tuple[str, ...], record: dict[str, Any]) -> Rows:
    """The rows of one paper's metadata."""
    source_id = take_id(record, "paper_id")
    identifiers = {scheme: take_text(record, field) for field, scheme in SCHEMES.items()}
    return {
        "papers": [describe_paper(source_id, record, "journal")],
        "identifiers": list_identifiers(source_id, identifiers.items()),
        "fields": _list_fields(source_id, take_texts(record, "mag_field_of_study", "fields")),
        "authorships": list_authorships(source_id, list_names(record)),
        "citations": [
            _link(source_id, other, direction)
            for direction in directions
            for other in take_texts(record, f"{direction}_citations", "citations")
        ],
    }


def _list_fields(source_id: str, fields: list[str]) -> list[Row]:
    filled = keep_filled("fields", fields)
    return [{"source_id": source_id, "field": field, "assigned_by": "mag"} for field in filled]


def _link(source_id: str, other: str, direction: str) -> Row:
    ends = (source_id, other) if direction == "outbound" else (other, source_id)
    return dict(zip(("citing_source_id", "reference_key"), ends, strict=True))


def _project(
    directions: tuple[str, ...], columns: Mapping[str, pa.Array], numbers: pa.Array
) -> dict[str, pa.Table]:
    ids = clean_ids(columns["paper_id"])
    identifiers = {scheme: clean_texts(columns[field]) for field, scheme in SCHEMES.items()}
    venue = pc.coalesce(clean_texts(columns["venue"]), clean_texts(columns["journal"]))
    papers = {
        "row_number": numbers,
        "source_id": ids,
        "title": clean_texts(columns["title"]),
        "abstract": clean_texts(columns["abstract"]),
        "year": clean_years(columns["year"]),
        "venue": venue,
    }
    left_out: list[pa.Table] = []
    return {
        "papers": build_table("papers", papers),
        "identifiers": build_identifiers(identifiers, ids, numbers),
        "fields": _project_fields(columns["mag_field_of_study"], ids, numbers, left_out),
        "authorships": _project_authorships(columns["authors"], ids, numbers, left_out),
        "citations": _project_citations(directions, columns, ids, numbers, left_out),
        **gather_left_out(left_out),
    }


def _project_fields(column: pa.Array, ids: pa.Array, numbers: pa.Array, left_out: list[pa.Table]) -> pa.Table:
    members = explode(column)
    fields = clean_texts(members.values)
    left_out.append(count_members(members.parents, fields.is_null(), numbers, "fields", "no_value"))
    kept = Members(fields, members.parents, members.positions).filter(fields.is_valid())
    mag = pa.scalar("mag")
    return build_children("fields", kept.parents, ids, numbers, field=kept.values, assigned_by=mag)


def _project_authorships(
    column: pa.Array, ids: pa.Array, numbers: pa.Array, left_out: list[pa.Table]
) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("an author is no object")
    first, last, suffix = (
        clean_texts(pc.struct_field(members.values, part)) for part in ("first", "last", "suffix")
    )
    middle = clean_texts(join_texts(pc.struct_field(members.values, "middle")))
    # Arrow's join leaves out an element of which all parts are null.
    is_nameless = pc.and_(
        pc.and_(first.is_null(), middle.is_null()), pc.and_(last.is_null(), suffix.is_null())
    )
    first = pc.if_else(is_nameless, "", first) if is_nameless.true_count else first
    names = clean_texts(pc.binary_join_element_wise(first, middle, last, suffix, " ", null_handling="skip"))
    left_out.append(count_members(members.parents, names.is_null(), numbers, "authorships", "no_value"))
    return build_authorships(Members(names, members.parents, members.positions), ids, numbers)


def _project_citations(
    directions: tuple[str, ...],
    columns: Mapping[str, pa.Array],
    ids: pa.Array,
    numbers: pa.Array,
    left_out: list[pa.Table],
) -> pa.Table:
    tables = []
    for direction in directions:
        members = explode(columns[f"{direction}_citations"])
        others = clean_texts(members.values)
        left_out.append(count_members(members.parents, others.is_null(), numbers, "citations", "no_value"))
        kept = pa.array(members.parents).filter(others.is_valid())
        ends = (ids.take(kept), others.drop_null())
        citing, cited = ends if direction == "outbound" else reversed(ends)
        rows = {"row_number": numbers.take(kept), "citing_source_id": citing, "reference_key": cited}
        tables.append(build_table("citations", rows))
    return sort_records(tables) if tables else STAGED["citations"].empty_table()


def parse_row(directions: tuple[str, ...], row: dict[str, str]) -> Rows:
    """The rows of one paper of the table."""
    source_id = take_id(row, "pid")
    leave_fields(row, _READ_OF_TABLE)
    _leave_links(directions, {name: row[name].strip(" []") for name in _LINKS})
    paper = {
        "source_id": source_id,
        "title": take_text(row, "title"),
        "year": take_year(row["year"]),
        "venue": take_text(row, "venue"),
    }
    identifiers = ((scheme, take_text(row, column)) for column, scheme in _TABLE_SCHEMES.items())
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers),
        "fields": _list_fields(source_id, _take_list(row, "mag_fos")),
        "authorships": list_authorships(source_id, ((None, name) for name in _take_list(row, "authors"))),
        "citations": [
            _link(source_id, other, direction)
            for direction in directions
            for other in keep_filled("citations", _take_list(row, f"{direction}_citations"))
        ],
    }


def _take_list(row: dict[str, str], column: str) -> list[str]:
    try:
        return read_list(row[column])
    except ValueError as error:
        raise RecordError("invalid_value", f"{column}: {error}") from error


def read_list(cell: str) -> list[str]:
    r"""The texts of a list as Python prints it, without surrounding white space; none of an empty cell.

    Raises:
        ValueError: it is no such list.

    >>> read_list('["D\'Arcy", \'M\\xfcller\']'), read_list("")
    (["D'Arcy", 'Müller'], [])
    """
    cell = cell.strip()
    if cell and not _LIST.fullmatch(cell):
        raise ValueError(f"expected a list of texts, found {cell!r:.80}")
    return [_ESCAPE.sub(_read_escape, text[1:-1]).strip() for text in _MEMBER.findall(cell)]


def _read_escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _CONTROLS.get(match[4], match[4])
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else match[0]
