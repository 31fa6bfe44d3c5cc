"""What can be seen of a user's query before the database reads it: whether it asks for a plan, what it calls.

None of this takes SQL apart; where it cannot be sure, it takes a query for more than it is.
"""

import re
import string
from typing import Final

EXPLAIN: Final = "EXPLAIN"
_LEADING: Final = re.compile(r"(?:\s+|--[^\n\r]*|/\*(?:(?!/\*|\*/).)*\*/)*", re.DOTALL)
# No comments within: one that is nested would be read in another way by the database.
_EXPLAIN: Final = re.compile(
    r"explain(?:\s*\([\w\s,]*\)|(?:\s+(?:analy[sz]e|verbose)\b)*)", re.IGNORECASE | re.ASCII
)
_SHOW: Final = re.compile(r"show\s", re.IGNORECASE | re.ASCII)
# A comment behind a name may hide a bracket behind it.
_CALL: Final = re.compile(r'(?<![\w$])([^\W\d][\w$]*+)"?+\s*+(?=\(|/\*|--)')
_UNICODE_NAME: Final = re.compile(r'u&\s*"', re.IGNORECASE)
_NAME_BYTES: Final = 63
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def find_explained(text: str) -> str | None:
    """What an EXPLAIN explains, comments before it left out; None of any other text.

    >>> find_explained("-- a plan\\nEXPLAIN (ANALYZE, FORMAT json) SELECT 1")
    ' SELECT 1'
    >>> find_explained("explain analyze select 1"), find_explained("SELECT 1")
    (' select 1', None)
    """
    start = _skip_leading(text)
    found = _EXPLAIN.match(text, start)
    return None if found is None else text[found.end() :]


def is_show(text: str) -> bool:
    """Whether a text is a SHOW.

    >>> is_show(" show work_mem"), is_show("SELECT 1")
    (True, False)
    """
    return _SHOW.match(text, _skip_leading(text)) is not None


def find_calls(text: str) -> set[str]:
    """Every name that a function may be called by, as Postgres stores names; also what only looks so.

    >>> sorted(find_calls('SELECT Count(*), "Odd" (1), set_config/**/(1) FROM t'))
    ['Count', 'Odd', 'count', 'odd', 'set_config']
    """
    written = {name.encode()[:_NAME_BYTES].decode(errors="ignore") for name in _CALL.findall(text)}
    return written | {name.translate(_LOWER) for name in written}


def has_unicode_names(text: str) -> bool:
    r"""Whether a name may be written as `U&"\0061"`, so that what it calls cannot be seen."""
    return _UNICODE_NAME.search(text) is not None


def _skip_leading(text: str) -> int:
    found = _LEADING.match(text)
    return found.end() if found else 0
