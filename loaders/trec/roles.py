"""What a file of a TREC collection holds, told by its content, and by its name where that is not enough."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Final

from pinakes.errors import OtherContentError
from pinakes.loaders.medline_text import begins_medline
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.qrels import parse_grade, read_header
from pinakes.loaders.smart.ohsumed import HEAD as OHSUMED_HEAD
from pinakes.loaders.staging import UnreadReason
from pinakes.loaders.trec.markup import HEAD_BYTES

_DOCUMENTS: Final = re.compile(rb"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_TOPICS: Final = re.compile(rb"<(?:top|topics?|queries|query)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_NUMBERED: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\d+>\s*[^\s<]")
"""Genomics' topics from 2005 on: `<100>Describe …`"""
_TOPIC_NAME: Final = re.compile(r"topic|quer")
_QRELS_NAME: Final = re.compile(r"qrel")
_TOPIC_LINE: Final = re.compile(r"[^\s:]+(?:\t|:)\s*\S.*")
_FEWEST, _MOST, _RUN = 3, 5, 6
"""columns of a relevance list, and of a run"""


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a file; without one, why it is not read."""

    name: str = ""
    reason: UnreadReason = "other_content"
    message: str = ""


def find_role(name: str, stream: IO[bytes]) -> Role:
    """The role of a file by its first bytes; `empty` where there are none."""
    try:
        head = stream.read(HEAD_BYTES)
    except OtherContentError as error:
        return Role(message=str(error).removesuffix("."))
    if not head.strip():
        return Role(reason="empty")
    plain = strip_compression(PurePosixPath(name).name.lower())
    if begins_medline(head) or OHSUMED_HEAD.match(head):
        return Role("papers")
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _find_markup(head)
    lines = _list_lines(head)
    widths = {len(line.split()) for line in lines}
    if _QRELS_NAME.search(plain) and 2 * sum(map(_is_judgment, lines)) > len(lines):
        return Role("judgments")
    if _TOPIC_NAME.search(plain) and all(_TOPIC_LINE.fullmatch(line) for line in lines):
        return Role("queries")
    if len(widths) == 1 and _FEWEST <= (width := widths.pop()) <= _RUN:
        if width == _RUN and _is_number(lines[0].split()[4]):
            return Role(message="a run; it is for pinakes import-run")
        if width <= _MOST and all(_is_judgment(line) for line in lines):
            return Role("judgments")
    return Role()


def _find_markup(head: bytes) -> Role:
    documents, topics = _DOCUMENTS.search(head), _TOPICS.search(head)
    if _NUMBERED.match(head):
        return Role("queries")
    if documents is not None and (topics is None or documents.start() < topics.start()):
        return Role("papers")
    return Role("queries") if topics is not None else Role()


def _list_lines(head: bytes) -> list[str]:
    """The whole lines at the beginning, without comments, empty ones and a header."""
    whole = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    lines = [line.strip() for line in whole.decode("utf-8", "replace").splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    return kept[1:] if kept and read_header(kept[0].split()) else kept


def _is_judgment(line: str) -> bool:
    return parse_grade(line.split()[-1]) is not None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
