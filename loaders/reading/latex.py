"""LaTeX in titles, names and abstracts as plain text.

Decoded are accents, special letters, escaped signs, dashes, quotation marks and `~`; formatting commands
leave their argument, formulas (`$...$`) and every other command stay as they are.
"""

import re
import unicodedata
from typing import Final

_COMBINING: Final = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
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
_KEPT: Final = {
    "&": "&",
    "%": "%",
    "$": "$",
    "#": "#",
    "_": "_",
    "{": "\ue000",
    "}": "\ue001",
    " ": " ",
    ",": " ",
}


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
