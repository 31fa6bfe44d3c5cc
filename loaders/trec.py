"""TREC qrels and topics for a corpus that is loaded already.

Topics are XML (`<topic number="1"><query>…`) or the classic SGML (`<top><num>…<title>…`). Qrels are
`query iteration document grade`; `#` begins a comment. With `unknown=create`, papers and queries that only
qrels name become rows without a text: so a collection whose documents are not at hand can be evaluated.
Leaves out: TREC runs (`pinakes import-run`).
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.qrels import read_qrels
from pinakes.loaders.reading import clean_text, open_stream, read_text
from pinakes.loaders.staging import Accepted, Chunk, Rejected, gather_chunks

_QRELS_COLUMNS: Final = ("query_id", "iteration", "source_id", "grade")


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """No name: the corpus is one that is loaded, named with --corpus."""
    return CorpusDescription(name="", source="TREC")


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The topics, then the qrels: one file, or all files of a folder, told apart by their first byte."""
    unknown = options.get("unknown", "reject")
    if unknown not in ("reject", "create"):
        raise InputError(f"unknown={unknown!r}: expected reject or create.")
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected TREC topics or qrels.")
    paths = sorted(path for path in source.iterdir() if path.is_file()) if source.is_dir() else [source]
    files = [InputFile(path, path.name, _find_role(path)) for path in paths]
    return sorted(files, key=lambda file: (file.role != "queries", file.name))


def _find_role(path: Path) -> str:
    with open_stream(InputFile(path, path.name, "")) as stream:
        return "queries" if stream.read(512).lstrip().startswith(b"<") else "judgments"


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one topics or qrels file."""
    records = _read_topics(file) if file.role == "queries" else _read_judgments(file, options)
    return gather_chunks(records, first_row=first_row)


def _read_judgments(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    split = options.get("split", "test")
    return read_qrels(file, columns=_QRELS_COLUMNS, split=split)


def _read_topics(file: InputFile) -> Iterator[Accepted | Rejected]:
    text = read_text(file)
    topics = _parse_sgml_topics(text) if re.search(r"<top>", text) else _parse_xml_topics(file, text)
    for number, topic in enumerate(topics, start=1):
        if topic["query_id"] is None or topic["text"] is None:
            message = "a topic without a number or without a query"
            yield Rejected(number, f"topic {number}", "missing_field", message, str(topic))
        else:
            yield Accepted(number, {"queries": [topic]})


def _parse_xml_topics(file: InputFile, text: str) -> Iterator[dict[str, str | None]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{file.name} declares XML entities, which topics do not need; they are refused.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 (entities are refused above)
    except ElementTree.ParseError as error:
        raise InputError(f"{file.name} is not XML: {error}.") from error
    for topic in root.iter("topic"):
        yield {
            "query_id": clean_text(topic.get("number")),
            "text": clean_text(topic.findtext("query") or topic.findtext("title")),
            "description": clean_text(topic.findtext("question") or topic.findtext("description")),
            "narrative": clean_text(topic.findtext("narrative")),
        }


def _parse_sgml_topics(text: str) -> Iterator[dict[str, str | None]]:
    for topic in re.findall(r"<top>(.*?)</top>", text, re.DOTALL):
        parts = {name: _find_sgml_part(topic, name) for name in ("num", "title", "desc", "narr")}
        yield {
            "query_id": clean_text(re.sub(r"^Number:", "", parts["num"] or "")),
            "text": parts["title"],
            "description": clean_text(re.sub(r"^Description:", "", parts["desc"] or "")),
            "narrative": clean_text(re.sub(r"^Narrative:", "", parts["narr"] or "")),
        }


def _find_sgml_part(topic: str, name: str) -> str | None:
    found = re.search(rf"<{name}>\s*(.*?)\s*(?=<\w+>|</\w+>|\Z)", topic, re.DOTALL)
    return clean_text(" ".join(found.group(1).split())) if found else None


LOADER: Final = Loader(
    name="trec",
    summary="TREC topics and qrels, for a loaded corpus (name it with --corpus)",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={
        "split": "split that the judgments belong to (test)",
        "unknown": "what becomes of papers and queries that only qrels name: reject (default) or create",
    },
    creates_unknown=lambda options: options.get("unknown") == "create",
)
