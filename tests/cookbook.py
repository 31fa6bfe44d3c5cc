"""The cookbook, made from the recipes: `python -m tests.cookbook`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pinakes.recipes import Recipe, read_sections

PAGE: Final = Path(__file__).parents[1] / "docs" / "cookbook.md"

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

`--print-query` prints the query, to be changed. Below stand the queries with values of an example. Paste
one into `pinakes sql "…"`, into `psql`, into the DuckDB shell, or into a notebook; the
[manual](manual/tables.md) explains the tables. A benchmark's views live in the schema of its
name, so `csfcube.queries` is a view and `queries` alone is nothing.

Four habits keep a query portable: `CAST(x AS DECIMAL(6, 4))` instead of `ROUND(x, 4)`, which Postgres lacks
for floating point; a decimal point in a division (`100.0 * a / b`), since Postgres divides whole numbers to
whole numbers; an alias for every computed column; and an `ORDER BY` that leaves no ties.
"""


def render() -> str:
    """The page."""
    return "\n".join([_HEAD, *_render_all()])


def _render_all() -> Iterator[str]:
    for section in read_sections():
        yield f"## {section.title}\n"
        if section.text:
            yield f"{section.text}\n"
        for recipe in section.recipes:
            yield from _render(recipe)


def _render(recipe: Recipe) -> Iterator[str]:
    yield f"### {recipe.question}\n"
    if recipe.why:
        yield f"{recipe.why}\n"
    given = [f"{one.name}={one.example}" for one in recipe.parameters]
    yield f"`{' '.join(['pinakes sql --recipe', recipe.name, *given])}`\n"
    yield f"```sql\n{recipe.write_example()}```\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
