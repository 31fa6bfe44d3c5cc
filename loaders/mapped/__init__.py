"""CSV, JSON Lines and Parquet of anybody's: a mapping, a file of SELECTs, says which rows they make.

`--option mapping=FILE` names the mapping (`mapping` reads it, the manual describes it). Without one,
columns and keys that carry our own names are taken (`source_id`, `title`, `abstract`, `year`, `venue`,
`citation_count`; of another staged table with `--option table=judgments`), and lists of objects under the
name of another staged table are its rows.

A source is a file, a folder with all that is below it, or a glob; files are read in the order of their names.
Folders such as `year=2019/` are columns. A file's digest stands for its content and the mapping, so that the
same file under a changed mapping is loaded again.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders.base import (
    PAPER_CHILDREN,
    PAPER_COLUMNS,
    WHOLE_PAPER,
    CorpusDescription,
    InputFile,
    Loader,
    Options,
)
from pinakes.loaders.mapped.mapping import Mapping, map_columns, map_keys, read_mapping
from pinakes.loaders.mapped.parquet import open_parquet, read_parquet
from pinakes.loaders.mapped.plan import Plan
from pinakes.loaders.mapped.records import (
    list_constants,
    read_csv,
    read_csv_columns,
    read_lines,
    read_partitions,
)
from pinakes.loaders.mapped.staged import Seen, stage_batch
from pinakes.loaders.reading.archives import digest_member, is_archive, list_members
from pinakes.loaders.reading.compression import COMPRESSIONS
from pinakes.loaders.reading.finding import take_of_format
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.staging import STAGED, Chunk

_SUFFIXES: Final = {
    "csv": (".csv", ".tsv", ".tab", ".txt"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
}
"""Format -> how the names of its files end, before those of compression."""

_OPTIONS: Final = {
    "mapping": "the SQL file whose SELECTs make rows of the records",
    "table": "without a mapping: the staged table whose columns the records have (papers)",
}
_ROLE: Final = re.compile(r"papers\((.*)\)")


def _describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """What the mapping says of the corpus; by default its name is that of the file or folder.

    Rows of another table than papers are of a corpus that is there.
    """
    mapping = read_mapping(Path(options["mapping"])) if "mapping" in options else None
    given = CorpusDescription("") if mapping is None or mapping.corpus is None else mapping.corpus
    name = given.name
    if not name and source is not None and options.get("table", "papers") == "papers":
        name = _name_source(source)
    return CorpusDescription(name, given.title, given.version, given.licence, given.source)


def _name_source(source: Path) -> str:
    named = source.resolve()
    while set("*?[") & set(named.name):  # a glob: the folder that it starts from
        named = named.parent
    return named.name.split(".")[0] or named.name


def _find_files(format_: str, source: Path | None, options: Options) -> list[InputFile]:
    """The files below the source, in the order of their names."""
    roles: dict[str, str] = {}  # of files with the same columns
    beside = (Path(options["mapping"]),) if "mapping" in options else ()

    def identify(file: InputFile) -> InputFile:
        mapping, available = _choose_mapping(format_, file, options)
        columns = "" if available is None else available.to_string()
        if columns not in roles:
            with closing(Plan(mapping, available, file.name)) as plan:
                roles[columns] = _name_role(plan)
        return replace(file, role=roles[columns], digest=_digest(file, options), beside=beside)

    return take_of_format(_list_files(format_, source), identify)


def _list_files(format_: str, source: Path | None) -> list[InputFile]:
    if source is None:
        raise InputError(f"the loader {format_} needs a source: a file, a folder, an archive or a glob.")
    single = source.is_file()
    root, paths = (source.parent, [source]) if single else _expand(source)
    named = sorted((path.relative_to(root).as_posix(), path) for path in paths if path.is_file())
    found: list[InputFile] = []
    for name, path in named:
        if is_archive(path) and (single or _is_shown(name)):
            found += _list_entries(format_, path, name)
        elif single or (_is_shown(name) and (not source.is_dir() or _has_suffix(format_, name))):
            found.append(InputFile(path, name, ""))
    if not found:
        raise InputError(
            f"{source} gives no file; expected a file, a folder, an archive or a glob of "
            f"{', '.join(_SUFFIXES[format_])}."
        )
    return found


def _list_entries(format_: str, path: Path, name: str) -> Iterator[InputFile]:
    """The files of the format in an archive, by name."""
    entries = sorted(entry for entry in list_members(path) if _is_shown(entry))
    wanted = [entry for entry in entries if _has_suffix(format_, entry)]
    digest = digest_file(path) if wanted else ""
    for entry in wanted:
        yield InputFile(path, f"{name}/{entry}", "", entry, digest=digest_member(digest, entry))


def _has_suffix(format_: str, name: str) -> bool:
    packed = ("",) if format_ == "parquet" else ("", *COMPRESSIONS)
    return name.endswith(tuple(f"{end}{pack}" for end in _SUFFIXES[format_] for pack in packed))


def _is_shown(name: str) -> bool:
    # Spark and Hive write `_SUCCESS` and `._part.crc` beside their files.
    return not re.search(r"(?:^|/)[._]", name)


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


def _name_role(plan: Plan) -> str:
    """What the files hold, and of papers which columns and children: `papers(title,year)`, `judgments`."""
    names = [select.table for select in plan.selects]
    if "papers" not in names:
        return next((name for name in names if name != "mentioned_papers"), names[0])
    columns = {name for select in plan.selects if select.table == "papers" for name in select.names}
    said = {*PAPER_COLUMNS} & columns | {*PAPER_CHILDREN} & {*names}
    return "papers" if said == WHOLE_PAPER else f"papers({','.join(sorted(said))})"


def _digest(file: InputFile, options: Options) -> str | None:
    """The digest of content and mapping; the file's own, which may not be known yet, where there is none."""
    settings = [f"table={options['table']}"] if "table" in options else []
    if "mapping" in options:
        settings.append(f"mapping={digest_file(Path(options['mapping']))}")
    settings.extend(f"{key}={value}" for key, value in read_partitions(file.name).items())
    if not settings or file.path is None:
        return file.digest
    own = file.digest or digest_file(file.path)
    return hashlib.sha256("\n".join([own, *settings]).encode()).hexdigest()


