"""SQL that makes of any column what a staged column holds, and says which values it cannot take."""

from typing import Final

import pyarrow as pa

_SMALL: Final = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_NUMBERS: Final = _SMALL | {"UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"}
_TEXTS: Final = frozenset({"VARCHAR", "JSON", "ENUM", '"NULL"', "NULL", "VARIANT"})
_AS_TEXT: Final = _NUMBERS | _TEXTS | {"DATE", "TIME", "TIMESTAMP", "UUID", "BLOB"}

_WHOLE: Final = r"^\s*([+-]?[0-9]{1,18})(?:\.0*)?\s*$"
_YEAR: Final = r"^\s*([0-9]{1,4})(?:\.0*)?\s*$"
_REAL: Final = r"^\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*$"
_LIMIT: Final = 1 << 31

EXPECTED: Final = {pa.int32(): "a whole number", pa.float64(): "a number", pa.bool_(): "true or false"}
"""Type of a staged column that is no text -> what messages call its values."""


class WrongTypeError(Exception):
    """A column has a type that its staged column never takes."""


def convert_column(name: str, target: pa.DataType, type_: str) -> list[str]:
    """The expressions of a staged column over `q`: its value and, where it is no text, a value that is wrong.

    `target` is the type of the staged column, `type_` DuckDB's of the one of the same name in `q`; a
    `WrongTypeError` says that nothing of that type is a value of the column.
    """
    column = f'q."{name}"'
    kind = "ENUM" if type_.startswith("ENUM") else type_.split("(")[0].split(" WITH ")[0].split("_")[0]
    if type_.endswith("]"):
        kind = "LIST"
    if pa.types.is_string(target):
        return [f'{_write_text(name, column, kind, type_)} AS "{name}"']
    if pa.types.is_boolean(target):
        if kind not in _NUMBERS | _TEXTS | {"BOOLEAN"}:
            raise WrongTypeError(f"{name}: expected true or false, found {type_}")
        text = f"CAST({column} AS VARCHAR)" if kind == "BOOLEAN" else _write_text(name, column, kind, type_)
        word = f"lower(trim({text}))"
        truth = f"CASE WHEN {word} IN ('true', '1', 'yes') THEN true"
        truth += f" WHEN {word} IN ('false', '0', 'no') THEN false END"
        return _check(name, text, truth, f"({truth}) IS NOT NULL OR NULL")
    if kind not in _NUMBERS | _TEXTS:
        hint = f"; year({name}) is the year of a date" if kind in ("DATE", "TIMESTAMP") else ""
        raise WrongTypeError(f"{name}: expected {EXPECTED[target]}, found {type_}{hint}")
    text = _write_text(name, column, kind, type_)
    if pa.types.is_floating(target):
        number = f"CAST({column} AS DOUBLE)" if kind in _NUMBERS else _extract(text, _REAL, "DOUBLE")
        return _check(name, text, number, f"isfinite({number})")
    number = column if kind in _SMALL else _extract(text, _YEAR if name == "year" else _WHOLE, "BIGINT")
    value = f"CAST({number} AS INTEGER)"
    if name == "year":
        return _check(name, text, f"nullif({value}, 0)", f"{number} BETWEEN 0 AND 9999")
    return _check(name, text, value, f"{number} BETWEEN {-_LIMIT} AND {_LIMIT - 1}")


def _write_text(name: str, column: str, kind: str, type_: str) -> str:
    if kind not in _AS_TEXT:
        hints = {
            "LIST": f"; array_to_string({name}, ' ') makes one text of it, unnest({name}) a row of each",
            "STRUCT": f"; name one of its members, as in {name}.key",
            "BOOLEAN": f"; write CAST({name} AS VARCHAR) where that is meant",
        }
        raise WrongTypeError(f"{name}: expected a text, found {type_:.80}{hints.get(kind, '')}")
    if kind == "VARCHAR":
        return column
    if kind == "JSON":
        return f"({column} ->> '$')"
    if kind == "BLOB":
        return f"decode({column})"
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN NOT isnan({column}) THEN CAST({column} AS VARCHAR) END"
    if kind == "TIMESTAMP":
        return f"replace(CAST({column} AS VARCHAR), ' ', 'T')"
    return f"CAST({column} AS VARCHAR)"


def _extract(text: str, pattern: str, type_: str) -> str:
    return f"TRY_CAST(nullif(regexp_extract({text}, '{pattern}', 1), '') AS {type_})"


def _check(name: str, text: str, value: str, is_right: str) -> list[str]:
    is_blank = rf"({text} IS NULL OR regexp_full_match({text}, '\s*'))"
    return [
        f'CASE WHEN {is_right} THEN {value} END AS "{name}"',
        f'CASE WHEN NOT coalesce({is_right}, {is_blank}) THEN {text} END AS "{name}?"',
    ]
