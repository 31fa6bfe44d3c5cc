"""The citations of the Semantic Scholar Academic Graph's datasets: a row for each context of each link.

A link without contexts is one row, with all its intents. A cited paper that the graph does not know
(`citedcorpusid` null) is a cited work of its own. Left out are contexts that are empty, and the list of
intents where it is not as long as that of contexts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.left_out import leave_fields, leave_out
from pinakes.loaders.reading.columnar import Layout
from pinakes.loaders.reading.columns import (
    LIST_OF_TEXTS,
    NotPlainError,
    build_table,
    clean_ids,
    clean_texts,
    explode,
)
from pinakes.loaders.reading.rows import make_reference_key
from pinakes.loaders.reading.values import clean_text, take_flag, take_id, take_list, take_text
from pinakes.loaders.staging import RecordError, Rows

_LINK: Final = ("citationid", "citingcorpusid", "citedcorpusid")
_SAID: Final = (
    ("isinfluential", pa.bool_()),
    ("contexts", LIST_OF_TEXTS),
    ("intents", pa.list_(LIST_OF_TEXTS)),
)


def _parse(record: dict[str, Any]) -> Rows:
    citing = take_id(record, "citingcorpusid")
    citation_id = take_id(record, "citationid")
    cited = take_text(record, "citedcorpusid")
    link = {
        "citing_source_id": citing,
        "reference_key": make_reference_key(source_id=cited, mention=(citing, citation_id)),
        "source_reference_id": citation_id,
        "is_influential": take_flag(record, "isinfluential"),
    }
    contexts = [clean_text(context) for context in take_list(record, "contexts")]
    intents = [_take_intents(member) for member in take_list(record, "intents")]
    every = [intent for members in intents for intent in members]
    paired = intents if len(intents) == len(contexts) else [[]] * len(contexts)
    rows = [
        {"context": context, "intents": _join(members)}
        for context, members in zip(contexts, paired, strict=True)
        if context is not None
    ]
    leave_out("contexts", "no_value", len(contexts) - len(rows))
    leave_out("field intents", "invalid", bool(rows and intents) and len(intents) != len(contexts))
    return {"citations": [link | row for row in rows or [{"intents": _join(every)}]]}


def _take_intents(members: object) -> list[str]:
    if members is not None and not isinstance(members, list):
        raise RecordError("invalid_value", f"intents: expected a list of lists, found {members!r:.80}")
    texts = (clean_text(member) for member in members or [])
    return [text for text in texts if text is not None]


def _join(intents: Sequence[str]) -> str | None:
    return ",".join(sorted(set(intents))) or None


def _project(columns: Mapping[str, pa.Array], numbers: pa.Array) -> dict[str, pa.Table]:
    citation_ids, citing = clean_ids(columns["citationid"]), clean_ids(columns["citingcorpusid"])
    cited = columns["citedcorpusid"]
    cited = clean_texts(cited) if pa.types.is_string(cited.type) else pc.cast(cited, pa.string())
    if cited.null_count:
        mention = pc.binary_join_element_wise("mention:", citing, "#", citation_ids, "")
        cited = pc.coalesce(cited, mention)
    parents, contexts, intents = _pair_contexts(columns["contexts"], columns["intents"])
    rows = {
        "row_number": numbers.take(parents),
        "citing_source_id": citing.take(parents),
        "reference_key": cited.take(parents),
        "source_reference_id": citation_ids.take(parents),
        "context": contexts,
        "intents": intents,
        "is_influential": columns["isinfluential"].take(parents),
    }
    return {"citations": build_table("citations", rows)}


def _pair_contexts(contexts: pa.Array, intents: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """For each row to be: the record that it comes from, its context, its intents."""
    counts = pc.fill_null(pc.list_value_length(contexts), 0)
    intent_counts = pc.fill_null(pc.list_value_length(intents), 0)
    if not pc.all(pc.or_(pc.equal(intent_counts, 0), pc.equal(intent_counts, counts))).as_py():
        raise NotPlainError("contexts and intents differ in number")
    members = explode(contexts)
    texts = clean_texts(members.values)
    if texts.null_count:
        raise NotPlainError("a context is empty")
    bare = np.flatnonzero(counts.to_numpy(zero_copy_only=False) == 0)
    parents = np.concatenate((members.parents, bare))
    order = pa.array(np.argsort(parents, kind="stable"))
    joined = _spread(_join_intents(pc.list_flatten(intents)), intent_counts, members.parents)
    nothing = pa.nulls(len(bare), pa.string())
    return (
        pa.array(parents).take(order),
        pa.concat_arrays([texts, nothing]).take(order),
        pa.concat_arrays([joined, nothing]).take(order),
    )


def _spread(joined: pa.Array, counts: pa.Array, parents: np.ndarray[Any, Any]) -> pa.Array:
    """The joined intents where the record has some, null in the rows of the others."""
    has_intents = (counts.to_numpy(zero_copy_only=False) > 0)[parents]
    places = np.where(has_intents, np.cumsum(has_intents) - 1, 0)
    if not len(joined):
        return pa.nulls(len(parents), pa.string())
    return joined.take(pa.array(places, mask=~has_intents))


def _join_intents(lists: pa.Array) -> pa.Array:
    """Each list's texts, sorted and joined by a comma: `_join` of each, computed once for equal lists."""
    flat = pc.list_flatten(lists)
    buffers = flat.buffers()
    if len(flat) and buffers[2] is not None and b"\x00" in buffers[2].to_pybytes():
        raise NotPlainError("an intent holds a NUL character")
    if flat.null_count:
        raise NotPlainError("an intent is null")
    encoded = pc.binary_join(lists, "\x00").dictionary_encode()
    words = [
        None if value is None else _join(_take_intents(value.split("\x00")))
        for value in encoded.dictionary.to_pylist()
    ]
    return pa.array(words, pa.string()).take(encoded.indices)


_READ: Final = frozenset({*_LINK, *(name for name, _ in _SAID)})
CITATIONS: Final = Layout(
    tuple(pa.schema([*((name, type_) for name in _LINK), *_SAID]) for type_ in (pa.int64(), pa.string())),
    _project,
    _parse,
    lambda record: leave_fields(record, _READ),
    lambda _columns: (),
    has_papers=False,
)