def _choose_mapping(format_: str, file: InputFile, options: Options) -> tuple[Mapping, pa.Schema | None]:
    """The mapping of the options, or that of our own names; and the file's columns, but of JSON Lines."""
    mapping = read_mapping(Path(options["mapping"])) if "mapping" in options else None
    if mapping is not None and mapping.csv and format_ != "csv":
        raise InputError(f"the mapping {options['mapping']}: csv is for the loader csv, not {format_}.")
    table = options.get("table", "papers")
    if table not in STAGED:
        raise UnknownNameError("table", table, list(STAGED))
    if format_ == "jsonl":
        return mapping or map_keys(table), None
    available = _list_columns(format_, file, mapping)
    return mapping or map_columns(table, available, file.name), available


def _list_columns(format_: str, file: InputFile, mapping: Mapping | None) -> pa.Schema:
    """The columns of a file, of its folders, and those for which the mapping has a default."""
    if format_ == "csv":
        csv = {} if mapping is None else mapping.csv
        own = pa.schema([(name, pa.string()) for name in read_csv_columns(file, csv)])
    else:
        with open_parquet(file) as opened:
            own = opened.schema_arrow.remove_metadata()
    constants = list_constants(file, None if mapping is None else mapping.defaults)
    return pa.schema([*own, *(field for field in constants.schema if field.name not in own.names)])


def _read_chunks(format_: str, file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file."""
    mapping, available = _choose_mapping(format_, file, options)
    seen: Seen = defaultdict(SeenIds)
    with closing(Plan(mapping, available, file.name)) as plan:
        constants = list_constants(file, mapping.defaults)
        if format_ == "csv":
            batches = read_csv(file, mapping.csv, plan.columns, constants, first_row)
        else:
            read = read_parquet if format_ == "parquet" else read_lines
            batches = read(file, plan.columns, constants, first_row)
        for batch in batches:
            chunk = stage_batch(plan, batch, seen)
            if chunk.last_row >= first_row:
                yield chunk


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


CSV: Final = _make_loader("csv", "any CSV or TSV, with a mapping in SQL")
JSONL: Final = _make_loader("jsonl", "any JSON Lines, with a mapping in SQL")
PARQUET: Final = _make_loader("parquet", "any Parquet files, with a mapping in SQL")
