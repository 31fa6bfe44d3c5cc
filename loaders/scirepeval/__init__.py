"""SciRepEval (Singh et al. 2023): the training, metadata and test files of every task, as published.

JSON Lines, JSON arrays, CSV and Parquet; what a record is, its fields say (`records`). A task is named by the
option `task`, or else by the file's folder (`fos/test.csv`, `search/evaluation-00000-of-00001.parquet`,
`drsm/test/0000.parquet`; a folder `scirepeval-drsm` is of `drsm`), or else by the file. Splits come from file
names; `meta` and `evaluation` are the split `test` of graded candidates and `all` of labels; where a name
says nothing, triplets are `train` and the rest is `all`. Queries are called `<task>:<query>`, since the same
paper is a query of several tasks.
Passed over: the lists of tasks and of labels (`tasks_config.json`, `fos_labels.txt`), embeddings, results.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.errors import InputError, LoadError, OtherContentError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.finding import find_roles, name_split
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.streams import is_parquet
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.scirepeval.records import DESCRIBED, TaskFile
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows, take_record
from pinakes.python_values import use_python_types

_ROLES: Final = {".jsonl": "lines", ".json": "json", ".csv": "table", ".parquet": "parquet"}
_NO_DATA: Final = re.compile(r"(?:^|/)(?:[\w-]*tasks[\w-]*|[\w-]*embeddings?[\w-]*|[\w-]*results?)\.jsonl?$")
_PART: Final = re.compile(
    r"(?:train|val|validation|dev|test|evaluation|meta|metadata|reviewer_metadata)"
    r"(?:[_-](?:qrel|hard|soft|hard_qrel|soft_qrel|\d+|\d+-of-\d+))?"
)
"""file names that say which part of a task it is, and not which task"""
_NAME: Final = "scirepeval"
_PREFIX: Final = f"{_NAME}-"
"""begins the name of a corpus, and of a fetched folder, that holds one task alone, or those of some papers"""
_BATCH_ROWS: Final = 1_000
_RAW_BYTES: Final = 100_000

Parse = Callable[[dict[str, Any]], Rows]


def describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """The corpus scirepeval-<task> of a task that is given, or of a folder so called; else scirepeval."""
    task = options.get("task")
    folder = "" if source is None else source.resolve().name
    own = folder if folder.startswith(_PREFIX) else _NAME
    return CorpusDescription(
        name=f"{_PREFIX}{task}" if task else own,
        title="SciRepEval",
        licence="ODC-By 1.0",
        source="https://github.com/allenai/scirepeval",
    )


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """The files with data below the source, by name; those that describe before those that judge."""
    files = find_roles(source, _find_role, "SciRepEval's files of tasks", tuple(_ROLES.values()))
    return sorted(files, key=lambda file: (_judges(file.name), file.name))


def _find_role(name: str) -> str | None:
    return None if _NO_DATA.search(name) else _ROLES.get(Path(name).suffix)


def _judges(name: str) -> bool:
    return bool(re.search(r"qrel|\.csv|(?:^|/)test", name))


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file."""
    records = _READERS[file.role](file, _name_task_file(file, options).parse)
    return gather_chunks(records, first_row=first_row)


def _name_task_file(file: InputFile, options: Options) -> TaskFile:
    folder, part = _name_part(file)
    task = options.get("task") or (folder.removeprefix(_PREFIX) if _PART.fullmatch(part) and folder else part)
    if not task.strip():
        raise InputError(f"task={task!r}: expected a task's name, as search.")
    assessor = next((word for word in ("hard", "soft") if word in part.split("_")), "published")
    graded = "test" if part.startswith(("meta", "evaluation")) else "all"
    return TaskFile(task, name_split(part, ""), graded, assessor)


def _name_part(file: InputFile) -> tuple[str, str]:
    """The folder that a file lies in, empty where it has none, and the part of a task that it is."""
    path = Path(strip_compression(file.name))
    inside = list(path.parent.parts)
    above = list(file.path.resolve().parent.parts) if file.path is not None else []
    folders = inside if len(inside) > 1 else above[: len(above) - len(inside)] + inside
    if re.fullmatch(r"\d+", path.stem) and len(folders) > 1 and _PART.fullmatch(folders[-1]):
        return folders[-2], folders[-1]  # the converted Parquet files of a dataset: drsm/test/0000.parquet
    return (folders[-1] if folders else ""), path.stem


def read_parquet(file: InputFile, parse: Parse) -> Iterator[Accepted | Rejected]:
    """The records of a Parquet file: what `parse` makes of each row, column -> value."""
    if file.path is None or file.member is not None:
        raise InputError(f"{file.name} is not a file on disk, as a Parquet file has to be.")
    rows = chain.from_iterable(_read_batches(file))
    for number, row in enumerate(rows, start=1):
        raw = orjson.dumps(row, default=str)[:_RAW_BYTES]
        yield take_record(number, f"row {number}", raw, partial(_parse_row, row, parse))


def _read_batches(file: InputFile) -> Iterator[list[dict[str, Any]]]:
    try:
        table = pq.ParquetFile(file.path)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {file.path}.") from error
    except (pa.ArrowException, OSError) as error:
        kind = InputError if is_parquet(file) else OtherContentError
        raise kind(f"{file.name} is not a Parquet file, or is damaged: {error}.") from error
    with table:
        try:
            for batch in table.iter_batches(_BATCH_ROWS):
                yield list(use_python_types(batch).to_pylist())
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            fault = f"is damaged, or holds values that cannot be read: {error}"
            raise LoadError(f"{file.name} {fault}. Fetch it again.") from error


def _parse_row(row: dict[str, Any], parse: Parse) -> Rows:
    if not row:
        raise RecordError("missing_field", "a row without columns")
    return parse(row)


_READERS: Final[dict[str, Callable[[InputFile, Parse], Iterator[Accepted | Rejected]]]] = {
    "lines": read_json_lines,
    "json": read_json_lines,  # an array too
    "table": partial(read_table, delimiter=",", quoted=True),
    "parquet": read_parquet,
}


LOADER: Final = Loader(
    name=_NAME,
    summary="SciRepEval: the files of any task, as JSON lines, JSON, CSV or Parquet",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={"task": "name of the task that the files belong to (the folder's name)"},
    creates_unknown=lambda _options: True,
    describes=lambda _role: DESCRIBED,
    gaps_say_nothing=True,
    may_lack_text=True,
)
