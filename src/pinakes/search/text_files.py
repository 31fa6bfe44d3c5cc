"""A text file, which is in no corpus, as a document."""

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.search.documents import Document, Part, Splitter, number_sentences, split_text

_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*\Z")


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
    document = Document(path.name, None, tuple(number_sentences(parts)))
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
