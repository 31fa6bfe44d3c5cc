"""The manual's page on Python, made from signatures and docstrings: `python -m tests.python_manual`."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pinakes.answers import Records, Result, Searcher
from pinakes.api import Connection, connect

PAGE: Final = Path(__file__).parents[1] / "docs" / "python.md"
METHODS: Final = (
    "init",
    "load",
    "import_corpora",
    "index",
    "train",
    "compare_methods",
    "run",
    "evaluate",
    "accept",
    "compare",
    "search",
    "searcher",
    "explain",
    "export_partitioned",
)
"""of a connection, each called as the command of its name"""

_HEAD: Final = """# Pinakes from Python

Made from the docstrings of `pinakes.api` by `python -m tests.python_manual`.

```python
import pinakes

db = pinakes.connect("papers.duckdb")
db.sql("SELECT year, COUNT(*) AS papers FROM papers GROUP BY year ORDER BY year").pandas()
db.search("scifact", "vitamin D and bone density", k=5)
db.searcher("scifact").search(["vitamin D and bone density", "statins"], k=5)  # many texts in one process

work = pinakes.connect("papers.duckdb", read_only=False)
work.load("beir", "scifact")
work.index("scifact", system="bm25")
work.run("scifact", system="bm25")
work.evaluate("scifact").pandas()
```

A connection opens the database for each call alone, so that a notebook that is left open holds no DuckDB
file. The methods take the arguments and options of the commands of their names, `-` and spaces written as
`_`; `option` is a dict. Where a command prints rows, they give the rows that it prints with `--json`. Every
error is a `pinakes.PinakesError`, with the words that the command would say.
[first_steps.ipynb](first_steps.ipynb) is a notebook to begin with; the [manual](index.md) says what commands
and options mean.
"""


def render() -> str:
    """The page."""
    return "\n".join([_HEAD, *_render_all()])


def _render_all() -> Iterator[str]:
    yield _render("pinakes.connect", connect)
    yield f"## Connection\n\n{_read_doc(Connection)}\n"
    for name in ("sql", "recipe", *METHODS):
        yield _render(f"Connection.{name}", getattr(Connection, name))
    yield f"## Searcher\n\n{_read_doc(Searcher)}\n"
    yield _render("Searcher.search", Searcher.search)
    for kind in (Result, Records):
        yield f"## {kind.__name__}\n\n{_read_doc(kind)}\n"
        yield "| method | gives |\n|---|---|"
        for name in ("arrow", "pandas", "polars", "records", "columns"):
            if member := getattr(kind, name, None):
                yield f"| `{name}{'' if isinstance(member, property) else '()'}` | {inspect.getdoc(member)} |"
        yield ""


def _render(name: str, function: Callable[..., object]) -> str:
    shown = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    lines = [f"    {one}," for one in shown]
    first = next((n for n, one in enumerate(shown) if one.kind == one.KEYWORD_ONLY), len(shown))
    if first < len(shown):
        lines.insert(first, "    *,")
    returned = inspect.signature(function).return_annotation
    said = returned if isinstance(returned, str) else returned.__name__
    code = "\n".join([f"{name}(", *lines, f") -> {said}"])
    return f"## {name}\n\n```text\n{code}\n```\n\n{_read_doc(function)}\n"


def _read_doc(thing: object) -> str:
    """A docstring in Markdown: its sections are lists."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    shown: list[str] = []
    is_list = False
    for line in lines:
        if line in ("Args:", "Raises:", "Attributes:"):
            is_list = True
            shown += [f"{line[:-1]}:", ""]
        elif is_list and (found := re.fullmatch(r"    (\w+): (.*)", line)):
            shown.append(f"- `{found[1]}`: {found[2]}")
        elif is_list and line.strip():
            shown[-1] += f" {line.strip()}"
        else:
            shown.append(line)
    return "\n".join(shown)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
