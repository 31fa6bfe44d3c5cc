"""Collections whose records have a number, a text and an end mark: NPL, LISA and TIME.

NPL (`doc-text`, `query-text`): a number, the text, a line with a slash. LISA: `Document 5640`, the title, an
empty line, the abstract, a line of asterisks; queries end with `#`. TIME: `*TEXT 017 01/04/63 PAGE 020` and
`*FIND 46` begin a record. Its relevance list counts the documents: their ids are their ordinals.
Judgments are NPL's blocks (`3`, documents, `/`), TIME's lines (`46 1 20 23`) and LISA's numbers
(`LISARJ.NUM`: query, how many, documents); each pair of query and document is a record.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.qrels import unpad
from pinakes.loaders.reading.rows import make_judgment
from pinakes.loaders.reading.streams import decode_utf8, read_lines, split_lines
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_END: Final = re.compile(rb"\s*(?:/|\*{10,})\s*$|\*STOP\b")
_BEGINNING: Final = re.compile(rb"\*(?:TEXT|FIND)\b|\s*Document\s+\d+\s*$")
_HEAD: Final = re.compile(
    r"\s*(?:(?P<time>\*TEXT)|\*FIND|(?P<lisa>Document))?\s*(?P<number>\d+)\b(?P<rest>.*)"
)
_DATE: Final = re.compile(r"\d+/\d+/(\d\d)\b")


def read_blocks(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The records of a file of documents or queries."""
    for number, lines in enumerate(_split_blocks(file), start=1):
        parse = partial(_parse_block, lines, file.role, number)
        yield take_record(number, f"record {number}", b"".join(lines).strip(), parse)


def _split_blocks(file: InputFile) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    for _, _, line in split_lines(file):
        is_query_end = file.role == "queries" and line.rstrip().endswith(b"#")
        if _BEGINNING.match(line) and any(part.strip() for part in block):
            yield block
            block = []
        if is_query_end:
            block.append(line.rstrip()[:-1])
        elif not _END.match(line):
            block.append(line)
            continue
        if any(part.strip() for part in block):
            yield block
        block = []
    if any(part.strip() for part in block):
        yield block


def _parse_block(lines: list[bytes], role: str, ordinal: int) -> Rows:
    texts = [decode_utf8(line).strip() for line in lines]
    while not texts[0]:
        del texts[0]
    head = _HEAD.fullmatch(texts[0])
    if head is None or (head["rest"].strip() and not head["time"]):
        raise RecordError("malformed_line", "the record does not begin with its number")
    number = unpad(head["number"])
    if role == "queries":
        text = clean_text(" ".join(filter(None, texts[1:])))
        if text is None:
            raise RecordError("missing_field", "a query without a text")
        return {"queries": [{"query_id": number, "text": text}]}
    return _make_paper(head, number, texts[1:], ordinal)


def _make_paper(head: re.Match[str], number: str, texts: list[str], ordinal: int) -> Rows:
    title: list[str] = []
    if head["lisa"]:
        place = texts.index("") if "" in texts else len(texts)
        title, texts = texts[:place], texts[place:]
    paper = {
        "source_id": str(ordinal) if head["time"] else number,
        "title": clean_text(" ".join(title)),
        "abstract": clean_text(" ".join(filter(None, texts))),
    }
    if not head["time"]:
        return {"papers": [paper]}
    date = _DATE.search(head["rest"])
    paper["year"] = 1900 + int(date[1]) if date else None  # type: ignore[assignment]
    left_out = [{"kind": "field TEXT", "reason": "no_column", "items": 1}]
    if "PAGE" in head["rest"]:
        left_out.append({"kind": "field PAGE", "reason": "no_column", "items": 1})
    return {"papers": [paper], "left_out": left_out}


def read_block_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    """The judgments of a relevance list that names a query's documents one after the other."""
    name = file.name.lower()
    read = _read_lines if "time" in name else _read_counted if "lisarj" in name else _read_slashed
    for number, (place, query, document) in enumerate(read(file), start=1):
        raw = f"{query} {document}"
        yield take_record(number, place, raw, partial(_parse_pair, query, document))


_Pairs = Iterator[tuple[str, str, str]]
"""where it stands, query, document"""


def _parse_pair(query: str, document: str) -> Rows:
    if not (query.isdecimal() and document.isdecimal()):
        raise RecordError("malformed_line", "expected the numbers of a query and of a document")
    return {"judgments": [make_judgment(unpad(query), unpad(document), 1, "test")]}


def _split_words(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(file):
        yield number, line.decode("utf-8", "backslashreplace").split()


def _read_lines(file: InputFile) -> _Pairs:
    for number, (query, *documents) in _split_words(file):
        yield from ((f"line {number}", query, document) for document in documents or [""])


def _read_slashed(file: InputFile) -> _Pairs:
    query = ""
    for number, words in _split_words(file):
        for word in words:
            if word == "/":
                query = ""
            elif not query:
                query = word
            else:
                yield f"line {number}", query, word


def _read_counted(file: InputFile) -> _Pairs:
    words = [(number, word) for number, line in _split_words(file) for word in line]
    place = 0
    while place < len(words):
        query = words[place][1]
        count = words[place + 1][1] if place + 1 < len(words) else ""
        if not count.isdecimal() or place + 2 + int(count) > len(words):
            raise InputError(
                f"{file.name}, line {words[place][0]}: expected a query, how many documents are relevant to "
                f"it, and their numbers; found {query} {count}."
            )
        for number, document in words[place + 2 : place + 2 + int(count)]:
            yield f"line {number}", query, document
        place += 2 + int(count)
