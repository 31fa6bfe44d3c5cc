"""Which sentences of their papers queries ask with, for a corpus that is loaded already.

A record is a query, the name of a selection and the positions of the sentences in the abstract of the
query's paper, from 1: `{"query_id": "q1", "selection": "mine", "positions": [1, 3]}` a line, or the columns
query_id, selection and positions (`1 3`) of a CSV file. A newer record of the same query and name takes the
place of the older one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import list_folder
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.reading.streams import read_lines
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import clean_text, take_list
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

FACET: Final = "facet"
"""the sentences that carry the query's facet: a name that no selection of a user's may have"""

_COLUMNS: Final = ("query_id", "selection", "positions")
# It becomes part of a query's id and of a subset's name, in which `/` and `=` part the names.
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_POSITION: Final = re.compile(r"[0-9]{1,9}")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """One file, or all files of a folder; JSON Lines and CSV are distinguished by their first byte."""
    paths = list_folder(source, "selections as JSON Lines or CSV")
    return [InputFile(path, path.name, "sentence_selections") for path in paths]


def _read_records(file: InputFile) -> Iterator[Accepted | Rejected]:
    first = next(read_lines(file), (0, b""))[1]
    if first.lstrip().startswith((b"{", b"[")):
        return read_json_lines(file, _parse_object)
    return read_table(file, _parse_row, delimiter=",", quoted=True, required=_COLUMNS)


def _parse_object(record: dict[str, Any]) -> Rows:
    positions = take_list(record, "positions")
    _check([position for position in positions if type(position) is not int or position < 1])
    return _select(record, positions)


def _parse_row(row: dict[str, str]) -> Rows:
    positions = row["positions"].split()
    _check([text for text in positions if not _POSITION.fullmatch(text) or int(text) < 1])
    return _select(row, [int(text) for text in positions])


def _check(wrong: list[Any]) -> None:
    if wrong:
        raise RecordError(
            "invalid_value", f"positions: expected whole numbers from 1, found {wrong[0]!r:.80}"
        )


def _select(record: dict[str, Any], positions: list[int]) -> Rows:
    leave_fields(record, _COLUMNS)
    query_id, selection = clean_text(record.get("query_id")), clean_text(record.get("selection"))
    if query_id is None or selection is None or not positions:
        said = zip(_COLUMNS, (query_id, selection, positions), strict=True)
        raise RecordError("missing_field", f"no {' and no '.join(name for name, value in said if not value)}")
    if not _NAME.fullmatch(selection) or selection == FACET:
        raise RecordError(
            "invalid_value",
            f"selection: {selection!r:.80} is no name; expected up to 64 letters, digits, `_`, `.` or `-`, "
            f"and not {FACET!r}, which means the sentences of the query's facet",
        )
    if len(set(positions)) < len(positions):
        raise RecordError("invalid_value", f"positions: one stands there twice: {positions!r:.80}")
    rows = [
        {"query_id": query_id, "selection": selection, "position": position} for position in sorted(positions)
    ]
    return {"sentence_selections": rows}


LOADER: Final = Loader(
    name="sentence-selections",
    summary="which sentences queries ask with, for a loaded corpus (name it with --corpus)",
    describe_corpus=describe_as(name=""),  # that of --corpus, which is loaded already
    find_files=find_files,
    read_chunks=gather_by_role(_read_records),
)
