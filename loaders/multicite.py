"""MultiCite (Lauscher et al. 2022): citation contexts of several sentences, with one or more intents each.

Read are the arrays `gold_context_*.json` of {id, x, y}: `x` is the context, in which `<cite>` marks each
mention of the cited work; `y` are the intents, separated by blanks. The part of the id before `_` stands for
the citing paper: all contexts of a paper cite the same work, of which nothing else is published. Each mention
is a citation; a context in which none is marked is one without offsets. The id is the source's id of the
citation, shared by its mentions. The split is that of the file, which the citation's batch names. A context
may stand in a list of its own.
"""

import re
from functools import partial
from typing import Any, Final

from pinakes.loaders.base import Loader, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_array
from pinakes.loaders.reading.rows import make_reference_key
from pinakes.loaders.reading.values import take_id
from pinakes.loaders.staging import RecordError, Rows

_MARK: Final = re.compile(r"<(/?)cite>")


def _parse_context(record: dict[str, Any]) -> Rows:
    context_id = take_id(record, "id")
    source_id, separator, _ = context_id.rpartition("_")
    if not separator or not source_id:
        raise RecordError("invalid_value", f"id: expected <paper>_<number>, found {context_id!r:.80}")
    intents = record.get("y")
    if not isinstance(intents, str) or not intents.split():
        raise RecordError("missing_field", "no intents in y")
    leave_fields(record, {"id", "x", "y"})
    text, spans = find_mentions(_take_context(record.get("x")))
    citation = {
        "citing_source_id": source_id,
        "reference_key": make_reference_key(mention=(source_id, "cited")),
        "source_reference_id": context_id,
        "context": text,
        "intents": ",".join(sorted(set(intents.split()))),
    }
    places = [{"context_start": start, "context_end": end} for start, end in spans] or [{}]
    return {
        "mentioned_papers": [{"source_id": source_id}],
        "citations": [citation | place for place in places],
    }


def _take_context(value: object) -> str:
    parts = value if isinstance(value, list) else [value]
    texts = [part for part in parts if isinstance(part, str) and part.strip()]
    if not texts or len(texts) < len(parts):
        raise RecordError("missing_field", "no text in x")
    return " ".join(texts)


def find_mentions(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its `<cite>` marks, and the [start, end) of each marked mention in it.

    >>> find_mentions("As in <cite>(Lee, 2019)</cite> .")
    ('As in (Lee, 2019) .', [(6, 17)])
    """
    text = ""
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    rest = marked.strip()
    end = 0
    for mark in _MARK.finditer(rest):
        text += rest[end : mark.start()]
        end = mark.end()
        if (opened is None) == bool(mark[1]):
            raise RecordError("invalid_value", "x: <cite> and </cite> do not alternate")
        if opened is not None:
            spans.append((opened, len(text)))
        opened = None if mark[1] else len(text)
    if opened is not None:
        raise RecordError("invalid_value", "x: a <cite> is not closed")
    return text + rest[end:], spans


LOADER: Final = Loader(
    name="multicite",
    summary="MultiCite: citation contexts with their intents",
    describe_corpus=describe_as(
        name="multicite", title="MultiCite", source="https://github.com/allenai/multicite"
    ),
    find_files=find_by_name("gold_context_dev.json and the like", citations=r"\.json$"),
    read_chunks=gather_by_role(partial(read_json_array, parse=_parse_context)),
    describes=lambda _role: frozenset(),
)
