"""Which files of SciRepEval there are, what task and split each belongs to, and how they are read.

Leaves out: what their records say (`records`).
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.streams import open_stream
from pinakes.loaders.reading.json_records import read_json_array, read_json_lines
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.finding import find_roles, name_split
from pinakes.loaders.scirepeval.papers import DESCRIBED
from pinakes.loaders.scirepeval.parquet import read_parquet
from pinakes.loaders.scirepeval.records import TaskFile
from pinakes.loaders.staging import Accepted, Chunk, Rejected

_ROLES: Final = {".jsonl": "lines", ".json": "json", ".csv": "table", ".parquet": "parquet"}
_NO_DATA: Final = re.compile(r"(?:^|/)(?:[\w-]*tasks[\w-]*|[\w-]*embeddings?[\w-]*|[\w-]*results?)\.jsonl?$")
_PART: Final = re.compile(
    r"(?:train|val|validation|dev|test|evaluation|meta|metadata|reviewer_metadata)"
    r"(?:[_-](?:qrel|hard|soft|hard_qrel|soft_qrel|\d+|\d+-of-\d+))?"
)
"""file names that say which part of a task it is, and not which task"""


def describe_corpus(_source: Path | None, options: Options) -> CorpusDescription:
    """The corpus scirepeval, or scirepeval-<task> where the task is given."""
    task = options.get("task")
    return CorpusDescription(
        name=f"scirepeval-{task}" if task else "scirepeval",
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
    return gather_chunks(_READERS[file.role](file, _name_task_file(file, options)), first_row=first_row)


def _name_task_file(file: InputFile, options: Options) -> TaskFile:
    path = Path(strip_compression(file.name))
    folder = path.parent.name
    if not folder and file.path is not None:
        folder = file.path.resolve().parent.name
    task = options.get("task") or (folder if _PART.fullmatch(path.stem) and folder else path.stem)
    if not task.strip():
        raise InputError(f"task={task!r}: expected a task's name, as search.")
    assessor = next((word for word in ("hard", "soft") if word in path.stem.split("_")), "published")
    graded = "test" if path.stem.startswith(("meta", "evaluation")) else "all"
    return TaskFile(task, name_split(path.stem, ""), graded, assessor)


def _read_lines(file: InputFile, task: TaskFile) -> Iterator[Accepted | Rejected]:
    return read_json_lines(file, task.parse)


def _read_json(file: InputFile, task: TaskFile) -> Iterator[Accepted | Rejected]:
    # Both an array and JSON Lines are published under the name `.json`.
    with open_stream(file) as stream:
        is_array = stream.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    return read_json_array(file, task.parse) if is_array else read_json_lines(file, task.parse)


def _read_table(file: InputFile, task: TaskFile) -> Iterator[Accepted | Rejected]:
    return read_table(file, task.parse, delimiter=",", quoted=True)


def _read_parquet(file: InputFile, task: TaskFile) -> Iterator[Accepted | Rejected]:
    return read_parquet(file, task.parse)


_READERS: Final[dict[str, Callable[[InputFile, TaskFile], Iterator[Accepted | Rejected]]]] = {
    "lines": _read_lines,
    "json": _read_json,
    "table": _read_table,
    "parquet": _read_parquet,
}

LOADER: Final = Loader(
    name="scirepeval",
    summary="SciRepEval: the files of any task, as JSON lines, JSON, CSV or Parquet",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={"task": "name of the task that the files belong to (the folder's name)"},
    creates_unknown=lambda _options: True,
    describes=lambda _role: DESCRIBED,
    gaps_say_nothing=True,
)
