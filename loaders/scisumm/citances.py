"""The citances of the release: one record a citance, of whichever of its topic's documents tell of it.

A topic of a test set has its citances in `citing_sentences.json`, in a plain annotation and in one for each
annotator of the gold set. Records of different documents are one where cited paper, citing paper and the
letters and digits of the text are the same, since some documents number the citances otherwise; without a
text, where the number is. The context is the cleaned sentence where there is one, else the raw one, of
`citing_sentences.json` before an annotation's; the mention is located in it where an annotation gives a
marker that stands there once. The facets that annotations give ("Method_Citation") are together the
citation's intents, in one spelling. `citing_paper_authority` is the citation count of the citing paper. Of
the release of 2019, 9 sentences hold a NUL character and are rejected.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, Final

from pinakes.errors import LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_out, name_field
from pinakes.loaders.reading.breaks import until_broken
from pinakes.loaders.reading.documents import check_whole, load_documents, reject_document
from pinakes.loaders.scisumm.annotations import Citance, split_document
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw, take_record

_Told = tuple[str, bytes, Citance]
"""location, raw text and what it says"""
_Key = tuple[str, ...]
_ODD: Final = re.compile(r"\W+")


def read_citances(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The citances of all documents of the file, numbered through.

    They are few and small: all are read before the first record is given. Where the file breaks off, what
    was read before comes first.
    """
    broken: list[LoadError] = []
    documents = (_read_document(name, raw) for name, raw in until_broken(load_documents(file), broken))
    numbers = count(1)
    for held in _merge(chain.from_iterable(documents)):
        if isinstance(held, Rejected):
            yield Rejected(next(numbers), held.location, held.reason, held.message, held.raw)
        else:
            location, raw, _ = held[0]
            yield take_record(next(numbers), location, raw, partial(_build_rows, [told[2] for told in held]))
    if broken:
        raise broken[0]


def _read_document(name: str, raw: bytes) -> Iterator[tuple[_Key, _Told] | Rejected]:
    """The document's citances, each under what it has in common with those of other documents."""
    met: Counter[_Key] = Counter()
    try:
        check_whole(raw)
        for location, shown, parse in split_document(name, raw):
            try:
                citance = parse()
            except RecordError as error:
                yield Rejected(1, location, error.reason, str(error), show_raw(shown))
                continue
            text = _ODD.sub("", citance.context).lower() or f"#{citance.number}"
            key = (citance.cited, citance.citing, text)
            met[key] += 1
            yield (*key, str(met[key])), (location, shown, citance)
    except RecordError as error:
        yield reject_document(1, name, raw, error)


def _merge(found: Iterable[tuple[_Key, _Told] | Rejected]) -> Iterator[list[_Told] | Rejected]:
    """What is said of each citance together, in the order in which the citances are met."""
    held: dict[_Key, list[_Told] | Rejected] = {}
    for number, one in enumerate(found):
        if isinstance(one, Rejected):
            held["rejected", str(number)] = one
        else:
            key, told = one
            said = held.setdefault(key, [])
            if isinstance(said, list):
                said.append(told)
    yield from held.values()


def _build_rows(told: Sequence[Citance]) -> Rows:
    """The rows of one citance; both papers are mentioned, since a topic may lack the text of either."""
    told = sorted(told, key=lambda citance: citance.rank)
    first = told[0]
    for name in sorted(frozenset[str]().union(*(citance.unread for citance in told))):
        leave_out(name_field(name), "no_column")
    context = next((citance.context for citance in told if citance.context), None)
    citation: dict[str, Any] = {
        "citing_source_id": first.citing,
        "reference_key": first.cited,
        "source_reference_id": f"{first.cited}#{first.number}",
        "context": context,
        "intents": ",".join(sorted(frozenset[str]().union(*(citance.facets for citance in told)))) or None,
    }
    markers = (citance.marker for citance in told if citance.marker)
    marker = next((marker for marker in markers if context and context.count(marker) == 1), None)
    if marker is not None and context is not None:
        start = context.index(marker)
        citation |= {"context_start": start, "context_end": start + len(marker)}
    citing = {"source_id": first.citing, "citation_count": first.authority}
    return {"mentioned_papers": [citing, {"source_id": first.cited}], "citations": [citation]}
