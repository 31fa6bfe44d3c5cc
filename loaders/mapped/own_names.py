"""The mapping of records that carry our own names, written as the SQL that a user would write."""

from typing import Final

import pyarrow as pa

from pinakes.errors import InputError
from pinakes.loaders.mapped.mapping import DEFAULTS, NUMBERED, OWN_ID, Mapping, parse_mapping
from pinakes.loaders.mapped.plan import list_required
from pinakes.loaders.staging import STAGED

_NESTED: Final = """-- name: {table}
SELECT {columns} FROM (
    SELECT
        unnest(CAST("{table}" AS JSON[])) AS item,
        generate_subscripts(CAST("{table}" AS JSON[]), 1) AS number,
        source_id
    FROM input
)"""


def map_keys(table: str) -> Mapping:
    """The mapping of JSON Lines: keys are columns of the table, lists of objects are rows of other tables."""
    nested = [name for name in STAGED if name != "papers"] if table == "papers" else ["mentioned_papers"]
    columns = ", ".join(_fill(table, name, name) for name in STAGED[table].names[1:])
    blocks = [f"-- name: {table}\nSELECT {columns} FROM input"]
    blocks += [_write_nested(name, OWN_ID[table] == "source_id") for name in nested if name != table]
    return parse_mapping("of our names", "\n".join(blocks))


def _write_nested(table: str, has_source_id: bool) -> str:
    columns = []
    for name in STAGED[table].names[1:]:
        value = f"item->>'{name}'"
        if name == OWN_ID[table] and has_source_id and table != "mentioned_papers":
            value = f"coalesce({value}, source_id)"
        elif name == NUMBERED.get(table):
            value = f"coalesce({value}, CAST(number AS VARCHAR))"
        columns.append(_fill(table, name, value))
    return _NESTED.format(table=table, columns=", ".join(columns))


def _fill(table: str, name: str, value: str) -> str:
    """The column, with its default where the value is null."""
    default = DEFAULTS.get(table, {}).get(name)
    if name == "label":
        value = f"coalesce({value}, CASE WHEN {value.replace('label', 'value')} IS NOT NULL THEN 'value' END)"
    elif default is not None:
        value = f"coalesce({value}, '{default}')"
    return f'{value} AS "{name}"'


def map_columns(table: str, available: pa.Schema, file: str) -> Mapping:
    """The mapping of a table whose columns are called as ours; lists of structs are rows of other tables.

    Raises:
        InputError: it has none of the columns that the table requires.
    """
    own = [name for name in STAGED[table].names[1:] if name in available.names]
    required = list_required(table)
    if available.names and not set(required) & set(own):
        raise InputError(
            f"{file} has no column {required[0]}; its columns are {', '.join(available.names)}. "
            "Say with --option mapping=FILE which of them feeds what."
        )
    columns = ", ".join(f'"{name}"' for name in own) or "NULL AS source_id"
    blocks = [f"-- name: {table}\nSELECT {columns} FROM input"]
    for name in STAGED if table == "papers" else ["mentioned_papers"]:
        if name != table and name in available.names and _holds_structs(available.field(name).type):
            members = {member.name for member in available.field(name).type.value_type}
            kept = ", ".join(f'item."{column}"' for column in STAGED[name].names[1:] if column in members)
            select = f'SELECT {kept} FROM (SELECT unnest("{name}") AS item FROM input)'  # noqa: S608 - our names
            blocks.append(f"-- name: {name}\n{select}")
    return parse_mapping("of our names", "\n".join(blocks))


def _holds_structs(type_: pa.DataType) -> bool:
    is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_)
    return bool(is_list and pa.types.is_struct(type_.value_type))
