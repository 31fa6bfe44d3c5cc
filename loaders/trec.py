"""TREC qrels and topics for a corpus that is loaded already.

Topics are XML (`<topic number="1"><query>…`) or the classic SGML (`<top><num>…<title>…`). Qrels are
`query iteration document grade`; `#` begins a comment. With `unknown=create`, papers and queries that only
qrels name become rows without a text: so a collection whose documents are not at hand can be evaluated.
Runs are for `pinakes import-run`.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.reading.finding import list_folder
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.streams import read_lines, read_text
from pinakes.loaders.reading.tables import read_qrels
from pinakes.loaders.reading.values import clean_text
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows, take_record

Topic = dict[str, str | None]
"""column of `benchmark_queries` -> text"""

QRELS_COLUMNS: Final = ("query_id", "iteration", "source_id", "grade")


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The topics, then the qrels: one file, or all files of a folder, distinguished by their first byte."""
    unknown = options.get("unknown", "reject")
    if unknown not in ("reject", "create"):
        raise InputError(f"unknown={unknown!r}: expected reject or create.")
    paths = list_folder(source, "TREC topics or qrels")
    files = [InputFile(path, path.name, _find_role(path)) for path in paths]
    return sorted(files, key=lambda file: (file.role != "queries", file.name))


def _find_role(path: Path) -> str:
    first = next(read_lines(InputFile(path, path.name, "")), (0, b""))[1]
    return "queries" if first.lstrip().startswith(b"<") else "judgments"


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one topics or qrels file."""
    records = _read_topics(file) if file.role == "queries" else _read_judgments(file, options)
    return gather_chunks(records, first_row=first_row)


def _read_judgments(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    split = options.get("split", "test")
    return read_qrels(file, columns=QRELS_COLUMNS, split=split)


def _read_topics(file: InputFile) -> Iterator[Accepted | Rejected]:
    text = read_text(file)
    topics = _split_sgml(file, text) if "<top>" in text else _split_xml(file, text)
    for number, (raw, parse) in enumerate(topics, start=1):
        yield take_record(number, f"topic {number}", raw, partial(_check_topic, parse))


def _check_topic(parse: Callable[[], Topic]) -> Rows:
    topic = parse()
    if topic["query_id"] is None or topic["text"] is None:
        raise RecordError("missing_field", "a topic without a number or without a query")
    return {"queries": [topic]}


def _split_xml(file: InputFile, text: str) -> Iterator[tuple[str, Callable[[], Topic]]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{file.name} declares XML entities, which topics do not need; they are refused.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 (entities are refused above)
    except ElementTree.ParseError as error:
        raise InputError(f"{file.name} is not XML: {error}.") from error
    topics = list(root.iter("topic"))
    if not topics:
        raise InputError(f"{file.name} has no <topic> and no <top>; expected TREC topics.")
    for topic in topics:
        yield ElementTree.tostring(topic, encoding="unicode").strip(), partial(_parse_xml_topic, topic)


def _parse_xml_topic(topic: ElementTree.Element) -> Topic:
    return {
        "query_id": clean_text(topic.get("number")),
        "text": clean_text(topic.findtext("query") or topic.findtext("title")),
        "description": clean_text(topic.findtext("question") or topic.findtext("description")),
        "narrative": clean_text(topic.findtext("narrative")),
    }


def _split_sgml(file: InputFile, text: str) -> Iterator[tuple[str, Callable[[], Topic]]]:
    topics = re.findall(r"<top>.*?</top>", text, re.DOTALL)
    if len(topics) != text.count("<top>"):
        raise InputError(
            f"{file.name} has {text.count('<top>')} <top>, but {len(topics)} </top> that close them."
        )
    for topic in topics:
        yield topic, partial(_parse_sgml_topic, topic)


def _parse_sgml_topic(topic: str) -> Topic:
    return {
        "query_id": _find_sgml_part(topic, "num", "Number:"),
        "text": _find_sgml_part(topic, "title", "Topic:"),
        "description": _find_sgml_part(topic, "desc", "Description:"),
        "narrative": _find_sgml_part(topic, "narr", "Narrative:"),
    }


def _find_sgml_part(topic: str, name: str, label: str) -> str | None:
    # The parts of classic topics have no closing tags; each begins with its label in words.
    found = re.search(rf"<{name}>\s*(?:{label})?\s*(.*?)\s*(?=<\w+>|</\w+>|\Z)", topic, re.DOTALL)
    return clean_text(" ".join(found.group(1).split())) if found else None


LOADER: Final = Loader(
    name="trec",
    summary="TREC topics and qrels, for a loaded corpus (name it with --corpus)",
    describe_corpus=describe_as(name="", source="TREC"),  # --corpus names a loaded one
    find_files=find_files,
    read_chunks=read_chunks,
    options={
        "split": "split that the judgments belong to (test)",
        "unknown": "what becomes of papers and queries that only qrels name: reject (default) or create",
    },
    creates_unknown=lambda options: options.get("unknown") == "create",
    may_lack_text=True,
)
