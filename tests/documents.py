"""The documentation as data: fenced blocks, command lines, tables, links and headings of Markdown files.

Leaves out: whether what they say is true (`tests/acceptance/test_documentation.py`).
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TUTORIALS = sorted(ROOT.glob("docs/tutorials/*.md"))
MANUAL = sorted([ROOT / "docs" / "index.md", *TUTORIALS, *ROOT.glob("docs/manual/*.md")])
"""the pages that are written by hand; those of `docs/reference` are made"""
COOKBOOK = sorted(ROOT.glob("docs/cookbook/*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_OPERATORS = re.compile(r"[|&;]+|.*[<>].*")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it begins (`docs/manual/sql.md:12`), its language and its text."""

    place: str
    language: str
    text: str


def read_blocks(path: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a file in these languages, in order."""
    content = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return [
        Block(f"{name}:{content.count(chr(10), 0, found.start()) + 1}", found[1], found[2])
        for found in _FENCE.finditer(content)
        if found[1] in languages
    ]


def read_prose(path: Path) -> str:
    """The file without its fenced blocks."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def read_manual() -> str:
    """The manual's pages without their fenced blocks, one behind the other."""
    return "\n".join(map(read_prose, MANUAL))


def list_commands(block: Block, program: str) -> Iterator[list[str]]:
    """The arguments of each call of a program in a block of shell lines.

    >>> lines = "cd x && pinakes run a -s b > log 2>&1  # twice\\nmake demo\\n"
    >>> list(list_commands(Block("", "sh", lines), "pinakes"))
    [['run', 'a', '-s', 'b']]
    """
    for line in block.text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        call: list[str] = []
        for word in [*lexer, ";"]:
            if not _OPERATORS.fullmatch(word):
                call.append(word)
                continue
            if program in call[:2] and call[0] != "import":  # the first word, or behind a prompt
                yield call[call.index(program) + 1 :]
            call = []


def list_tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a text, each its rows without the ruler, each row its cells.

    >>> list(list_tables("a\\n\\n| x | y |\\n|:--|--:|\\n| 1 | 2 |\\n"))
    [[['x', 'y'], ['1', '2']]]
    """
    for found in re.finditer(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()]
        yield [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]


def list_links(path: Path) -> list[str]:
    """The targets of a file's links to other files and headings, without those to the web."""
    targets = re.findall(r"\]\(([^)\s]+)\)", read_prose(path))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def list_anchors(path: Path) -> set[str]:
    """The anchors of a file's headings, as GitHub makes them.

    >>> "the-first-five-minutes" in list_anchors(README)
    True
    """
    return set(map(make_anchor, re.findall(r"^#+ (.*)$", read_prose(path), re.MULTILINE)))


def make_anchor(heading: str) -> str:
    """The anchor of a heading.

    >>> make_anchor("How large is each corpus?")
    'how-large-is-each-corpus'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
