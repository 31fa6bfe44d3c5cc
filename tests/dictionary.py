"""The data dictionary, made from the schema and a fresh database: `python -m tests.dictionary`."""

import ast
import itertools
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from pinakes.database import connect
from pinakes.schema import create
from pinakes.schema.create import VIEWS, create_schema
from tests.made_pages import write_pages

FOLDER: Final = Path(__file__).parents[1] / "docs" / "data_dictionary"
AREAS: Final = {
    "papers": "Corpora and papers",
    "citations": "Citing and cited works",
    "benchmarks": "Queries, judgments and benchmarks",
    "sampling": "Sampled and constructed benchmarks",
    "runs": "Runs and scores",
    "history": "History of scores",
    "vectors": "Vectors and indexes",
    "terms": "Terms of sparse indexes",
    "summaries": "Summaries",
    "training": "What encoders are trained on",
    "batches": "Loads",
    "create": "The schema itself",
}
"""modules of pinakes.schema in the order of the page -> headings"""

_PAGES: Final = {"create": "schema.md"}  # the others are called as their modules

_POSTGRES: Final = postgresql.dialect()  # type: ignore[no-untyped-call]

_HEAD: Final = """# Data dictionary

Made from the schema by `python -m tests.dictionary`.

Every table and view of a Pinakes database, the same on DuckDB and Postgres; types as Postgres names
them. The comments are in the database too: `\\d+ papers` in `psql`, `duckdb_columns()` in DuckDB. Keys
are in bold. A column that refers to another table holds a value of it, or null where null is allowed:
no database has foreign keys ([why](../decisions/0002-no-foreign-keys.md)), and `pinakes status --check`
counts what they would refuse. On DuckDB bulk tables have no index of their keys. A benchmark's own
views (`csfcube.queries`, …) are in the [manual](../manual/tables.md), questions to all of them in the
[cookbook](../cookbook/index.md).
"""


def render() -> dict[str, str]:
    """The pages by their paths: a first one that lists tables and views, one an area, and one of views."""
    areas = list_areas()
    pages = {"index.md": [_HEAD, *_list_all(areas)], "views.md": [*_render_views()]}
    for name, heading in AREAS.items():
        tables = [line for table in areas[name] for line in _render_table(table)]
        pages[_PAGES.get(name, f"{name}.md")] = [f"# {heading}\n", *_draw(areas[name]), *tables]
    return {path: "\n".join(lines).rstrip() + "\n" for path, lines in pages.items()}


def list_areas() -> dict[str, list[sa.Table]]:
    """Module of the schema -> its tables, in the order in which they are made there."""
    areas = {}
    for name in AREAS:
        module = import_module(f"pinakes.schema.{name}")
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        made = [node.targets[0].id for node in tree.body if _makes_table(node)]  # type: ignore[attr-defined]
        areas[name] = [getattr(module, one) for one in made]
    return areas


def _makes_table(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "sa.Table"
    )


def _list_all(areas: dict[str, list[sa.Table]]) -> Iterator[str]:
    for name, heading in AREAS.items():
        page = _PAGES.get(name, f"{name}.md")
        yield f"- [{heading}]({page}): {', '.join(_link(table.name, page) for table in areas[name])}"
    yield f"- [Views](views.md): {', '.join(_link(view, 'views.md') for view in VIEWS)}"


def _render_views() -> Iterator[str]:
    yield "# Views\n"
    columns = _read_view_columns()
    for name, comment in VIEWS.items():
        yield f"## {name}\n\n{_read_remark(name) or comment}\n"
        yield f"{', '.join(f'`{column}`' for column in columns[name])}\n"


def _draw(tables: list[sa.Table]) -> Iterator[str]:
    """A diagram of an area's tables and of those that they refer to; nothing where none refers to any."""
    lines = []
    for table in tables:
        for column in table.columns:
            for key in column.foreign_keys:
                end = "o|" if column.nullable else "||"
                many = "o|" if list(table.primary_key) == [column] else "o{"
                lines.append(f"    {key.column.table.name} {end}--{many} {table.name} : {column.name}")
    if lines:
        yield "\n".join(["```mermaid", "erDiagram", *sorted(set(lines)), "```\n"])


def _render_table(table: sa.Table) -> Iterator[str]:
    bulk = " A bulk table." if table.info.get("bulk") else ""
    yield f"## {table.name}\n\n{table.comment}{bulk}\n"
    yield "| column | type | null | meaning |\n|---|---|---|---|"
    for column in table.columns:
        name = f"**{column.name}**" if column.primary_key else column.name
        kind = column.type.compile(dialect=_POSTGRES).removesuffix(' COLLATE "C"').lower()
        meaning = str(column.comment).replace("|", "\\|")
        for key in column.foreign_keys:
            target = f"{key.column.table.name}.{key.column.name}"
            meaning = meaning.replace(
                target, _link(key.column.table.name, _find_page(key.column.table, table), target), 1
            )
        yield f"| {name} | {kind} | {'yes' if column.nullable else ''} | {meaning} |"
    yield ""


def _read_view_columns() -> dict[str, list[str]]:
    """The columns of each view, from a database that was made for it."""
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, connect(Path(folder) / "made.duckdb") as database:
        create_schema(database)
        with database.read() as session:
            for row in session.rows(
                "SELECT table_name, column_name FROM information_schema.columns "
                "WHERE table_schema = 'main' ORDER BY table_name, ordinal_position"
            ):
                found.setdefault(row["table_name"], []).append(row["column_name"])
    return found


def _read_remark(name: str) -> str:
    """What stands above the view's definition; empty where nothing does."""
    text = (Path(create.__file__).parent / "views" / f"{name}.sql").read_text(encoding="utf-8")
    lines = itertools.takewhile(lambda line: line.startswith("--"), text.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines)


def _link(name: str, page: str, text: str = "") -> str:
    return f"[{text or name}]({page}#{name})"


def _find_page(table: sa.Table, seen_from: sa.Table) -> str:
    """The page of a table; empty where it is the one that links to it."""
    areas = list_areas()
    area = next(name for name, tables in areas.items() if table in tables)
    return "" if seen_from in areas[area] else _PAGES.get(area, f"{area}.md")


if __name__ == "__main__":
    write_pages(FOLDER, render())
