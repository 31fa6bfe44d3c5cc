"""What was found by reading all texts of a corpus, kept in a file until the database changes.

A search asks whether its index is of the texts of today. Reading them takes longer than the search; that
nothing was written since they were last read is seen at once (`Database.describe_state`). Any write to the
database, whatever it was, has the texts read again, once.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import orjson

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
    state = database.describe_state()
    if state is None:
        return find()
    asked = orjson.dumps(question, option=orjson.OPT_SORT_KEYS).decode()
    path = folder / FOLDER / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = orjson.loads(path.read_bytes())
        if (kept["state"], kept["question"]) == (state, asked):
            return cast(Answer, kept["answer"])
    answer = find()
    if database.describe_state() == state:  # else the answer may be of either
        with suppress(OSError, PinakesError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_whole(path) as file:
                file.write(orjson.dumps({"state": state, "question": asked, "answer": answer}))
    return answer
