"""CSV, JSON Lines and Parquet of anybody's: a mapping file says which column or path feeds what.

`--option mapping=FILE` names the mapping (`mapping_file` reads it, the manual describes it). Without one,
columns and keys that carry our own names are taken (`source_id`, `title`, `abstract`, `year`, `venue`,
`citation_count`; of another staged table with `--option table=judgments`), and lists of objects under the
name of another staged table are its rows.

A source is a file, a folder with all that is below it, or a glob; files are read in the order of their names.
Folders such as `year=2019/` are columns. A file's digest stands for its content and the mapping, so that the
same file under a changed mapping is loaded anew.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders.base import WHOLE_PAPER, CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.mapped.batches import read_batches
from pinakes.loaders.mapped.json_schema import infer_schema
from pinakes.loaders.mapped.mapping import Mapping, map_names
from pinakes.loaders.mapped.mapping_file import read_mapping
from pinakes.loaders.mapped.rows import make_parser
from pinakes.loaders.mapped.tabular import (
    Parse,
    iterate_batches,
    read_batch,
    read_csv,
    read_csv_columns,
    read_parquet,
    read_parquet_columns,
    read_partitions,
    with_partitions,
)
from pinakes.loaders.mapped.vectors import make_project
from pinakes.loaders.reading.columnar import Layout, read_columnar
from pinakes.loaders.reading.compression import COMPRESSIONS
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.staging import STAGED, Accepted, Chunk, Rejected

_SUFFIXES: Final = {
    "csv": (".csv", ".tsv", ".tab", ".txt"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
}
"""Format -> how the names of its files end, before those of compression."""

_OPTIONS: Final = {
    "mapping": "the TOML file that says which column feeds what",
    "table": "without a mapping: the staged table whose columns the records have (papers)",
}
_ROLE: Final = re.compile(r"papers\((.*)\)")


def _describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """What the mapping says of the corpus, and the name of the file or folder where it says none."""
    mapping = _take_mapping(options)
    given = CorpusDescription("") if mapping is None or mapping.corpus is None else mapping.corpus
    name = given.name or ("" if source is None else _name_source(source))
    return CorpusDescription(name, given.title or name, given.version, given.licence, given.source)


def _name_source(source: Path) -> str:
    named = source.resolve()
    while set("*?[") & set(named.name):  # a glob: the folder that it starts from
        named = named.parent
    return named.name.split(".")[0] or named.name


def _take_mapping(options: Options) -> Mapping | None:
    return read_mapping(Path(options["mapping"])) if "mapping" in options else None


def _find_files(format_: str, source: Path | None, options: Options) -> list[InputFile]:
    """The files below the source, in the order of their names."""
    found = [InputFile(path, name, "") for path, name in _list_paths(format_, source)]
    return [_describe_file(format_, file, options) for file in found]


def _list_paths(format_: str, source: Path | None) -> list[tuple[Path, str]]:
    suffixes = _SUFFIXES[format_]
    if source is None:
        raise InputError(f"the loader {format_} needs a source: a file, a folder or a glob.")
    if source.is_file():
        return [(source, source.name)]
    root, paths = _expand(source)
    wanted = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in paths
        if path.is_file() and not _is_hidden(path.relative_to(root))
    )
    if source.is_dir():
        packed = ("",) if format_ == "parquet" else ("", *COMPRESSIONS)
        ends = tuple(f"{end}{pack}" for end in suffixes for pack in packed)
        wanted = [(name, path) for name, path in wanted if name.endswith(ends)]
    if not wanted:
        raise InputError(
            f"{source} gives no file; expected a file, a folder or a glob of {', '.join(suffixes)}."
        )
    return [(path, name) for name, path in wanted]


def _expand(source: Path) -> tuple[Path, list[Path]]:
    """The folder that names are relative to, and what is below it or matches the glob."""
    if source.is_dir():
        return source, list(source.rglob("*"))
    parts = source.parts
    plain = next((index for index, part in enumerate(parts) if set("*?[") & set(part)), None)
    if plain is None:
        raise InputError(f"there is no file or folder {source}.")
    root = Path(*parts[:plain])
    return root, list(root.glob("/".join(parts[plain:])))


def _is_hidden(path: Path) -> bool:
    # As Spark and Hive write them: `_SUCCESS`, `._part.crc`.
    return any(part.startswith((".", "_")) for part in path.parts)


def _describe_file(format_: str, file: InputFile, options: Options) -> InputFile:
    mapping = _choose_mapping(format_, file, options)
    return InputFile(file.path, file.name, _name_role(mapping), digest=_digest(file, options))


def _name_role(mapping: Mapping) -> str:
    """What the files hold, and of papers which columns and children: `papers(title,year)`, `judgments`."""
    names = [table.name for table in mapping.tables]
    if "papers" not in names:
        return next((name for name in names if name != "mentioned_papers"), names[0])
    owned = mapping.list_owned()
    return "papers" if owned == WHOLE_PAPER else f"papers({','.join(sorted(owned))})"


def _digest(file: InputFile, options: Options) -> str | None:
    """The digest of content and mapping; None where there is none, and the content's own will do."""
    settings = [f"table={options['table']}"] if "table" in options else []
    if "mapping" in options:
        settings.append(f"mapping={digest_file(Path(options['mapping']))}")
    settings.extend(f"{key}={value}" for key, value in read_partitions(file.name).items())
    if not settings or file.path is None:
        return None
    return hashlib.sha256("\n".join([digest_file(file.path), *settings]).encode()).hexdigest()


