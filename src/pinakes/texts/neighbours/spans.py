"""Parts of a text deleted or replaced; every other character stays as it is."""

import re
from collections.abc import Iterable, Sequence

_WHITE_SPACE = re.compile(r"\s*")


def replace_spans(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """The text with each (start, end, what stands there instead); spans ascend and do not overlap.

    >>> replace_spans("We train", [(0, 2, "They")])
    'They train'
    """
    pieces: list[str] = []
    at = 0
    for start, end, instead in replacements:
        pieces += (text[at:start], instead)
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def delete_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without the spans, which ascend, do not overlap and are not empty.

    Where a deletion leaves two runs of white space side by side they become the first of them; where it is at
    the text's start or end, the white space there goes.

    >>> delete_spans("in NLP.", [(3, 6)])
    'in .'
    >>> delete_spans("We introduce a  representation", [(13, 14)])
    'We introduce representation'
    >>> delete_spans("deep robust embeddings", [(0, 4), (12, 22)])
    'robust'
    """
    if not spans:
        return text
    pieces: list[str] = []
    at = 0
    is_behind_space = False
    for start, end in spans:
        if start > at:
            pieces.append(text[at:start])
            is_behind_space = text[start - 1].isspace()
        at = _skip_white_space(text, end) if is_behind_space and text[end : end + 1].isspace() else end
    pieces.append(text[at:])
    left = "".join(pieces)
    if _skip_white_space(text, 0) >= spans[0][0]:
        left = left.lstrip()
    if _skip_white_space(text, spans[-1][1]) == len(text):
        left = left.rstrip()
    return left


def _skip_white_space(text: str, start: int) -> int:
    found = _WHITE_SPACE.match(text, start)
    return found.end() if found else start
