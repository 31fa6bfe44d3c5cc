"""A mapping out of its TOML file, checked key by key, so that a mistake is named and not guessed around.

Leaves out: whether a file has the columns that the mapping names (`tabular`).
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable
from collections.abc import Mapping as Mapped
from dataclasses import fields
from pathlib import Path as FilePath
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import PAPER_CHILDREN, CorpusDescription
from pinakes.loaders.mapped.mapping import DEFAULTS, NUMBERED, OWN_ID, ColumnMapping, Mapping, TableMapping
from pinakes.loaders.mapped.values import CONVERTERS, convert_text, parse_path
from pinakes.loaders.staging import STAGED, RecordError

_COLUMN_KEYS: Final[dict[str, tuple[type, ...]]] = {
    "from": (str, list),
    "value": (str, int, float, bool),
    "split": (str,),
    "part": (int,),
    "pattern": (str,),
    "map": (dict,),
    "missing": (list,),
    "join": (str,),
    "prefix": (str,),
    "normalise": (str,),
    "required": (bool,),
    "optional": (bool,),
}
"""Key of a column's table -> the types that it may have."""

_TABLE_KEYS: Final[dict[str, tuple[type, ...]]] = {"each": (str,), "separator": (str,), "optional": (bool,)}
"""A table's own key -> its types; `optional` is whether a file may lack what `each` names."""

_CSV_KEYS: Final[dict[str, tuple[type, ...]]] = {
    "delimiter": (str,),
    "encoding": (str,),
    "quoted": (bool,),
    "columns": (list,),
}
_CORPUS_KEYS: Final = tuple(member.name for member in fields(CorpusDescription))
_SCHEMES: Final = (
    "title", "doi", "s2", "corpus", "arxiv", "acl", "mag", "pubmed", "pmc", "openalex", "openreview", "dblp",
)  # fmt: skip
_BY_DEFAULT: Final = {"authorships": {"author_source_id"}, "labels": {"label"}}


