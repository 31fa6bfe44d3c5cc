"""The cookbook, made from the recipes: `python -m tests.cookbook`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pinakes.recipes import Recipe, Section, read_sections
from tests.documents import make_anchor
from tests.made_pages import write_pages

FOLDER: Final = Path(__file__).parents[1] / "docs" / "cookbook"

_HEAD: Final = """# SQL cookbook

Made from `src/pinakes/recipes` by `python -m tests.cookbook`.

Questions that people ask a Pinakes database, each with one sentence and one query. Every query runs
unchanged on DuckDB and on Postgres and gives the same rows on both; a test runs all of them on both. Ask
one by its name, with the benchmark, corpus and systems of your own:

```sh
pinakes sql --recipes
pinakes sql --recipe hard-queries benchmark=csfcube measure=AP limit=5
pinakes sql --recipe hard-queries benchmark=csfcube measure=AP --print-query
```

`--print-query` prints the query, to be changed. The pages have the queries with values of an example. Paste
one into `pinakes sql "…"`, into `psql`, into the DuckDB shell, or into a notebook; the
[manual](../manual/tables.md) explains the tables. A benchmark's views live in the schema of its
name, so `csfcube.queries` is a view and `queries` alone is nothing.

Four habits keep a query portable: `CAST(x AS DECIMAL(6, 4))` instead of `ROUND(x, 4)`, which Postgres lacks
for floating point; a decimal point in a division (`100.0 * a / b`), since Postgres divides whole numbers to
whole numbers; an alias for every computed column; and an `ORDER BY` that leaves no ties.
"""


def render() -> dict[str, str]:
    """The pages by their paths: a first one that lists the questions, and one a section."""
    pages = {"index.md": "\n".join([_HEAD, *_list_questions()]).rstrip() + "\n"}
    for section in read_sections():
        lines = [f"# {section.title}\n"]
        if section.text:
            lines.append(f"{section.text}\n")
        lines += [line for recipe in section.recipes for line in _render(recipe)]
        pages[name_page(section)] = "\n".join(lines)
    return pages


def _list_questions() -> Iterator[str]:
    for section in read_sections():
        yield f"## {section.title}\n"
        for recipe in section.recipes:
            place = f"{name_page(section)}#{make_anchor(recipe.question)}"
            yield f"- [{recipe.question}]({place}): `{recipe.name}`"
        yield ""


def name_page(section: Section) -> str:
    """The file of a section's page."""
    return f"{make_anchor(section.title).replace('-', '_')}.md"


def _render(recipe: Recipe) -> Iterator[str]:
    yield f"## {recipe.question}\n"
    if recipe.why:
        yield f"{recipe.why}\n"
    given = [f"{one.name}={one.example}" for one in recipe.parameters]
    yield f"`{' '.join(['pinakes sql --recipe', recipe.name, *given])}`\n"
    yield f"```sql\n{recipe.write_example()}```\n"


if __name__ == "__main__":
    write_pages(FOLDER, render())
