"""The papers of the release, one record a document (`<PAPER>` with its sentences), and their gold summaries.

The title is the sentence with `sid` 0 at the top; most papers of the manual topics lack one. Sentences of
`<ABSTRACT>` are those of section 0; the others are numbered within their section, and sentences beside the
sections are one of their own, without a title. Empty sentences are passed over.

Of the release of 2019, 52 documents are not UTF-8 and read as Windows-1252, as their quotation marks and
bullets show. Rejected are the 12 that are not well-formed (`</SECTION>` and `</PAPER>` mixed up), and 2
without a sentence.

All summaries of a paper are one record, each a variant of the paper: `abstract_summary`, `community_summary`
(from citances), `combined_summary`, `human_summary` (by an annotator, whose name follows where several wrote
one: `human_summary_sweta`), `gold_summary` (ScisummNet's). A first line that is the paper's title stays. Of
several summaries of a kind the first by path is read, the others are counted as left out.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Any, Final

from pinakes.errors import LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.breaks import until_broken
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.documents import check_whole, load_documents, reject_document
from pinakes.loaders.reading.rows import list_identifiers
from pinakes.loaders.reading.running_text import Element
from pinakes.loaders.reading.xml_reading import element_text, parse_xml
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_SUFFIXES: Final = re.compile(r"(?:-parscit\d*)?(?:\.(?:xml|txt))*$", re.IGNORECASE)
_ANTHOLOGY_ID: Final = re.compile(r"[A-Z]\d\d-\d{4}")
_TAG: Final = re.compile(r"<\?xml[^<>]*>|</?(?:S|PAPER|ABSTRACT|SUMMARY|SECTION)\b[^<>]*>")
_KINDS: Final = {
    "abstract": "abstract_summary",
    "community": "community_summary",
    "combined": "combined_summary",
    "human": "human_summary",
    "scisummnet_human": "gold_summary",
    "gold": "gold_summary",
}
_NAME: Final = re.compile(
    r"([A-Za-z]\d\d)[-_](\d{4})(?:_(?!abstract)(\w+))?[._]([a-z_]+)(?:\.summary)?(?:\.txt|\.xml)?"
)


def name_paper(written: str) -> str:
    """A paper's id from the name of its document, or from how an annotation writes it.

    >>> name_paper("C02-1050.xml"), name_paper("Q13-1024-parscit130908.xml"), name_paper("P134_n09")
    ('C02-1050', 'Q13-1024', 'P134_n09')
    """
    return _SUFFIXES.sub("", strip_compression(PurePosixPath(written.strip()).name))


def decode_document(raw: bytes) -> str:
    """A document as text: UTF-8, or Windows-1252 where it is not, as 52 papers of the manual topics are.

    >>> decode_document(b"\\x93natural\\x94"), decode_document("ä".encode())
    ('“natural”', 'ä')
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            place = error.start
    raise RecordError("invalid_utf8", f"byte {place + 1} is neither UTF-8 nor Windows-1252")


def strip_sentence_tags(text: str) -> str:
    """A text without the `<S sid="1">` around its sentences, entities as characters, white space collapsed.

    >>> strip_sentence_tags('<S sid ="1" ssid = "1">One &amp; two.</S><S sid = 2 ssid = >Three.</S>')
    'One & two. Three.'
    """
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())


def parse_paper(raw: bytes, name: str) -> Rows:
    """The rows of one paper."""
    root = parse_xml(decode_document(raw).encode())
    if root.tag != "PAPER":
        raise RecordError("missing_field", f"expected <PAPER>, found <{root.tag}>")
    source_id = name_paper(name)
    title, sentences = _group_sentences(root)
    if not sentences and title is None:
        raise RecordError("missing_field", "the paper has no sentence")
    abstract = [text for holder, text in sentences if _is_abstract(holder)]
    return {
        "papers": [{"source_id": source_id, "title": title, "abstract": " ".join(abstract) or None}],
        "identifiers": list_identifiers(
            source_id, [("acl", source_id)] if _ANTHOLOGY_ID.fullmatch(source_id) else []
        ),
        **_number_sentences(source_id, sentences),
    }


def _number_sentences(source_id: str, sentences: list[tuple[Element | None, str]]) -> Rows:
    holders = dict.fromkeys(holder for holder, _ in sentences if not _is_abstract(holder))
    numbers = {holder: number for number, holder in enumerate(holders, start=1)}
    texts: dict[int, list[str]] = {}
    rows: list[dict[str, Any]] = []
    for holder, text in sentences:
        number = numbers.get(holder, 0)
        texts.setdefault(number, []).append(text)
        position = len(texts[number])
        rows.append({"source_id": source_id, "section_number": number, "position": position, "text": text})
    sections = [
        {
            "source_id": source_id,
            "section_number": number,
            "title": None if holder is None else " ".join((holder.get("title") or "").split()) or None,
            "text": " ".join(texts[number]),
        }
        for holder, number in numbers.items()
    ]
    return {"sections": sections, "sentences": rows}


def _is_abstract(holder: Element | None) -> bool:
    return holder is not None and holder.tag == "ABSTRACT"


def _group_sentences(root: Element) -> tuple[str | None, list[tuple[Element | None, str]]]:
    """The title, and every other sentence with the section or abstract that holds it, None for neither."""
    title = None
    sentences: list[tuple[Element | None, str]] = []
    for element in root.iter("S"):
        text = element_text(element)
        if text is None:
            leave_out("sentences", "no_value")
            continue
        holder = element.getparent()
        while holder is not None and holder.tag not in ("SECTION", "ABSTRACT"):
            holder = holder.getparent()
        if holder is None and title is None and not sentences and element.get("sid") == "0":
            title = text
        else:
            sentences.append((holder, text))
    return title, sentences


def read_summaries(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The papers' summaries, which are few and small: all are read before the first record is given."""
    numbers = count(1)
    papers: dict[str, dict[str, dict[str, Any]]] = {}
    repeated: Counter[str] = Counter()
    places: dict[str, str] = {}
    broken: list[LoadError] = []
    for name, raw in until_broken(load_documents(file), broken):
        try:
            source_id, code, text = _parse_summary(raw, name)
        except RecordError as error:
            yield reject_document(next(numbers), name, raw, error)
            continue
        variant = {"source_id": source_id, "code": code, "abstract": text}
        is_first = papers.setdefault(source_id, {}).setdefault(code, variant) is variant
        repeated[source_id] += not is_first
        places.setdefault(source_id, name)
    for source_id, variants in papers.items():
        gather = partial(_gather_summaries, source_id, variants, repeated[source_id])
        yield take_record(next(numbers), places[source_id], "", gather)
    if broken:
        raise broken[0]


def _gather_summaries(source_id: str, variants: Mapping[str, dict[str, Any]], repeated: int) -> Rows:
    leave_out("variants", "repeated", repeated)
    return {"papers": [{"source_id": source_id}], "variants": list(variants.values())}


def _parse_summary(raw: bytes, name: str) -> tuple[str, str, str]:
    """The paper's id, the variant's code and its text."""
    check_whole(raw)
    found = _NAME.fullmatch(PurePosixPath(strip_compression(name)).name)
    if found is None or found[4] not in _KINDS:
        kinds = ", ".join(_KINDS)
        raise RecordError("invalid_value", f"expected a name as C00-2123.human.txt with one of {kinds}")
    text = strip_sentence_tags(decode_document(raw))
    if not text:
        raise RecordError("missing_field", "the summary is empty")
    return f"{found[1]}-{found[2]}", _KINDS[found[4]] + (f"_{found[3]}" if found[3] else ""), text
