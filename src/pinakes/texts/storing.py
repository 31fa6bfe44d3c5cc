"""The rows that a generator has made, put in the place of its older rows of the same papers and codes."""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import PinakesError
from pinakes.schema import absent_variants, paper_variants, papers
from pinakes.texts.generator import Generator

_OURS: Final = ("producer", "text_digest")
_replaced: Final = sa.table("staged_keys", sa.column("paper_id", sa.BigInteger), sa.column("code", sa.Text))


def store_derived(session: Session, generator: Generator, texts: pa.Table, made: pa.Table) -> int:
    """Put the rows in the place of the generator's rows of these papers; the number of rows that are in.

    `texts`, as `read_texts` gives them, is what `made` was made of. A paper that is gone since gets no rows;
    rows of a text that changed since are stale. Of a generator with codes only the rows of codes that were
    made are replaced. Raises `PinakesError` for rows of another paper or section, two with one key, or a
    code without a row; or where what the rows were made with holds no more.
    """
    if not texts.num_rows:
        return 0
    _refuse_defects(generator, texts, made)
    if not generator.still_holds(session):
        raise PinakesError(
            f"what {generator.producer} makes its rows with has changed: another process has made some "
            "since. Start the same command again; what is in stays."
        )
    keys = made.select(["paper_id", "code"]) if generator.codes else texts.select(["paper_id"])
    with session.staged({_replaced.name: keys}):
        asked = sa.select(papers.c.paper_id).where(
            papers.c.paper_id.in_(sa.select(_replaced.c.paper_id)), _between(papers, texts)
        )
        held = session.fetch_arrow(asked)["paper_id"].combine_chunks()
        for table in _list_tables(generator):
            session.execute(_delete_older(table, generator, texts))
    rows = made.filter(pc.is_in(made["paper_id"], value_set=held))
    read = pc.index_in(rows["paper_id"], value_set=texts["paper_id"].combine_chunks())
    rows = rows.append_column("text_digest", texts["text_digest"].take(read))
    rows = rows.append_column("producer", pa.repeat(pa.scalar(generator.producer), rows.num_rows))
    if not generator.codes:
        return _insert(session, generator.table, rows)
    is_variant = pc.is_null(rows["reason"])
    _insert(session, absent_variants, rows.filter(pc.invert(is_variant)))
    _insert(session, paper_variants, rows.filter(is_variant))
    return int(rows.num_rows)


def _list_tables(generator: Generator) -> tuple[sa.Table, ...]:
    return (paper_variants, absent_variants) if generator.codes else (generator.table,)


def _delete_older(table: sa.Table, generator: Generator, texts: pa.Table) -> sa.Delete:
    same = [
        table.c[name] == _replaced.c[name] for name in ("paper_id", *(["code"] if generator.codes else []))
    ]
    is_replaced = sa.exists().where(*same)
    return sa.delete(table).where(table.c.producer == generator.producer, _between(table, texts), is_replaced)


def _between(table: sa.Table, texts: pa.Table) -> sa.ColumnElement[bool]:
    """That a row is of papers from the first to the last: DuckDB then leaves most of a large table unread."""
    bounds = pc.min_max(texts["paper_id"])
    return table.c.paper_id.between(bounds["min"].as_py(), bounds["max"].as_py())


def _insert(session: Session, table: sa.Table, rows: pa.Table) -> int:
    return session.insert(table, rows.select([c.name for c in table.columns if c.name in rows.column_names]))


def _refuse_defects(generator: Generator, texts: pa.Table, made: pa.Table) -> None:
    key = [column.name for column in generator.table.primary_key if column.name not in _OURS]
    problem = None
    if set(made["paper_id"].to_pylist()) - set(texts["paper_id"].to_pylist()):
        problem = "rows of papers that it was not given"
    elif "section_number" in made.column_names and set(made["section_number"].to_pylist()) - {0}:
        problem = "sentences of another section than the abstract (0)"
    elif made.group_by(key).aggregate([]).num_rows < made.num_rows:
        problem = f"two rows with the same {', '.join(key)}"
    elif generator.codes and _list_keys(made, "code") != _list_keys(texts, "codes"):
        problem = "other codes than it was asked for"
    if problem:
        raise PinakesError(f"{generator.producer} has made {problem}: it has a defect, please report it.")


def _list_keys(rows: pa.Table, column: str) -> set[tuple[int, str]]:
    """The pairs of paper and code, of a column that holds one code or several, joined by commas."""
    pairs = zip(rows["paper_id"].to_pylist(), rows[column].to_pylist(), strict=True)
    return {(paper_id, code) for paper_id, codes in pairs for code in codes.split(",") if code}
