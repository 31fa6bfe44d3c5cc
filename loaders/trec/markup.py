"""What TREC's documents and topics share: bytes into text, tags and entities taken out of it."""

import codecs
import html
import re
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import Options
from pinakes.loaders.reading.streams import decode_utf8
from pinakes.loaders.staging import RecordError

ENCODING_HELP: Final = "how documents and topics are encoded, as latin-1 or cp1252 (utf-8)"
HEAD_BYTES: Final = 1 << 16
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")
_NAMES: Final = re.compile(r"&(hyph|blank|sp);")
_MEANT: Final = {"hyph": "-", "blank": " ", "sp": " "}
"""names of TREC's DTDs that are none of HTML's"""


def find_encoding(options: Options, head: bytes) -> str:
    """The encoding that the option names, else the file's XML declaration, else UTF-8.

    >>> find_encoding({}, b'<?xml version="1.0" encoding="ISO-8859-1"?><topics>')
    'iso8859-1'
    """
    declared = _DECLARED.search(head)
    name = options.get("encoding") or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        return codecs.lookup(name).name
    except LookupError as error:
        raise InputError(
            f"encoding={name!r}: there is no such encoding; expected utf-8, latin-1, …"
        ) from error


def decode(raw: bytes, encoding: str) -> str:
    """The bytes as text; a `RecordError` that names the option where they are of another encoding."""
    try:
        return decode_utf8(raw) if encoding == "utf-8" else raw.decode(encoding)
    except RecordError as error:
        raise RecordError(
            error.reason, f"{error}; if it is Latin-1, say --option encoding=latin-1"
        ) from error
    except UnicodeDecodeError as error:
        raise RecordError("invalid_utf8", f"byte {error.start + 1} is not {encoding}") from error


def drop_comments(text: str) -> str:
    """The text without comments, and with what CDATA sections hold written as entities.

    >>> drop_comments("a<!-- b --> <![CDATA[c < d]]><!-- e")
    'a  c &lt; d<!-- e'
    """
    # A search for an end that is not there would read the rest of a text again for each beginning.
    for mark, end, pattern, replace in _SECTIONS:
        stop = text.rfind(end) + len(end) if mark in text else 0
        if stop >= len(end):
            text = pattern.sub(replace, text[:stop]) + text[stop:]
    return text


_SECTIONS: Final = (
    ("<![CDATA[", "]]>", _CDATA, lambda found: html.escape(found[1], quote=False)),
    ("<!--", "-->", _COMMENT, lambda _found: " "),
)
"""how a section begins and ends, and what becomes of it"""


def strip_markup(text: str) -> str | None:
    """The text without tags and comments, entities resolved, white space collapsed; None if nothing is left.

    >>> strip_markup("<P>\\nAT&amp;T&hyph;led <!-- PJG -->growth</P>")
    'AT&T-led growth'
    """
    if "<" in text:
        text = _TAG.sub(" ", drop_comments(text))
    if "&" in text:
        text = html.unescape(_NAMES.sub(lambda found: _MEANT[found[1]], text))
    return " ".join(text.split()) or None
