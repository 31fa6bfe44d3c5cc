"""What the catalog of a database says of its tables and views, so that two databases can be compared."""

from typing import Any, Final

from pinakes.database import Database

_DUCKDB: Final = {
    "tables": "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal AND NOT temporary",
    "columns": "SELECT table_name, column_index, column_name, data_type, is_nullable, column_default, "
    "comment FROM duckdb_columns() WHERE NOT internal AND schema_name = CURRENT_SCHEMA()",
    "definitions": "SELECT table_name, sql FROM duckdb_tables() WHERE NOT internal AND NOT temporary",
    "constraints": "SELECT table_name, constraint_name, constraint_text FROM duckdb_constraints() "
    "WHERE schema_name = CURRENT_SCHEMA()",
    "indexes": "SELECT table_name, index_name, sql FROM duckdb_indexes() "
    "WHERE schema_name = CURRENT_SCHEMA()",
    "views": "SELECT schema_name, view_name, sql, comment FROM duckdb_views() WHERE NOT internal",
}
_POSTGRES: Final = {
    "tables": "SELECT relname, obj_description(oid, 'pg_class') AS comment FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = CAST(CURRENT_SCHEMA() AS regnamespace)",
    "columns": """
    SELECT
        tables.relname,
        ROW_NUMBER() OVER (PARTITION BY tables.oid ORDER BY columns.attnum) AS position,
        columns.attname,
        format_type(columns.atttypid, columns.atttypmod) AS type,
        CAST(columns.attcollation AS regcollation)::text AS collation,
        columns.attnotnull,
        pg_get_expr(defaults.adbin, defaults.adrelid) AS value,
        col_description(tables.oid, columns.attnum) AS comment
    FROM pg_attribute AS columns
    INNER JOIN pg_class AS tables ON columns.attrelid = tables.oid
    LEFT JOIN pg_attrdef AS defaults ON tables.oid = defaults.adrelid AND columns.attnum = defaults.adnum
    WHERE
        tables.relkind IN ('r', 'v')
        AND tables.relnamespace = CAST(CURRENT_SCHEMA() AS regnamespace)
        AND columns.attnum > 0
        AND NOT columns.attisdropped
    """,
    "constraints": "SELECT CAST(conrelid AS regclass)::text AS named, conname, pg_get_constraintdef(oid) "
    "FROM pg_constraint WHERE connamespace = CAST(CURRENT_SCHEMA() AS regnamespace)",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = CURRENT_SCHEMA()",
    "views": "SELECT schemaname, viewname, definition, "
    "obj_description(CAST(quote_ident(schemaname) || '.' || quote_ident(viewname) AS regclass), 'pg_class') "
    "FROM pg_views WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
}


def describe(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Tables, columns, constraints, indexes and views with all that the catalog has of each."""
    found = {}
    with database.read() as session:
        for kind, query in (_DUCKDB if database.name == "duckdb" else _POSTGRES).items():
            rows = session.connection.exec_driver_sql(query).all()
            found[kind] = sorted((tuple(row) for row in rows), key=repr)
    return found
