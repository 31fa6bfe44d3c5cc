"""arXiv's metadata snapshot as columns: the rows that `arxiv.parse_metadata` gives, by Arrow's kernels.

Leaves out: records that are out of the ordinary, which are parsed one by one (`columnar`).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.reading.columns import LIST_OF_TEXTS, Members, NotPlainError, build_table, clean_ids, clean_texts, explode, extract_texts, normalise_identifiers

_TEXTS: Final = ("id", "title", "abstract", "journal-ref", "doi", "categories")
SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in _TEXTS),
        pa.field("versions", pa.list_(pa.struct([pa.field("created", pa.string())]))),
        pa.field("authors_parsed", pa.list_(LIST_OF_TEXTS)),
    ]
)
_CREATED: Final = (
    "^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    "(?P<found>[12][0-9]{3}) [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$"
)
_ODD: Final = r"[\t-\r\x1c-\x1f]|  "


def project(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    """The staged tables of records that are plain.

    Raises:
        NotPlainError: one is not.
    """
    ids = clean_ids(columns["id"])
    papers = {
        "row_number": numbers,
        "source_id": ids,
        "title": _collapse(columns["title"]),
        "abstract": _collapse(columns["abstract"]),
        "year": _find_years(columns["versions"]),
        "venue": _collapse(columns["journal-ref"]),
    }
    return {
        "papers": build_table("papers", papers),
        "identifiers": _project_identifiers(columns["doi"], ids, numbers),
        "fields": _project_fields(columns["categories"], ids, numbers),
        "authorships": _project_authorships(columns["authors_parsed"], ids, numbers),
    }


def _collapse(column: pa.Array) -> pa.Array:
    """Texts on one line, null where nothing is left.

    >>> _collapse(pa.array([" a\\n  b ", "\\u2003", None, "ä\\u00a0b"])).to_pylist()
    ['a b', None, None, 'ä b']
    """
    collapsed = pc.replace_substring(clean_texts(column), "\n", " ")
    # Blanks beyond ASCII are Python's to tell, and it collapses blanks faster than a pattern does.
    is_odd = pc.or_(pc.match_substring_regex(collapsed, _ODD), pc.invert(pc.string_is_ascii(collapsed)))
    is_odd = pc.fill_null(is_odd, False)
    if not pc.any(is_odd).as_py():
        return collapsed
    odd = [" ".join(text.split()) for text in collapsed.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(collapsed, is_odd, pa.array(odd, pa.string()))


def _find_years(column: pa.Array) -> pa.Array:
    """The year of each paper's first version, null where none is told."""
    members = explode(column)
    if members.values.null_count:
        raise NotPlainError("a version is no object")
    is_first = members.positions == 1
    created = clean_texts(pc.struct_field(members.values, "created").filter(pa.array(is_first)))
    found = extract_texts(_CREATED, created)
    if found.null_count > created.null_count:
        raise NotPlainError("a date in another form")
    years = np.zeros(len(column), np.int32)
    years[members.parents[is_first]] = pc.fill_null(pc.cast(found, pa.int32()), 0).to_numpy()
    return pa.array(years, mask=years == 0)


def _project_identifiers(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    dois = _split(column)
    normal = normalise_identifiers("doi", dois.values)
    dois = Members(normal, dois.parents, dois.positions).filter(normal.is_valid())
    _refuse_repeated(dois)
    arxiv_ids = normalise_identifiers("arxiv", ids)
    rows = np.arange(len(ids))[arxiv_ids.is_valid().to_numpy(zero_copy_only=False)]
    owners = pa.array(np.concatenate((dois.parents, rows)))
    schemes = pa.concat_arrays([pa.repeat("doi", len(dois.values)), pa.repeat("arxiv", len(rows))])
    found = {
        "row_number": numbers.take(owners),
        "source_id": ids.take(owners),
        "scheme": schemes,
        "identifier": pa.concat_arrays([dois.values, arxiv_ids.drop_null()]),
    }
    return build_table("identifiers", found)


def _project_fields(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    categories = _split(column)
    _refuse_repeated(categories)
    owners = pa.array(categories.parents)
    fields = {
        "row_number": numbers.take(owners),
        "source_id": ids.take(owners),
        "field": categories.values,
        "assigned_by": pa.scalar("arxiv"),
    }
    return build_table("fields", fields)


def _split(column: pa.Array) -> Members:
    """The words of each text."""
    collapsed = _collapse(column)
    return explode(pc.split_pattern(collapsed, " "))


def _refuse_repeated(members: Members) -> None:
    pairs = pa.table({"parent": members.parents, "value": members.values})
    if pairs.group_by(["parent", "value"]).aggregate([]).num_rows < pairs.num_rows:
        raise NotPlainError("a value comes again")


def _project_authorships(column: pa.Array, ids: pa.Array, numbers: pa.Array) -> pa.Table:
    authors = explode(column)
    if authors.values.null_count or pc.list_flatten(authors.values).null_count:
        raise NotPlainError("a part of a name is no text")
    least = pc.min(pc.list_value_length(authors.values)).as_py()
    if least is not None and least < 3:
        raise NotPlainError("a name without all of its parts")
    last, first, suffix = (pc.list_element(authors.values, part) for part in range(3))
    names = _collapse(pc.binary_join_element_wise(first, last, suffix, " "))
    if names.null_count:
        raise NotPlainError("an author without a name")
    owners = pa.array(authors.parents)
    found = {
        "row_number": numbers.take(owners),
        "source_id": ids.take(owners),
        "position": pc.cast(pa.array(authors.positions), pa.int32()),
        "author_source_id": pc.binary_join_element_wise("name", names, ":"),
        "author_name": names,
    }
    return build_table("authorships", found)
