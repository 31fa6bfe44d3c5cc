"""The gold summaries: one record a paper with all its summaries, each a variant of the paper.

Codes: `abstract_summary`, `community_summary` (from citances), `human_summary` (by an annotator, whose name
follows where several wrote one: `human_summary_sweta`), `gold_summary` (ScisummNet's). A first line that is
the paper's title stays, as published.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Any, Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import MAX_DOCUMENT_BYTES, open_documents
from pinakes.loaders.reading.streams import RAW_BYTES
from pinakes.loaders.scisumm.naming import decode_document, strip_sentence_tags
from pinakes.loaders.staging import Accepted, RecordError, Rejected, show_raw, take_record

_KINDS: Final = {
    "abstract": "abstract_summary",
    "community": "community_summary",
    "human": "human_summary",
    "scisummnet_human": "gold_summary",
    "gold": "gold_summary",
}
_NAME: Final = re.compile(r"([A-Za-z]\d\d-\d{4})(?:_(\w+))?\.([a-z_]+)(?:\.summary)?\.txt")


def read_summaries(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The papers' summaries, which are few and small: all are read before the first record is given."""
    numbers = count(1)
    papers: dict[str, dict[str, dict[str, Any]]] = {}
    places: dict[str, str] = {}
    for name, stream in open_documents(file):
        with stream:
            raw = stream.read(MAX_DOCUMENT_BYTES + 1)
        try:
            source_id, code, text = _parse_summary(raw, name)
        except RecordError as error:
            yield Rejected(next(numbers), name, error.reason, str(error), show_raw(raw[:RAW_BYTES]))
            continue
        variant = {"source_id": source_id, "code": code, "abstract": text}
        papers.setdefault(source_id, {}).setdefault(code, variant)
        places.setdefault(source_id, name)
    for source_id, variants in papers.items():
        rows = {"papers": [{"source_id": source_id}], "variants": list(variants.values())}
        yield take_record(next(numbers), places[source_id], "", partial(dict, rows))


def _parse_summary(raw: bytes, name: str) -> tuple[str, str, str]:
    """The paper's id, the variant's code and its text."""
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise RecordError("too_large", f"the document has more than {MAX_DOCUMENT_BYTES} bytes")
    found = _NAME.fullmatch(PurePosixPath(strip_compression(name)).name)
    if found is None or found[3] not in _KINDS:
        kinds = ", ".join(_KINDS)
        raise RecordError("invalid_value", f"expected a name as C00-2123.human.txt with one of {kinds}")
    text = strip_sentence_tags(decode_document(raw))
    if not text:
        raise RecordError("missing_field", "the summary is empty")
    return found[1], _KINDS[found[3]] + (f"_{found[2]}" if found[2] else ""), text
