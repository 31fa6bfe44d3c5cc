"""BibTeX, read entry by entry from a file of any size, and its LaTeX as plain text.

An entry begins at a line with `@type{` and ends before the next such line: one that is damaged costs no
other. Values are in braces, in quotation marks, digits, `@string` names, or several of these joined by `#`.
What stands between entries is a comment, as BibTeX has it. Of LaTeX, accents, special letters, escaped signs,
dashes, quotation marks and `~` are decoded; formatting commands leave their argument, formulas (`$...$`) and
every other command stay as they are.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pinakes.loaders.staging import RecordError

MAX_ENTRY_BYTES: Final = 4 << 20
_START: Final = re.compile(rb"\s*@\s*([A-Za-z]+)\s*[{(]")
_KEY: Final = re.compile(r"\s*@\s*([A-Za-z]+)\s*([{(])\s*([^\s,{}()=\"#]*)\s*")
_NAME: Final = re.compile(r"[\s,]*([A-Za-z][\w:.+/-]*)\s*=\s*")
_BARE: Final = re.compile(r"[^\s,{}()=\"#]+")
_GAP: Final = re.compile(r"\s*")
_MARK: Final = re.compile(r'[{}"]')
_COMBINING: Final = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331",
}  # fmt: skip
_LETTERS: Final = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø",
    "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ",
    "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "textasciitilde": "~", "textasciicircum": "^", "textbackslash": "\\",
    "textemdash": "—", "textendash": "–", "textquoteright": "’", "textquoteleft": "‘", "textquotesingle": "'",
    "textquotedblleft": "“", "textquotedblright": "”", "ldots": "…", "dots": "…", "textbar": "|",
    "textless": "<", "textgreater": ">", "textperiodcentered": "·", "S": "§", "copyright": "©",
}  # fmt: skip
_BASE: Final = r"(?:\{\s*(\\[ij]\b|[^\W\d_])\s*\}|\s*(\\[ij]\b\s?|[^\W\d_]))"
_ACCENT: Final = re.compile(r"\\(?:([`'^~=.\"])|([uvHcdbkr])(?=[\s{\\]))" + _BASE)
_LETTER: Final = re.compile(
    r"\\(" + "|".join(sorted(_LETTERS, key=len, reverse=True)) + r")(?![A-Za-z])(?:\s+|\{\})?"
)
_COMMAND: Final = re.compile(
    r"\\(?:text(?:it|bf|tt|sc|sf|rm|normal|up|sl|sub|superscript|subscript)|emph|url|mbox|href)\s*(?=\{)"
)
_SIGN: Final = re.compile(r"\\([&%$#_{} ,;:!/-])")
_TYPED: Final = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"))
_TIE: Final = re.compile(r"(?<!\\)~")
_FORMULA: Final = re.compile(r"((?<!\\)\$[^$]{1,2000}(?<!\\)\$)")
_KEPT: Final = {sign: sign for sign in "&%$#_ ,"} | {"{": "\ue000", "}": "\ue001"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: type and names of fields in small letters, values as written."""

    type: str
    key: str
    fields: Mapping[str, str]


def split_entries(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str, bytes]]:
    """The number of an entry's first line, its type in small letters, and its bytes.

    What is longer than `MAX_ENTRY_BYTES` is cut there, which `parse_entry` then finds unfinished.

    >>> list(split_entries([(1, b"% a comment"), (2, b"@Misc{a,"), (3, b" year = 1}"), (9, b"@misc{b}")]))
    [(2, 'misc', b'@Misc{a,\\n year = 1}'), (9, 'misc', b'@misc{b}')]
    """
    first, kind, parts, size = 0, "", list[bytes](), 0
    for number, line in lines:
        started = _START.match(line)
        if started is not None:
            if parts:
                yield first, kind, b"\n".join(parts)
            first, kind, parts, size = number, started[1].decode().lower(), [], 0
        if kind and size <= MAX_ENTRY_BYTES:
            parts.append(line[: MAX_ENTRY_BYTES + 1])
            size += len(line)
    if parts:
        yield first, kind, b"\n".join(parts)


def parse_entry(text: str, strings: Mapping[str, str] | None = None) -> Entry:
    """The entry that a text begins with; what follows its end is a comment.

    Args:
        text: from the `@` on.
        strings: the values of `@string` names, in small letters; unknown names stand for themselves.

    >>> parse_entry('@Article{k1, title = {A {B}}, year=1999, month = "5~" # jan}').fields
    {'title': 'A {B}', 'year': '1999', 'month': '5~jan'}
    """
    begun = _KEY.match(text)
    if begun is None:
        raise RecordError("malformed_line", f"expected @type{{key, found {text[:40]!r}")
    closing = "}" if begun[2] == "{" else ")"
    fields: dict[str, str] = {}
    place = begun.end()
    key = begun[3]
    if begun[1].lower() == "string":  # @string{name = value} has no key: what was taken for one is a name
        key, place = "", begun.start(3)
    while (named := _NAME.match(text, place)) is not None:
        value, place = _read_value(text, named.end(), strings or {})
        fields.setdefault(named[1].lower(), value)
    rest = text[place:].lstrip(" \t\r\n,")
    if not rest.startswith(closing):
        raise RecordError("malformed_line", f"expected a field or the entry's end, found {rest[:40]!r}")
    return Entry(begun[1].lower(), key, fields)


