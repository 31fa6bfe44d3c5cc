"""The papers of the release: one record a document, `<PAPER>` with its sentences.

The title is the sentence with `sid` 0 at the top; most papers of the manual topics lack one. Sentences of
`<ABSTRACT>` are those of section 0; the others are numbered within their section, and sentences beside the
sections are one of their own, without a title. Left out are empty sentences, and `sid`, which counts through.

Of the release of 2019, 52 documents are not UTF-8 and read as Windows-1252, as their quotation marks and
bullets show. Rejected are the 12 that are not well-formed (`</SECTION>` and `</PAPER>` mixed up), and 2
without a sentence.
"""

from collections.abc import Iterator

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.rows import list_identifiers
from pinakes.loaders.reading.documents import read_documents
from pinakes.loaders.reading.running_text import Element
from pinakes.loaders.reading.xml_reading import element_text, parse_xml
from pinakes.loaders.scisumm.naming import decode_document, is_anthology_id, name_paper
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows


def read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The papers of the file's documents."""
    return read_documents(file, parse_paper)


def parse_paper(raw: bytes, name: str) -> Rows:
    """The rows of one paper.

    Raises:
        RecordError: the document is not XML, in no known encoding, or without a sentence.
    """
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
            source_id, [("acl", source_id)] if is_anthology_id(source_id) else []
        ),
        **_number_sentences(source_id, sentences),
    }


def _number_sentences(source_id: str, sentences: list[tuple[Element | None, str]]) -> Rows:
    holders = dict.fromkeys(holder for holder, _ in sentences if not _is_abstract(holder))
    numbers = {holder: number for number, holder in enumerate(holders, start=1)}
    texts: dict[int, list[str]] = {}
    rows = []
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
            continue
        holder = element.getparent()
        while holder is not None and holder.tag not in ("SECTION", "ABSTRACT"):
            holder = holder.getparent()
        if holder is None and title is None and not sentences and element.get("sid") == "0":
            title = text
        else:
            sentences.append((holder, text))
    return title, sentences
