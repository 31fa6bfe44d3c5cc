"""What was found by reading all texts of a corpus, kept in a file until the database changes.

A search asks whether its index is of the texts of today, and which vector is whose. Reading texts takes
longer than the search; that nothing was written since they were last read is seen at once
(`Database.describe_state`). Any write to the database, whatever it was, has the texts read again, once.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import orjson
import pyarrow as pa

from pinakes.database import Database
from pinakes.errors import PinakesError
from pinakes.writing.files import open_whole

FOLDER: Final = "remembered"
"""of the files, in the folder of side indexes; each can be removed at any time"""

Answer = TypeVar("Answer")


def remember(
    database: Database, folder: Path, question: Mapping[str, Any], find: Callable[[], Answer]
) -> Answer:
    """What `find` gives, asked again unless the question had its answer in this state of the database.

    The question and the answer are fit for JSON. Whatever decides the answer beside rows of the database is
    part of the question. Nothing is kept where the folder cannot be written, or where the database does not
    show its state.
    """

    def read(path: Path, state: str, asked: str) -> Any:
        kept = orjson.loads(path.read_bytes())
        return kept["answer"] if (kept["state"], kept["question"]) == (state, asked) else None

    def write(file: Any, state: str, asked: str, answer: Any) -> None:
        file.write(orjson.dumps({"state": state, "question": asked, "answer": answer}))

    return _remember(database, folder, question, find, ("json", read, write))


def remember_table(
    database: Database, folder: Path, question: Mapping[str, Any], find: Callable[[], pa.Table]
) -> pa.Table:
    """As `remember`, for an Arrow table."""

    def read(path: Path, state: str, asked: str) -> Any:
        opened = pa.ipc.open_file(pa.memory_map(str(path)))
        found = opened.schema.metadata
        same = (found[b"state"], found[b"question"]) == (state.encode(), asked.encode())
        return opened.read_all() if same else None

    def write(file: Any, state: str, asked: str, answer: pa.Table) -> None:
        described = answer.replace_schema_metadata({"state": state, "question": asked})
        with pa.ipc.new_file(file, described.schema) as writer:
            writer.write_table(described)

    return _remember(database, folder, question, find, ("arrow", read, write))


_Form = tuple[str, Callable[[Path, str, str], Any], Callable[[Any, str, str, Any], None]]
"""the ending of a file's name; what reads its answer, None of another state or question; what writes it"""


def _remember(
    database: Database, folder: Path, question: Mapping[str, Any], find: Callable[[], Answer], form: _Form
) -> Answer:
    state = database.describe_state()
    if state is None:
        return find()
    ending, read, write = form
    asked = orjson.dumps(question, option=orjson.OPT_SORT_KEYS).decode()
    path = folder / FOLDER / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.{ending}"
    with suppress(OSError, ValueError, TypeError, KeyError):
        answer = read(path, state, asked)
        if answer is not None:
            return cast(Answer, answer)
    answer = find()
    if database.describe_state() == state:  # else the answer may be of either
        with suppress(OSError, PinakesError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_whole(path) as file:
                write(file, state, asked, answer)
    return answer
