"""Names of papers and encodings of documents, as the release mixes them."""

import html
import re
from pathlib import PurePosixPath
from typing import Final

from pinakes.loaders.staging import RecordError

_SUFFIXES: Final = re.compile(r"(?:-parscit\d*)?(?:\.(?:xml|txt|gz|zst))*$", re.IGNORECASE)
_ANTHOLOGY_ID: Final = re.compile(r"[A-Z]\d\d-\d{4}")
_TAG: Final = re.compile(r"</?S\b[^<>]*>")


def name_paper(written: str) -> str:
    """A paper's id from the name of its document, or from how an annotation writes it.

    >>> name_paper("C02-1050.xml"), name_paper("Q13-1024-parscit130908.xml"), name_paper("P134_n09")
    ('C02-1050', 'Q13-1024', 'P134_n09')
    """
    return _SUFFIXES.sub("", PurePosixPath(written.strip()).name)


def is_anthology_id(source_id: str) -> bool:
    """Whether the id is one of the Anthology.

    >>> is_anthology_id("C02-1050"), is_anthology_id("P134_n09")
    (True, False)
    """
    return _ANTHOLOGY_ID.fullmatch(source_id) is not None


def decode_document(raw: bytes) -> str:
    """A document as text: UTF-8, or Windows-1252 where it is not, as 52 papers of the manual topics are.

    Raises:
        RecordError: it has a byte that Windows-1252 does not know either.

    >>> decode_document(b"\\x93natural\\x94"), decode_document("ä".encode())
    ('“natural”', 'ä')
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            place = error.start
    raise RecordError("invalid_utf8", f"byte {place + 1} is neither UTF-8 nor Windows-1252")


def strip_sentence_tags(text: str) -> str:
    """A text without the `<S sid="1">` around its sentences, entities as characters, white space collapsed.

    >>> strip_sentence_tags('<S sid ="1" ssid = "1">One &amp; two.</S><S sid = 2 ssid = >Three.</S>')
    'One & two. Three.'
    """
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())