def _read_value(text: str, place: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """The value that begins at the place, joined over `#`, and where it ends."""
    parts = []
    while True:
        first = text[place : place + 1]
        if first in ("{", '"'):
            end = _find_end(text, place)
            parts.append(text[place + 1 : end])
            place = end + 1
        else:
            bare = _BARE.match(text, place)
            if bare is None:
                raise RecordError("malformed_line", f"expected a value, found {text[place : place + 40]!r}")
            parts.append(strings.get(bare[0].lower(), bare[0]))
            place = bare.end()
        gap = _GAP.match(text, place)
        following = gap.end() if gap is not None else place
        if text[following : following + 1] != "#":
            return "".join(parts), place
        gap = _GAP.match(text, following + 1)
        place = gap.end() if gap is not None else following + 1


def _find_end(text: str, start: int) -> int:
    """Where the brace or quotation mark at the start is closed; quotation marks in braces close nothing."""
    depth = 0
    is_quoted = text[start] == '"'
    for mark in _MARK.finditer(text, start + is_quoted):
        if mark[0] == '"':
            if is_quoted and depth == 0:
                return mark.start()
            continue
        depth += 1 if mark[0] == "{" else -1
        if depth < 0 or (depth == 0 and not is_quoted):
            break
    else:
        raise RecordError("malformed_line", f"a value is not closed: {text[start : start + 40]!r}")
    if depth < 0:
        raise RecordError("malformed_line", f"a brace too many in a value: {text[start : start + 40]!r}")
    return mark.start()


def split_names(value: str) -> list[str]:
    """The names of an author or editor field, each as plain text, the first name first; "others" is none.

    >>> split_names("Gelderloos, Lieke  and Chrupa{\\\\l}a, Grzegorz and {The ACL and Friends} and others")
    ['Lieke Gelderloos', 'Grzegorz Chrupała', 'The ACL and Friends']
    >>> split_names("King, Jr, Martin Luther and Donald E. Knuth")
    ['Martin Luther King Jr', 'Donald E. Knuth']
    """
    names = []
    for written in _split_outside_braces(value, re.compile(r"\s+and(?=\s)")):
        parts = [decode_latex(part) for part in _split_outside_braces(written, re.compile(","))]
        last, middle, first = parts[0], parts[1:-1], parts[1:][-1:]
        name = " ".join(part for part in (*first, last, *middle) if part)
        if name and name != "others":
            names.append(name)
    return names


def _split_outside_braces(text: str, separator: re.Pattern[str]) -> list[str]:
    parts, start, depth, counted = [], 0, 0, 0
    for found in separator.finditer(text):
        depth += text.count("{", counted, found.start()) - text.count("}", counted, found.start())
        counted = found.start()
        if depth <= 0:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def decode_latex(value: str) -> str:
    """A value as plain text, white space collapsed.

    >>> decode_latex("{\\\\'E}tude of Erd{\\\\H{o}}s \\\\& {B}ra{\\\\ss}l: 5\\\\% of $x_{1}$ --- ``so''")
    'Étude of Erdős & Braßl: 5% of $x_{1}$ — “so”'
    """
    pieces = _FORMULA.split(value)
    decoded = (piece if number % 2 else _decode_text(piece) for number, piece in enumerate(pieces))
    return " ".join("".join(decoded).split())


def _decode_text(text: str) -> str:
    text = _ACCENT.sub(_compose, _ACCENT.sub(_compose, text))  # twice, for a letter with two accents
    for typed, meant in _TYPED:
        text = text.replace(typed, meant)
    text = _TIE.sub(" ", text)
    text = _LETTER.sub(lambda found: _LETTERS[found[1]], text)
    text = _SIGN.sub(lambda found: _KEPT.get(found[1], ""), _COMMAND.sub("", text))
    return text.replace("{", "").replace("}", "").replace("\ue000", "{").replace("\ue001", "}")


def _compose(found: re.Match[str]) -> str:
    base = (found[3] or found[4]).strip()
    accent = _COMBINING[found[1] or found[2]]
    # The dotless letters exist to carry an accent; Unicode composes it with the dotted ones.
    return unicodedata.normalize("NFC", base.lstrip("\\") + accent)