def read_mapping(path: FilePath) -> Mapping:
    """The mapping that the file holds.

    Raises:
        InputError: there is no such file, it is not TOML, or one of its keys is wrong; the message names the
            key, the known ones and the closest of them.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"the mapping {path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, or a number with too many digits
        raise InputError(f"the mapping {path} is not TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"the mapping {path} is nested too deeply.") from error
    return _Reader(path.name).read(document)


class _Reader:
    """Reads one mapping; every complaint begins with the file and the key."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._missing: frozenset[str] = frozenset()

    def read(self, document: dict[str, Any]) -> Mapping:
        self._check_keys("", document, (*STAGED, "corpus", "csv", "missing"))
        self._missing = self._take_texts("missing", document.get("missing", []))
        tables = [
            self._read_table(name, place, given)
            for name in STAGED
            if name in document
            for place, given in self._list_tables(name, document[name])
        ]
        if not tables:
            raise self._complain(
                "it maps nothing", f"expected a table such as [papers] of {', '.join(STAGED)}"
            )
        # Papers first: what hangs on them takes their ids.
        tables.sort(key=lambda table: table.name not in ("papers", "mentioned_papers"))
        self._check_owners(tables)
        return Mapping(tuple(tables), self._read_corpus(document), self._read_csv(document))

    def _list_tables(self, name: str, given: Any) -> list[tuple[str, dict[str, Any]]]:
        listed = given if isinstance(given, list) else [given]
        if not listed or not all(isinstance(table, dict) for table in listed):
            raise self._complain(name, f"expected a table [{name}] or several [[{name}]]")
        places = [name] if len(listed) == 1 else [f"{name}[{number}]" for number in range(len(listed))]
        return list(zip(places, listed, strict=True))

    def _read_table(self, name: str, place: str, given: dict[str, Any]) -> TableMapping:
        known = STAGED[name].names[1:]
        self._check_keys(place, given, (*known, *_TABLE_KEYS))
        each, separator = given.get("each"), given.get("separator")
        for key, types in _TABLE_KEYS.items():
            if key in given:
                self._check_type(f"{place}.{key}", given[key], types)
        if each == "":
            raise self._complain(f"{place}.each", "expected a path")
        if separator is not None and (each is None or separator == ""):
            raise self._complain(
                f"{place}.separator", "expected a text, and each beside it, whose value it parts"
            )
        columns = tuple(
            self._read_column(f"{place}.{column}", column, given[column])
            for column in known
            if column in given
        )
        path = None if each is None else parse_path(each)
        table = TableMapping(name, columns, path, separator, given.get("optional", False))
        self._check_expected(place, table)
        return table

    def _check_expected(self, place: str, table: TableMapping) -> None:
        filled = {OWN_ID[table.name], NUMBERED.get(table.name), *DEFAULTS.get(table.name, ())}
        filled |= _BY_DEFAULT.get(table.name, set())
        if table.name in ("papers", "mentioned_papers"):
            filled = set()
        if table.name == "labels" and "value" not in table.names():
            filled.discard("label")
        expected = [column.name for column in list(STAGED[table.name])[1:] if not column.nullable]
        absent = [name for name in expected if name not in filled | table.names()]
        if absent:
            raise self._complain(place, f"the column {', '.join(absent)} is owed; say where it comes from")

    def _check_owners(self, tables: list[TableMapping]) -> None:
        if any(table.name == "papers" for table in tables):
            return
        has_own = any(table.name == "mentioned_papers" for table in tables)
        for table in tables:
            own = OWN_ID[table.name]
            if table.name in PAPER_CHILDREN and table.name != "citations":
                raise self._complain(
                    table.name, "its rows hang on the record's paper; map [papers] beside it"
                )
            if own in STAGED[table.name].names and own not in table.names() and not has_own:
                raise self._complain(table.name, f"without [papers], {own} is owed; say where it comes from")

    def _read_column(self, place: str, name: str, given: Any) -> ColumnMapping:
        if isinstance(given, str) and given:
            return ColumnMapping(name, (parse_path(given),), missing=self._missing)
        if isinstance(given, bool | int | float):
            return ColumnMapping(name, value=self._convert(place, name, given))
        if not isinstance(given, dict):
            raise self._complain(place, 'expected a path, a number or a table such as { from = "path" }')
        self._check_keys(place, given, tuple(_COLUMN_KEYS))
        for key, value in given.items():
            self._check_type(f"{place}.{key}", value, _COLUMN_KEYS[key])
        if "from" not in given and "value" not in given:
            raise self._complain(place, "expected from, value or both")
        if ("part" in given) and "split" not in given:
            raise self._complain(f"{place}.part", "expected split beside it")
        return self._build_column(place, name, given)

    def _build_column(self, place: str, name: str, given: dict[str, Any]) -> ColumnMapping:
        paths = given.get("from", [])
        normalise = given.get("normalise")
        if normalise is not None and normalise not in _SCHEMES:
            raise self._complain_unknown(f"{place}.normalise", normalise, _SCHEMES)
        if given.get("split") == "":
            raise self._complain(f"{place}.split", "expected a text that is not empty")
        return ColumnMapping(
            name,
            tuple(parse_path(path) for path in self._take_list(f"{place}.from", paths)),
            value=self._convert(f"{place}.value", name, given.get("value")),
            split=given.get("split"),
            part=given.get("part", 0),
            pattern=self._compile(f"{place}.pattern", given.get("pattern")),
            renamed=self._take_renamed(f"{place}.map", given.get("map", {})),
            missing=self._missing | self._take_texts(f"{place}.missing", given.get("missing", [])),
            join=given.get("join"),
            prefix=given.get("prefix", ""),
            normalise=normalise,
            is_required=given.get("required", False),
            is_optional=given.get("optional", False),
        )

    def _convert(self, place: str, name: str, value: Any) -> Any:
        """The constant as its column holds it; a column of that name has one type in all staged tables."""
        type_ = next(schema.field(name).type for schema in STAGED.values() if name in schema.names)
        convert: Callable[[Any, str], Any] = CONVERTERS.get(type_, convert_text)
        try:
            return convert(value, name)
        except RecordError as error:
            raise self._complain(place, str(error)) from error

    def _compile(self, place: str, pattern: str | None) -> re.Pattern[str] | None:
        try:
            return None if pattern is None else re.compile(pattern)
        except re.error as error:
            raise self._complain(place, f"it is no regular expression: {error}") from error

    def _take_renamed(self, place: str, given: dict[str, Any]) -> dict[str, str]:
        if not all(isinstance(value, str | int | float) for value in given.values()):
            raise self._complain(place, "expected texts or numbers as values")
        return {key: str(value) for key, value in given.items()}

    def _take_list(self, place: str, given: Any) -> list[str]:
        listed = [given] if isinstance(given, str) else given
        if not all(isinstance(path, str) and path for path in listed):
            raise self._complain(place, "expected a path or a list of paths")
        return listed

    def _take_texts(self, place: str, given: Any) -> frozenset[str]:
        if not isinstance(given, list) or not all(isinstance(value, str | int | float) for value in given):
            raise self._complain(place, "expected a list of texts or numbers")
        return frozenset(str(value) for value in given)

    def _read_corpus(self, document: dict[str, Any]) -> CorpusDescription | None:
        if "corpus" not in document:
            return None
        given = document["corpus"]
        self._check_type("corpus", given, (dict,))
        self._check_keys("corpus", given, _CORPUS_KEYS)
        for key, value in given.items():
            self._check_type(f"corpus.{key}", value, (str,))
        return CorpusDescription(**{"name": "", **given})

    def _read_csv(self, document: dict[str, Any]) -> dict[str, Any]:
        given = document.get("csv", {})
        self._check_type("csv", given, (dict,))
        self._check_keys("csv", given, tuple(_CSV_KEYS))
        for key, value in given.items():
            self._check_type(f"csv.{key}", value, _CSV_KEYS[key])
        if len(given.get("delimiter", ",")) != 1:
            raise self._complain("csv.delimiter", "expected one character")
        if not _is_line_based(given.get("encoding", "utf-8")):
            raise self._complain(
                "csv.encoding", "expected an encoding that extends ASCII: utf-8, latin-1, cp1252, …"
            )
        if "columns" in given:
            self._take_list("csv.columns", given["columns"])
        return dict(given)

    def _check_keys(self, place: str, given: Mapped[str, Any], known: Iterable[str]) -> None:
        for key in given:
            if key not in known:
                raise self._complain_unknown(place, key, known)

    def _check_type(self, place: str, value: Any, types: tuple[type, ...]) -> None:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            expected = " or ".join(type_.__name__ for type_ in types)
            raise self._complain(place, f"expected {expected}, found {value!r:.80}")

    def _complain_unknown(self, place: str, key: str, known: Iterable[str]) -> InputError:
        listed = list(known)
        where = f"{place} has no key {key!r}" if place else f"there is no key {key!r}"
        return InputError(
            f"the mapping {self._name}: {where}{suggest(key, listed)}; known: {', '.join(listed)}."
        )

    def _complain(self, place: str, message: str) -> InputError:
        return InputError(f"the mapping {self._name}: {place}: {message}.")


def suggest(name: str, known: Iterable[str]) -> str:
    """The closest of the known names as the end of a sentence; empty where none is close.

    >>> suggest("titel", ["title", "year"])
    " (did you mean 'title'?)"
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _is_line_based(encoding: str) -> bool:
    """Whether lines and delimiters can be found before decoding."""
    try:
        return '\n,"\t;|'.encode(encoding) == b'\n,"\t;|'
    except LookupError:
        return False
