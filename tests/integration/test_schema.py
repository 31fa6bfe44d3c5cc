"""The schema is one truth on both databases."""

import re
from importlib.resources import files

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.errors import SchemaVersionError
from pinakes.schema import SCHEMA_VERSION, check_schema, create_schema, metadata
from pinakes.schema.integrity import list_integrity_checks

COLUMNS = """
SELECT table_name, column_name, ordinal_position, is_nullable
FROM information_schema.columns
WHERE table_schema = CURRENT_SCHEMA()
ORDER BY table_name, ordinal_position
"""

TYPES = """
SELECT table_name, column_name, LOWER(data_type) AS data_type
FROM information_schema.columns
WHERE table_schema = CURRENT_SCHEMA()
ORDER BY table_name, ordinal_position
"""

SAME_TYPE = {"varchar": "text", "double": "double precision"}


def test_both_databases_have_the_same_tables_and_columns(both_databases: tuple[Database, Database]) -> None:
    found = []
    for database in both_databases:
        with database.read() as session:
            found.append(session.rows(COLUMNS))
    views = {path.name.removesuffix(".sql") for path in files("pinakes.schema").joinpath("views").iterdir()}
    duck, post = ([row for row in rows if row["table_name"] not in views] for rows in found)
    assert duck == post
    assert {row["table_name"] for row in duck} == set(metadata.tables)
    assert views < {row["table_name"] for row in found[0]} == {row["table_name"] for row in found[1]}


def test_both_databases_have_the_same_types(both_databases: tuple[Database, Database]) -> None:
    found = []
    for database in both_databases:
        with database.read() as session:
            rows = session.rows(TYPES)
        found.append(
            [(r["table_name"], r["column_name"], SAME_TYPE.get(r["data_type"], r["data_type"])) for r in rows]
        )
    assert found[0] == found[1]


def test_every_table_and_column_explains_itself() -> None:
    silent = [table.name for table in metadata.tables.values() if not table.comment]
    silent += [
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if not column.comment
    ]
    assert silent == []


UNCHECKED = {
    "benchmark_corpora.corpus": "one that need not be loaded",
    "construction_models.run_id": "a run may be removed, and the construction that looked at it stays",
    "construction_models.system": "as above",
    "published_scores.benchmark": "or a suite's name",
    "runs.view_digest": "of the time of the run",
    "suite_figures.measure": "a score that need not be there",
    "suite_figures.subset": "as above",
    "pools.sample": "pool_members names it",
    "runs.encoder_id": "null where none is needed; `pinakes gc` keeps an encoder that a run names",
    "samplings.assigned_by": "no row of its own",
    "sampling_exclusions.source_id": "a paper that need not be there",
    "sentence_selections.position": "by a check of its own",
    "sentences.section_number": "an abstract is no section",
    "side_indexes.encoder": "empty where there is none",
    "sentence_scores.position": "sentences of the splitter that the example names",
    "sentence_scores.section_number": "as above",
    "summary_labels.position": "as above",
    "summary_labels.section_number": "as above",
}
"""column whose comment names a column of another table, and that is no reference -> why"""


def test_a_column_that_names_a_row_of_another_table_is_a_reference() -> None:
    silent = set()
    for table in metadata.tables.values():
        for column in table.columns:
            named = re.match(r"(\w+)\.(\w+)", str(column.comment))
            if named and named[1] in metadata.tables and not column.foreign_keys:
                silent.add(f"{table.name}.{column.name}")
    assert silent == set(UNCHECKED)


def test_every_reference_and_every_key_without_an_index_is_checked(database: Database) -> None:
    checks = list_integrity_checks()
    bulk = {f"{table.name}.key" for table in metadata.tables.values() if table.info.get("bulk")}
    names = {
        f"{table.name}.{constraint.column_keys[-1]}"
        for table in metadata.tables.values()
        for constraint in table.foreign_key_constraints
    }
    others = {
        *("papers.source_id", "authors.source_id", "cited_references.reference_key"),
        "indexed_terms.term",
    }
    assert set(checks) == {*bulk, *names, *others, "sentence_selections.position"}
    with database.read() as session:
        assert {session.scalar(query) for query in checks.values()} == {0}


def test_no_database_gets_a_foreign_key(database: Database) -> None:
    query = "SELECT COUNT(*) FROM information_schema.table_constraints WHERE constraint_type = 'FOREIGN KEY'"
    with database.read() as session:
        assert session.scalar(query) == 0


def test_comments_are_in_the_database(both_databases: tuple[Database, Database]) -> None:
    duck, post = both_databases
    with duck.read() as session:
        in_duckdb = session.scalar(
            "SELECT comment FROM duckdb_columns() WHERE table_name = 'papers' AND column_name = 'source_id'"
        )
    with post.read() as session:
        in_postgres = session.scalar("SELECT col_description(CAST('papers' AS regclass), 3)")
    assert in_duckdb == in_postgres == "the source's own id of the paper"


def test_two_papers_of_one_name_are_counted_where_no_index_refuses_them(database: Database) -> None:
    insert = "INSERT INTO papers (paper_id, corpus_id, source_id, batch_id) VALUES (:number, 1, 'p', 1)"
    if database.name == "postgresql":
        with pytest.raises(sa.exc.IntegrityError), database.begin() as session:
            [session.execute(insert, {"number": number}) for number in (1, 2)]
        return
    with database.begin() as session:
        [session.execute(insert, {"number": number}) for number in (1, 2)]
        assert session.scalar("SELECT COUNT(*) FROM duckdb_indexes() WHERE table_name = 'papers'") == 0
    with database.read() as session:
        assert session.scalar(list_integrity_checks()["papers.source_id"]) == 1
        assert session.scalar(list_integrity_checks()["papers.key"]) == 0


def test_creating_twice_changes_nothing(database: Database) -> None:
    assert create_schema(database) is False
    check_schema(database)


@pytest.mark.parametrize(("version", "word"), [(SCHEMA_VERSION + 1, "newer"), (SCHEMA_VERSION - 1, "older")])
def test_other_versions_are_refused(database: Database, version: int, word: str) -> None:
    with database.begin() as session:
        session.execute("UPDATE schema_version SET version = :version", {"version": version})
    with pytest.raises(SchemaVersionError, match=f"made by an? {word} Pinakes"):
        check_schema(database)


def test_a_database_without_tables_is_refused(database_url: str) -> None:
    with connect(database_url) as database, pytest.raises(SchemaVersionError, match="pinakes init"):
        check_schema(database)


def test_text_is_ordered_byte_by_byte(database: Database) -> None:
    with database.begin() as session:
        for number, name in enumerate(["b", "B", "a", "é", "10", "9"]):
            session.execute(
                "INSERT INTO corpora VALUES (:number, :name, '', '', '', '')",
                {"number": number, "name": name},
            )
        names = [row["name"] for row in session.rows("SELECT name FROM corpora ORDER BY name DESC")]
    assert names == ["é", "b", "a", "B", "9", "10"]


def test_a_grade_for_the_same_paper_twice_is_refused(database: Database) -> None:
    row = "INSERT INTO judgments VALUES (1, 'q', 1, 'published', 'test', 1, 1)"
    with database.begin() as session:
        session.execute(row)
    with pytest.raises(sa.exc.IntegrityError), database.begin() as session:
        session.execute(row)
