"""The metadata of S2ORC's 2020 releases: one paper a line, with MAG's fields and citations both ways.

A paper's `outbound_citations` are rows of its own; of `inbound_citations` the other paper is the citing one.
Without a venue, the journal stands for it. An author has no id, so the name is one. Left out are empty names
and ids in lists, and what the metadata say of the PDF.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.reading.values import take_objects
from pinakes.loaders.reading.columnar import Layout
from pinakes.loaders.reading.columns import LIST_OF_TEXTS, NotPlainError, build_table, clean_ids, clean_texts, clean_years, explode, join_texts
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.reading.values import take_list, take_text, take_year
from pinakes.loaders.s2orc.identifying import list_identifiers, project_identifiers
from pinakes.loaders.staging import RecordError, Rows

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


def build_layout(directions: tuple[str, ...]) -> Layout:
    """How metadata are read, with the citations of these directions (`outbound`, `inbound`)."""
    links = (pa.field(f"{direction}_citations", LIST_OF_TEXTS) for direction in directions)
    schema = pa.schema([*_FIELDS, *links])
    return Layout((schema,), partial(_project, directions), partial(parse_metadata, directions))


def parse_metadata(directions: tuple[str, ...], record: dict[str, Any]) -> Rows:
    """The rows of one paper's metadata."""
    source_id = take_text(record, "paper_id")
    if source_id is None:
        raise RecordError("missing_field", "no paper_id")
    paper = {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "abstract": take_text(record, "abstract"),
        "year": take_year(record.get("year")),
        "venue": take_text(record, "venue") or take_text(record, "journal"),
    }
    identifiers = {scheme: take_text(record, field) for field, scheme in SCHEMES.items()}
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, identifiers),
        "fields": [
            {"source_id": source_id, "field": field, "assigned_by": "mag"}
            for field in _take_texts(record, "mag_field_of_study")
        ],
        "authorships": list_authorships(source_id, record),
        "citations": [
            {"citing_source_id": source_id, "reference_key": other}
            if direction == "outbound"
            else {"citing_source_id": other, "reference_key": source_id}
            for direction in directions
            for other in _take_texts(record, f"{direction}_citations")
        ],
    }


def list_authorships(source_id: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The authors of a paper whose names are given in parts."""
    rows = []
    for position, author in enumerate(take_objects(record, "authors"), start=1):
        first, last, suffix = (take_text(author, part) for part in ("first", "last", "suffix"))
        name = " ".join(filter(None, (first, *_take_texts(author, "middle"), last, suffix)))
        if name:
            rows.append(build_authorship(source_id, position, name))
    return rows


def build_authorship(source_id: str, position: int, name: str) -> dict[str, Any]:
    """The authorship of somebody of whom only the name is known."""
    return {
        "source_id": source_id,
        "position": position,
        "author_source_id": f"name:{name}",
        "author_name": name,
    }


def _take_texts(record: Mapping[str, Any], key: str) -> list[str]:
    texts = (clean_text(value) for value in take_list(record, key) or [])
    return [text for text in texts if text is not None]


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
    return {
        "papers": build_table("papers", papers),
        "identifiers": project_identifiers(identifiers, ids, numbers),
        "fields": _project_fields(columns["mag_field_of_study"], ids, numbers),
        "authorships": _project_authorships(columns["authors"], ids, numbers),
        "citations": _project_citations(directions, columns, ids, numbers),
    }


def _project_fields(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    members = explode(column)
    fields = clean_texts(members.values)
    kept = pa.array(members.parents).filter(fields.is_valid())
    return build_table(
        "fields",
        {
            "row_number": numbers.take(kept),
            "source_id": ids.take(kept),
            "field": fields.drop_null(),
            "assigned_by": pa.scalar("mag"),
        },
    )


def _project_authorships(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("an author is no object")
    first, last, suffix = (
        clean_texts(pc.struct_field(members.values, part)) for part in ("first", "last", "suffix")
    )
    middle = clean_texts(join_texts(pc.struct_field(members.values, "middle")))
    names = clean_texts(pc.binary_join_element_wise(first, middle, last, suffix, " ", null_handling="skip"))
    kept = names.is_valid()
    parents, names = pa.array(members.parents).filter(kept), names.filter(kept)
    return build_table(
        "authorships",
        {
            "row_number": numbers.take(parents),
            "source_id": ids.take(parents),
            "position": pc.cast(pa.array(members.positions).filter(kept), pa.int32()),
            "author_source_id": pc.binary_join_element_wise("name", names, ":"),
            "author_name": names,
        },
    )


def _project_citations(
    directions: tuple[str, ...], columns: Mapping[str, pa.Array], ids: pa.Array, numbers: pa.Array
) -> pa.Table:
    tables = []
    for direction in directions:
        members = explode(columns[f"{direction}_citations"])
        others = clean_texts(members.values)
        kept = pa.array(members.parents).filter(others.is_valid())
        ends = (ids.take(kept), others.drop_null())
        citing, cited = ends if direction == "outbound" else reversed(ends)
        rows = {"row_number": numbers.take(kept), "citing_source_id": citing, "reference_key": cited}
        tables.append(build_table("citations", rows))
    if len(tables) < 2:
        return tables[0] if tables else build_table("citations", _NO_CITATIONS)
    table = pa.concat_tables(tables).combine_chunks()
    return table.take(pa.array(np.argsort(table["row_number"].to_numpy(), kind="stable")))


_NO_CITATIONS: Final = {
    "row_number": pa.array([], pa.int64()),
    "citing_source_id": pa.array([], pa.string()),
    "reference_key": pa.array([], pa.string()),
}
