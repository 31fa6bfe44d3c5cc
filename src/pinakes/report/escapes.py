"""Control characters and marks of direction in what is printed: written out, so that they steer nothing.

A mark of direction (U+202E and its like) turns round what stands behind it, on a terminal as on a page: a
title could then be read as what it is not.
"""

from typing import Final

_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_INVISIBLE: Final = (0x200B, 0x2028, 0x2029, 0x2060, 0xFEFF, *range(0xFFF9, 0xFFFC), 0xE0001)
_TAGS: Final = range(0xE0020, 0xE0080)
_LINES: Final = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
_MARKS: Final = {
    **{code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in _LINES},
    **{code: f"\\u{code:04x}" for code in (*_DIRECTIONS, *_INVISIBLE) if code < 0x10000},
    **{code: f"\\U{code:08x}" for code in (0xE0001, *_TAGS)},
}
_CONTROLS: Final = {**_MARKS, **_LINES}


def escape_controls(text: str) -> str:
    """The text on one line, with control characters and marks of direction written out.

    >>> escape_controls("a\\x1b[2Jb\\n"), escape_controls("a\\u202eb")
    ('a\\\\x1b[2Jb\\\\n', 'a\\\\u202eb')
    """
    return text.translate(_CONTROLS)


def escape_marks(text: str) -> str:
    """As `escape_controls`, but line ends and tabs stay.

    >>> escape_marks("a\\nb\\x00")
    'a\\nb\\\\x00'
    """
    # all marks are of the categories that are not printable, and nearly every text is
    return text if text.replace("\n", "").isprintable() else text.translate(_MARKS)
