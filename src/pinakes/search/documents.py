"""One document as numbered sentences: a paper of a corpus, or a text file that is in none."""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.indexers.punkt import split_sentences
from pinakes.queries.sentence_relations import ABSTRACT
from pinakes.schema import corpora, distinct_sentences, papers, sections

Splitter = Literal["punkt", "source"]
SPLITTERS: Final = ("punkt", "source")
"""who says where a sentence ends: our splitter, or the source; of a text file its lines are the source's"""

_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*\Z")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document.

    Attributes:
        number: its place in the document, from 1.
        section_number, position: its section, 0 for an abstract or what stands above the first heading; its
            place there, from 1.
        section: the section's title.
        text: with its white space collapsed.
    """

    number: int
    section_number: int
    position: int
    section: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences, and what they are of.

    Attributes:
        name: the paper's id in its source, or the file's name.
        note: what a reader must know, as that the full text is missing; empty: nothing.
    """

    name: str
    title: str | None
    sentences: tuple[Sentence, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a summary, with its score; higher is more relevant."""

    sentence: Sentence
    score: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The best sentences of a document, in its order.

    Attributes:
        query: what was asked with.
        scorer: what scored them.
        notes: what a reader must know: the abstract stands for the full text, fewer sentences than asked for.
    """

    document: Document
    query: str
    scorer: str
    splitter: Splitter
    sentences: tuple[ScoredSentence, ...]
    notes: tuple[str, ...]


Part = tuple[int, str | None, list[str]]
"""section number, title, sentences"""


def read_paper(database: Database, corpus: str, source_id: str, splitter: Splitter = "punkt") -> Document:
    """The sentences of a paper's full text, in its order; of its abstract where the full text is missing.

    Raises:
        InputError: the corpus has no such paper, or the paper no sentence of that splitter.
    """
    with database.read() as session:
        paper = find_paper(session, corpus, source_id)
        if paper is None:
            raise unknown_paper(corpus, source_id)
        read = _split_sections if splitter == "punkt" else _read_sentences
        parts = read(session, paper, is_abstract=False)
        note = ""
        if not any(texts for _number, _title, texts in parts):
            parts = read(session, paper, is_abstract=True)
            note = f"{source_id} has no full text{_of_source(splitter)}: these are sentences of its abstract."
    document = Document(source_id, paper["title"], tuple(_number(parts)), note)
    if not document.sentences:
        hint = "; --splitter punkt splits its text" if splitter == "source" else ""
        wanted = f"a full text nor an abstract with a sentence{_of_source(splitter)}"
        raise InputError(f"{source_id} has neither {wanted}{hint}.")
    return document


def _of_source(splitter: Splitter) -> str:
    return " that its source splits" if splitter == "source" else ""


def find_paper(session: Session, corpus: str, source_id: str) -> dict[str, Any] | None:
    """paper_id, title and abstract of a paper; None: the corpus holds no such paper."""
    columns = (papers.c.paper_id, papers.c.title, papers.c.abstract)
    of_corpus = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    wanted = (corpora.c.name == corpus, papers.c.source_id == clean_id(source_id))
    row = session.first(sa.select(*columns).select_from(of_corpus).where(*wanted))
    return None if row is None else dict(row)


def clean_id(text: str) -> str:
    """An id as the database can be asked for it: with NUL, which Postgres takes in no text, it is none."""
    return text.replace("\0", "\ufffd")


def unknown_paper(corpus: str, source_id: str) -> InputError:
    """What is said where a corpus lacks a paper."""
    return InputError(f"{corpus} holds no paper {source_id!r}; expected the source's own id of one.")


def _split_sections(session: Session, paper: dict[str, Any], *, is_abstract: bool) -> list[Part]:
    if is_abstract:
        return [(ABSTRACT, None, split_text(paper["abstract"] or ""))]
    columns = (sections.c.section_number, sections.c.title, sections.c.text)
    rows = session.rows(
        sa.select(*columns)
        .where(sections.c.paper_id == paper["paper_id"])
        .order_by(sections.c.section_number)
    )
    return [(int(row["section_number"]), row["title"], split_text(row["text"])) for row in rows]


def _read_sentences(session: Session, paper: dict[str, Any], *, is_abstract: bool) -> list[Part]:
    """The sentences that the source says, not those that a generator made."""
    said = distinct_sentences.c
    joined = distinct_sentences.outerjoin(
        sections,
        sa.and_(sections.c.paper_id == said.paper_id, sections.c.section_number == said.section_number),
    )
    part = said.section_number == ABSTRACT if is_abstract else said.section_number > ABSTRACT
    rows = session.rows(
        sa.select(said.section_number, sections.c.title, said.text)
        .select_from(joined)
        .where(said.paper_id == paper["paper_id"], said.text_digest.is_(None), part)
        .order_by(said.section_number, said.position)
    )
    return [(int(row["section_number"]), row["title"], [row["text"]]) for row in rows]


def split_text(text: str) -> list[str]:
    """The sentences of a text, none of them empty.

    >>> split_text("See Fig. 3 of Li et al. today. It ends. ")
    ['See Fig. 3 of Li et al. today.', 'It ends.']
    """
    return [text[start:end] for start, end in split_sentences(text)]


def _number(parts: Iterable[Part]) -> Iterator[Sentence]:
    """The sentences that are not white space alone, counted over the document and in each section."""
    number, within, last = 0, 0, None
    for section_number, title, texts in parts:
        within, last = (within if section_number == last else 0), section_number
        for text in texts:
            collapsed = " ".join(text.split())
            if collapsed:
                number, within = number + 1, within + 1
                yield Sentence(number, section_number, within, title, collapsed)


def read_file(path: Path, splitter: Splitter = "punkt", encoding: str = "utf-8") -> Document:
    """The sentences of a text file; a line such as `# Methods` begins a section, an empty one a paragraph.

    Raises:
        InputError: the file is missing, empty, binary or of another encoding.
    """
    text = decode_text(_read_bytes(path), path.name, encoding)
    parts: list[Part] = [(0, None, [])]
    for paragraph in _list_paragraphs(text, splitter):
        heading = _HEADING.match(paragraph)
        if heading:
            parts.append((len(parts), " ".join(heading[1].split()), []))
        else:
            parts[-1][2].extend(split_text(paragraph) if splitter == "punkt" else [paragraph])
    document = Document(path.name, None, tuple(_number(parts)))
    if not document.sentences:
        raise InputError(f"{path.name} holds no sentence; expected text.")
    return document


def _list_paragraphs(text: str, splitter: Splitter) -> Iterator[str]:
    """Headings and what stands between empty lines; each line where the lines are the sentences."""
    lines = text.splitlines()
    if splitter == "source":
        yield from lines
        return
    held: list[str] = []
    for line in chain(lines, [""]):
        is_heading = _HEADING.match(line)
        if held and (is_heading or not line.strip()):
            yield "\n".join(held)
            held = []
        if is_heading:
            yield line
        elif line.strip():
            held.append(line)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def decode_text(content: bytes, name: str, encoding: str = "utf-8") -> str:
    """The text of a file's bytes, without a byte order mark.

    Raises:
        InputError: it is empty, or no text of that encoding; the message says what it seems to be.
    """
    if not content.strip():
        raise InputError(f"{name} is empty; expected text.")
    if content.startswith(b"%PDF-"):
        raise InputError(f"{name} is a PDF; expected text, as pdftotext makes it.")
    marked = next((said for mark, said in _MARKS.items() if content.startswith(mark)), None)
    try:
        text = content.decode(encoding if encoding != "utf-8" else "utf-8-sig")
    except LookupError:
        raise InputError(
            f"there is no text encoding {encoding!r}; expected one as utf-8 or latin-1."
        ) from None
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} is {content[error.start]:#04x}"
        hint = (
            f"it begins like {marked}: give --encoding {marked}"
            if marked
            else "give its --encoding, as latin-1"
        )
        raise InputError(f"{name} is not {encoding} ({place}); {hint}, if it is text.") from None
    if "\0" in text:
        hint = f"; it may be {marked}: give --encoding {marked}" if marked else ""
        raise InputError(f"{name} holds a NUL, so it is binary; expected text{hint}.")
    return text
