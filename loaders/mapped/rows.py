"""A record, by a mapping, into staged rows.

Leaves out: reading records (`tabular`, and `read_json_lines`).
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from pinakes.loaders.mapped.mapping import (
    DEFAULTS,
    EXPECTED_RECORDS,
    NUMBERED,
    OWN_ID,
    ColumnMapping,
    Mapping,
    TableMapping,
)
from pinakes.loaders.mapped.values import (
    CONVERTERS,
    convert_text,
    find_value,
    list_items,
)
from pinakes.loaders.reading.rows import normalise_identifier, normalise_title
from pinakes.loaders.staging import STAGED, RecordError, Rows

Row = dict[str, Any]

_IDENTIFIED: Final = frozenset({"identifiers", "reference_identifiers"})


def make_parser(mapping: Mapping) -> Callable[[dict[str, Any]], Rows]:
    """What makes staged rows of a record.

    It raises `RecordError` where a value is of the wrong type, or an owed one is missing.
    """
    tables = [_Table(table) for table in mapping.tables]

    def parse(record: dict[str, Any]) -> Rows:
        rows: dict[str, list[Row]] = {}
        own_id: str | None = None
        for table in tables:
            made = list(table.make_rows(record, own_id))
            if table.name in ("papers", "mentioned_papers") and made and own_id is None:
                own_id = made[0]["source_id"]
            rows.setdefault(table.name, []).extend(made)
        return rows

    return parse


class _Table:
    """A table's mapping, with all that does not change from record to record looked up once."""

    def __init__(self, mapping: TableMapping) -> None:
        self.name = mapping.name
        self._mapping = mapping
        schema = STAGED[mapping.name]
        self._takers = [
            (column, CONVERTERS.get(schema.field(column.name).type)) for column in mapping.columns
        ]
        self._expected = [column.name for column in list(schema)[1:] if not column.nullable]
        self._number = NUMBERED.get(mapping.name)
        is_expected = mapping.name in EXPECTED_RECORDS and mapping.each is None
        required = {column.name for column in mapping.columns if column.is_required}
        self._rejects = required | (set(self._expected) if is_expected else set())
        self._fed = {column.name for column in mapping.columns if not column.is_optional}

    def make_rows(self, record: Any, own_id: str | None) -> Iterator[Row]:
        """The rows of one record; one that lacks an obligatory value is left out, unless it is required."""
        mapping = self._mapping
        if mapping.each is None:
            items = [record]
        else:
            items = list_items(find_value(mapping.each, record, record), mapping.separator)
        for number, item in enumerate(items, start=1):
            row = {column.name: _take(column, convert, item, record) for column, convert in self._takers}
            self._fill(row, number, own_id)
            missing = next((name for name in self._rejects if row.get(name) is None), None)
            if missing is not None:
                raise RecordError("missing_field", f"{self.name}.{missing}: the record holds nothing for it")
            if all(row.get(name) is not None for name in self._expected):
                yield row

    def _fill(self, row: Row, number: int, own_id: str | None) -> None:
        for name in self._expected:
            if row.get(name) is not None:
                continue
            if name == OWN_ID[self.name] and name not in self._fed:
                row[name] = own_id
            elif name == self._number and name not in self._fed:
                row[name] = str(number) if name == "review_id" else number
            elif name == "author_source_id" and row.get("author_name") is not None:
                row[name] = f"name:{row['author_name']}"
            else:
                row[name] = self._find_default(row, name)
        if self.name in _IDENTIFIED and row.get("scheme") is not None:
            row["identifier"] = normalise_identifier(row["scheme"], row.get("identifier"))

    def _find_default(self, row: Row, name: str) -> Any:
        if name in self._fed or (name == "label" and row.get("value") is None):
            return None
        default = DEFAULTS.get(self.name, {}).get(name)
        return int(default) if name == "section_number" and default is not None else default


def _take(column: ColumnMapping, convert: Callable[[Any, str], Any] | None, item: Any, record: Any) -> Any:
    value = None
    for path in column.paths:
        value = find_value(path, item, record)
        if column.missing and isinstance(value, str | int | float) and str(value).strip() in column.missing:
            value = None
        if not _is_nothing(value):
            break
    else:
        return column.value
    if column.is_changed:
        value = _change(column, value)
    if convert is not None:
        return convert(value, column.name)
    return convert_text(value, column.name, column.join)


def _is_nothing(value: Any) -> bool:
    """Whether a value says nothing, so that the next path is asked: null, a blank text, NaN."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def _change(column: ColumnMapping, value: Any) -> str | None:
    """The text after all that the mapping does to it, in the order in which its keys are documented."""
    text = convert_text(value, column.name, column.join)
    if text is None:
        return None
    if column.split is not None:
        parts = text.split(column.split)
        if not -len(parts) <= column.part < len(parts):
            return None
        text = parts[column.part].strip()
    if column.pattern is not None:
        found = column.pattern.search(text)
        if found is None:
            raise RecordError("invalid_value", f"{column.name}: {text!r:.80} does not match the pattern")
        text = found[found.re.groups and 1] or ""
    text = column.renamed.get(text, text)
    if column.normalise is not None:
        spelled = (
            normalise_title(text)
            if column.normalise == "title"
            else normalise_identifier(column.normalise, text)
        )
        text = spelled or ""
    return f"{column.prefix}{text}" if text else None
