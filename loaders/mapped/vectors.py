"""A batch of records, by a mapping, into staged tables, column by column: the same rows as `rows` gives.

Vectorised are mappings of papers, identifiers, fields, authorships and labels whose columns take a path, a
constant, a prefix or a normal form; a mapping with anything else is for the exact way, and so is a batch in
which anything is out of the ordinary (`NotPlainError`). Leaves out: reading (`tabular`) and falling back
(`batches`, and `columnar` for JSON Lines).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.mapped.mapping import DEFAULTS, EXPECTED_RECORDS, NUMBERED, ColumnMapping, TableMapping
from pinakes.loaders.mapped.mapping import Mapping as ColumnMap
from pinakes.loaders.mapped.values import Path
from pinakes.loaders.reading.columns import (
    Members,
    NotPlainError,
    build_table,
    clean_counts,
    clean_texts,
    clean_years,
    explode,
    normalise_identifiers,
)
from pinakes.loaders.staging import STAGED

Columns = Mapping[str, pa.Array]
Project = Callable[[Columns, pa.Array], dict[str, pa.Table]]
Find = Callable[[Path], pa.Array | None]

_TABLES: Final = frozenset({"papers", "identifiers", "fields", "authorships", "labels"})
_YEAR: Final = r"^[0-9]{1,4}$"
_WHOLE: Final = r"^-?[0-9]{1,18}$"
_REAL: Final = r"^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$"
_LISTED: Final = frozenset({"fields", "authorships"})


def make_project(mapping: ColumnMap) -> Project | None:
    """What makes staged tables of columns and row numbers; None where the mapping is for the exact way.

    It raises `NotPlainError` where the records are.
    """
    names = [table.name for table in mapping.tables]
    if names.count("papers") != 1 or len(set(names)) < len(names) or not all(map(_is_plain, mapping.tables)):
        return None

    def project(columns: Columns, numbers: pa.Array) -> dict[str, pa.Table]:
        try:
            return _project_tables(mapping, columns, numbers)
        except pa.ArrowException as error:  # a value that a kernel does not take
            raise NotPlainError(str(error)) from error

    return project


def _project_tables(mapping: ColumnMap, columns: Columns, numbers: pa.Array) -> dict[str, pa.Table]:
    tables: dict[str, pa.Table] = {}
    own_ids: pa.Array | None = None
    for table in mapping.tables:
        tables[table.name] = _project_table(table, columns, numbers, own_ids)
        if table.name == "papers":
            own_ids = tables["papers"]["source_id"].combine_chunks()
    return tables


def _is_plain(table: TableMapping) -> bool:
    if table.name not in _TABLES or table.separator is not None:
        return False
    if table.each is not None and (table.name not in _LISTED or table.each_is_optional):
        return False
    return all(_is_plain_column(table, column) for column in table.columns)


def _is_plain_column(table: TableMapping, column: ColumnMapping) -> bool:
    if table.name == "identifiers" and column.name == "scheme" and column.paths:
        return False
    if column.is_optional and table.name != "papers" and not STAGED[table.name].field(column.name).nullable:
        return False  # where it is null, a default takes its place
    changed = (column.split, column.pattern, column.join, column.renamed or None)
    if any(change is not None for change in changed) or column.normalise == "title":
        return False
    return all(
        not path.from_record and not any(key.isdecimal() for key in path.keys) for path in column.paths
    )


def _project_table(
    table: TableMapping, columns: Columns, numbers: pa.Array, own_ids: pa.Array | None
) -> pa.Table:
    if table.each is None:
        made = _make_columns(table, lambda path: _find_column(columns, path), len(numbers))
        own: dict[str, Any] = {"row_number": numbers, "source_id": own_ids}
        position: pa.Array = pa.scalar(1, pa.int32())
    else:
        members = _explode(_find_column(columns, table.each), len(numbers))
        made = _make_columns(table, lambda path: _find_member(members.values, path), len(members.values))
        parents = pa.array(members.parents)
        own = {"row_number": numbers.take(parents), "source_id": own_ids and own_ids.take(parents)}
        position = pa.array(members.positions).cast(pa.int32())
    if own["source_id"] is None or "source_id" in made:
        del own["source_id"]
    if NUMBERED.get(table.name) not in (None, *made):
        own[NUMBERED[table.name]] = position
    return _keep_whole(table, {**own, **made})


def _keep_whole(table: TableMapping, columns: dict[str, Any]) -> pa.Table:
    """The table without the rows that lack an obligatory value, unless a record owes them."""
    _fill_defaults(table, columns)
    expected = [field.name for field in list(STAGED[table.name])[1:] if not field.nullable]
    required = {column.name for column in table.columns if column.is_required}
    if table.name in EXPECTED_RECORDS and table.each is None:
        required |= set(expected)
    if any(columns[name].null_count for name in required):
        raise NotPlainError("an owed value is missing")
    built = build_table(table.name, columns)
    for name in expected:
        if built[name].null_count:
            built = built.filter(built[name].is_valid())
    return built


def _fill_defaults(table: TableMapping, columns: dict[str, Any]) -> None:
    rows = len(columns["row_number"])
    for name, default in DEFAULTS.get(table.name, {}).items():
        if name in columns:
            continue
        filled = pa.array([default] * rows, pa.string())
        if name == "label":
            filled = pc.if_else(columns["value"].is_valid(), filled, None)
        columns[name] = filled
    if table.name == "authorships":
        names = pc.binary_join_element_wise("name:", columns["author_name"], "")
        ids = columns.get("author_source_id")
        columns["author_source_id"] = names if ids is None else pc.coalesce(ids, names)
    if table.name == "identifiers":
        scheme = next(column.value for column in table.columns if column.name == "scheme")
        columns["identifier"] = normalise_identifiers(scheme, columns["identifier"])


def _make_columns(table: TableMapping, find: Find, rows: int) -> dict[str, pa.Array]:
    schema = STAGED[table.name]
    return {
        column.name: _make_column(column, schema.field(column.name).type, find, rows)
        for column in table.columns
    }


def _make_column(column: ColumnMapping, type_: pa.DataType, find: Find, rows: int) -> pa.Array:
    found = [array for array in map(find, column.paths) if array is not None]
    made = [_convert(column, array, type_) for array in found]
    if column.value is not None or not made:
        made.append(pa.repeat(pa.scalar(column.value, type_), rows))
    return made[0] if len(made) == 1 else pc.coalesce(*made)


def _convert(column: ColumnMapping, array: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values as the staged column holds them."""
    array.validate(full=True)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), type_)
    if type_ == pa.bool_():
        if array.type != type_ or column.missing:
            raise NotPlainError("a truth value in other words")
        return array
    if column.missing or pa.types.is_string(type_) or _is_text(array.type):
        array = _clean(column, array)
    if pa.types.is_string(type_):
        return _change(column, array)
    if column.prefix or column.normalise:
        raise NotPlainError("a number that is changed as a text")
    return _convert_number(column.name, array, type_)


