"""Sentences of a running text, and the sentence that a mention stands in, with offsets.

A splitter by rule, so that the same text always gives the same contexts: a full stop, question or
exclamation mark ends a sentence when white space follows and then no small letter; not after "et al.",
"Fig.", "e.g.", initials and the like; a citation marker that follows the full stop ("shown.12",
"shown.[3]") belongs to the sentence before it. The", which it takes for an initial,
and languages that write sentences in another way than by these marks.
"""

import re
from functools import lru_cache
from typing import Final

MAX_CONTEXT: Final = 4_000
"""A sentence longer than this many characters is cut around the mention: it is a table or a damaged text."""

# A run of marks is tried from its first mark only, and never given back: linear on any text.
_END: Final = re.compile(
    r"(?<![.!?])[.!?]++[\"'”’»)\]]*+"
    r"(?:(?<=[a-z)\]][.])(?:\[\d[^\[\]\s]{0,40}\]|\d{1,3}(?:[,–-]\d{1,3}){0,20}))?(?=\s)"
    r"|[。！？]|\n\s*\n"
)
_NEXT: Final = re.compile(r"\S")
_BEFORE_WORD: Final = re.compile(r"[\s(\[{“\"'‘/–—-]")
_MAX_WORD: Final = 16

# fmt: off
_ABBREVIATIONS: Final = frozenset({
    "al", "alg", "app", "approx", "ca", "cf", "chap", "conf", "def", "dept", "dr", "ed", "eds", "eq",
    "eqn", "eqns", "eqs", "fig", "figs", "incl", "int", "jr", "lem", "mr", "mrs", "ms", "proc", "prof",
    "prop", "ref", "refs", "resp", "sec", "sect", "sp", "spp", "st", "subsp", "suppl", "tab", "tabs",
    "thm", "trans", "univ", "var", "ver", "viz", "vs",
})
_BEFORE_NUMBERS: Final = frozenset({
    "apr", "art", "aug", "ch", "col", "dec", "feb", "jan", "jul", "jun", "mar", "no", "nos", "nov",
    "oct", "p", "pp", "sept", "vol", "vols",
})
# fmt: on


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The [start, end) of each sentence of the text, in order, without the white space around it.

    >>> text = "We follow Lee et al. (2019). See Fig. 2! So it is."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['We follow Lee et al. (2019).', 'See Fig. 2!', 'So it is.']
    """
    return list(_split(text))


def find_context(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The sentence that holds the mention `text[start:end]`, and the mention's offsets in it.

    A mention that reaches over several sentences gets them all; one outside the text an empty context.

    >>> find_context("One thing. Another (Lee, 2019) too. A third.", 19, 30)
    ('Another (Lee, 2019) too.', 8, 19)
    """
    end = max(0, min(end, len(text)))
    start = max(0, min(start, end))
    touched = [span for span in _split(text) if span[0] < max(end, start + 1) and span[1] > start]
    first, last = (touched[0][0], touched[-1][1]) if touched else (start, end)
    first, last = min(first, start), max(last, end)
    if last - first > MAX_CONTEXT:
        first, last = _cut_around(first, last, start, end)
    context = text[first:last]
    kept = context.strip()
    first += len(context) - len(context.lstrip())
    start, end = (min(max(0, place - first), len(kept)) for place in (start, end))
    return kept, start, end


def _cut_around(first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """The [first, last) shortened to `MAX_CONTEXT` characters with the mention in its middle.

    >>> _cut_around(0, 9_000, 4_998, 5_002)
    (3000, 7000)
    """
    room = max(0, MAX_CONTEXT - (end - start))
    first = max(first, start - room // 2)
    return first, min(last, first + MAX_CONTEXT)


@lru_cache(maxsize=4)  # a paragraph is asked once for each of its mentions
def _split(text: str) -> tuple[tuple[int, int], ...]:
    spans = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match):
            spans.append((start, match.end()))
            start = match.end()
    spans.append((start, len(text)))
    stripped = (_strip_span(text, *span) for span in spans)
    return tuple(span for span in stripped if span[0] < span[1])


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    if text[match.start()] not in ".!?":
        return True
    following = _NEXT.search(text, match.end())
    if following is None or following.group().islower():
        return following is None
    if text[match.start()] != "." or match.group().startswith(".."):
        return True
    before = text[max(start, match.start() - _MAX_WORD) : match.start()]
    word = _BEFORE_WORD.split(before)[-1].casefold()
    if word.isdigit() and not text[start : match.start() - len(word)].strip():
        return False  # the number of a list's item, not a sentence
    return not _is_abbreviation(word, following.group())


def _is_abbreviation(word: str, following: str) -> bool:
    """Whether the full stop after the word is the word's own.

    >>> _is_abbreviation("fig", "A"), _is_abbreviation("no", "5"), _is_abbreviation("no", "T")
    (True, True, False)
    >>> _is_abbreviation("j.k", "R"), _is_abbreviation("model", "W")
    (True, False)
    """
    if word in _ABBREVIATIONS or (word in _BEFORE_NUMBERS and following.isdigit()):
        return True
    return bool(word) and all(len(part) == 1 and part.isalpha() for part in word.split("."))


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
