"""SQL text: files of named blocks (`-- name: block`, then one statement), and texts quoted."""

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^--[ \t]*name:[ \t]*([\w.]+)[ \t]*(?:\n|\Z)", re.MULTILINE)


def list_blocks(text: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands before the first block, and the blocks in their order: name, statement.

    >>> list_blocks("-- About.\\n-- name: one\\nSELECT 1\\n\\n-- name: one\\nSELECT 2\\n")
    ('-- About.', [('one', 'SELECT 1'), ('one', 'SELECT 2')])
    """
    head, *parts = _NAME.split(text)
    statements = [part.strip() for part in parts[1::2]]
    return head.strip(), list(zip(parts[::2], statements, strict=True))


def parse_blocks(text: str) -> dict[str, str]:
    """The statements of a file of named blocks, by name.

    >>> parse_blocks("-- About both.\\n\\n-- name: one\\nSELECT 1\\n\\n-- name: two\\nSELECT 2\\n")
    {'one': 'SELECT 1', 'two': 'SELECT 2'}
    """
    return dict(list_blocks(text)[1])


@cache
def read_blocks(package: str, *path: str) -> dict[str, str]:
    """The named statements of a packaged SQL file."""
    return parse_blocks(files(package).joinpath(*path).read_text(encoding="utf-8"))


def quote_text(text: str) -> str:
    """A text as SQL has it.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