def _clean(column: ColumnMapping, array: pa.Array) -> pa.Array:
    """Texts, stripped, without those that stand for none."""
    if not (_is_text(array.type) or pa.types.is_integer(array.type)):
        raise NotPlainError(f"a {array.type} is no text")
    cleaned = clean_texts(array.cast(pa.string()))
    if not column.missing:
        return cleaned
    is_missing = pc.is_in(cleaned, value_set=pa.array(sorted(column.missing), pa.string()))
    return pc.if_else(is_missing, None, cleaned)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _change(column: ColumnMapping, texts: pa.Array) -> pa.Array:
    if column.normalise is not None:
        texts = normalise_identifiers(column.normalise, texts)
    return pc.binary_join_element_wise(column.prefix, texts, "") if column.prefix else texts


def _convert_number(name: str, array: pa.Array, type_: pa.DataType) -> pa.Array:
    if _is_text(array.type):
        pattern = _REAL if pa.types.is_floating(type_) else _YEAR if name == "year" else _WHOLE
        if pc.all(pc.match_substring_regex(array, pattern)).as_py() is False:
            raise NotPlainError("a number in other words")
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), None, array)
    if pa.types.is_floating(type_):
        numbers = array.cast(pa.float64())
        if pc.all(pc.is_finite(numbers)).as_py() is False:
            raise NotPlainError("a number is not finite")
        return numbers
    if pa.types.is_temporal(array.type) or pa.types.is_boolean(array.type) or pa.types.is_nested(array.type):
        raise NotPlainError(f"a {array.type} is no whole number")
    whole = array.cast(pa.int64())
    return clean_years(whole) if name == "year" else clean_counts(whole)


def _find_column(columns: Columns, path: Path) -> pa.Array | None:
    if path.text in columns:
        return columns[path.text]
    if not path.keys:
        raise NotPlainError("the record itself is no column")
    return None if path.keys[0] not in columns else _descend(columns[path.keys[0]], path.keys[1:])


def _find_member(values: pa.Array, path: Path) -> pa.Array | None:
    if pa.types.is_struct(values.type) and path.text in {field.name for field in values.type}:
        return pc.struct_field(values, path.text)
    return _descend(values, path.keys)


def _descend(array: pa.Array, keys: tuple[str, ...]) -> pa.Array | None:
    for key in keys:
        if not pa.types.is_struct(array.type):
            raise NotPlainError(f"a {array.type} has no members")
        if key not in {field.name for field in array.type}:
            return None
        array = pc.struct_field(array, key)
    return array


def _explode(lists: pa.Array | None, rows: int) -> Members:
    if lists is None:
        lists = pa.nulls(rows, pa.list_(pa.string()))
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise NotPlainError(f"a {lists.type} is no list")
    members = explode(lists)
    if members.values.null_count:
        raise NotPlainError("a list holds nothing in one of its places")
    return members
