"""SQL files of named blocks: `-- name: block`, then one statement."""

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: ([\w.]+)\n", re.MULTILINE)


def parse_blocks(text: str) -> dict[str, str]:
    """The statements of a file of named blocks, by name.

    >>> parse_blocks("-- About both.\\n\\n-- name: one\\nSELECT 1\\n\\n-- name: two\\nSELECT 2\\n")
    {'one': 'SELECT 1', 'two': 'SELECT 2'}
    """
    parts = _NAME.split(text)[1:]
    return {name: statement.strip() for name, statement in zip(parts[::2], parts[1::2], strict=True)}


@cache
def read_blocks(package: str, *path: str) -> dict[str, str]:
    """The named statements of a packaged SQL file."""
    return parse_blocks(files(package).joinpath(*path).read_text(encoding="utf-8"))