def _choose_mapping(format_: str, file: InputFile, options: Options) -> Mapping:
    """The mapping of the options, or that of the names that the file has."""
    mapping = _take_mapping(options)
    if mapping is not None:
        if mapping.csv and format_ != "csv":
            raise InputError(f"the mapping {options['mapping']}: [csv] is for the loader csv, not {format_}.")
        return mapping
    table = options.get("table", "papers")
    if table not in STAGED:
        raise UnknownNameError("table", table, list(STAGED))
    if format_ == "jsonl":
        return map_names(table, None)
    columns = read_csv_columns(file, {}) if format_ == "csv" else read_parquet_columns(file)
    named = map_names(table, {*columns, *read_partitions(file.name)})
    expected = [field.name for field in list(STAGED[table])[1:] if not field.nullable]
    if columns and not set(expected) & named.tables[0].names():
        raise InputError(
            f"{file.name} has no column {expected[0]}; its columns are {', '.join(columns)}. "
            "Say with --option mapping=FILE which of them feeds what."
        )
    return named


def _read_chunks(format_: str, file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file."""
    mapping = _choose_mapping(format_, file, options)
    parse, project = make_parser(mapping), make_project(mapping)
    if project is not None and format_ == "parquet":
        return read_batches(
            iterate_batches(file, mapping), project, partial(read_batch, parse=parse), first_row
        )
    if project is not None and format_ == "jsonl" and not read_partitions(file.name):
        schema = infer_schema(file, mapping)
        if schema is not None:
            return read_columnar(file, first_row, Layout((schema,), project, parse))
    return gather_chunks(_READERS[format_](file, mapping, parse), first_row=first_row)


def _read_lines(file: InputFile, _mapping: Mapping, parse: Parse) -> Iterator[Accepted | Rejected]:
    return read_json_lines(file, with_partitions(file, parse))


_READERS: Final[dict[str, Callable[[InputFile, Mapping, Parse], Iterator[Accepted | Rejected]]]] = {
    "csv": read_csv,
    "jsonl": _read_lines,
    "parquet": read_parquet,
}


def _describe(role: str) -> frozenset[str]:
    named = _ROLE.fullmatch(role)
    if named is None:
        return WHOLE_PAPER if role == "papers" else frozenset()
    return frozenset(filter(None, named[1].split(",")))


def _make_loader(format_: str, summary: str) -> Loader:
    return Loader(
        name=format_,
        summary=summary,
        describe_corpus=_describe_corpus,
        find_files=partial(_find_files, format_),
        read_chunks=partial(_read_chunks, format_),
        options=_OPTIONS,
        describes=_describe,
    )


CSV: Final = _make_loader("csv", "any CSV or TSV, with a mapping of its columns")
JSONL: Final = _make_loader("jsonl", "any JSON Lines, with a mapping of their keys")
PARQUET: Final = _make_loader("parquet", "any Parquet files, with a mapping of their columns")
