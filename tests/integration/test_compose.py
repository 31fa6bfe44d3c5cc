"""The roles that compose.yaml's server begins with: their SQL run as it stands, and taken back."""

import re
from pathlib import Path

import sqlalchemy as sa

from tests.postgres import PostgresServer

ROOT = Path(__file__).parents[2]
ROLES = ROOT / "compose" / "roles.sql"


def _statements(database: str, owner: str, reader: str) -> list[str]:
    """The statements of the file with what psql puts into them, for roles of the test's own."""
    text = re.sub(r"(?m)^(\\.*|--.*)$", "", ROLES.read_text(encoding="utf-8"))
    assert re.sub(r":['\"](owner_password|reader_password|DBNAME)['\"]", "", text).count(":'") == 0
    text = re.sub(r"\bpinakes_reader\b", f'"{reader}"', re.sub(r"\bpinakes\b", f'"{owner}"', text))
    text = re.sub(r":'(\w+)'", r"'\1'", text).replace(':"DBNAME"', f'"{database}"')
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def test_the_first_start_makes_an_owner_and_a_reader_who_are_no_superusers(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    url = sa.make_url(postgres_url)
    name = str(url.database)
    owner, reader = f"{name}_owner", f"{name}_reader"
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        for statement in _statements(name, owner, reader):
            connection.exec_driver_sql(statement)
        asked = {"owner": owner, "reader": reader, "name": name}
        attributes = connection.execute(
            sa.text(
                "SELECT rolname, rolcanlogin, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication "
                "FROM pg_roles WHERE rolname IN (:owner, :reader) ORDER BY rolname"
            ),
            asked,
        ).all()
        assert [tuple(row) for row in attributes] == [(owner, True, False), (reader, True, False)]
        rights = connection.execute(
            sa.text(
                "SELECT pg_has_role(:owner, :reader, 'SET'), pg_has_role(:reader, :owner, 'MEMBER'), "
                "has_database_privilege(:owner, :name, 'CREATE'), "
                "has_database_privilege(:owner, :name, 'TEMP'), "
                "has_database_privilege(:reader, :name, 'CONNECT'), "
                "has_database_privilege(:reader, :name, 'CREATE, TEMP'), "
                "has_schema_privilege(:owner, 'public', 'CREATE'), "
                "has_schema_privilege(:reader, 'public', 'CREATE')"
            ),
            asked,
        ).one()
        assert tuple(rights) == (True, False, True, True, True, False, True, False)
        password = "SELECT rolpassword FROM pg_authid WHERE rolname = CURRENT_USER"
        assert connection.execute(sa.text(password)).scalar() is None
        connection.rollback()
    engine.dispose()


def test_compose_mounts_the_roles_and_passes_what_they_ask_for() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert "- ./compose/roles.sql:/docker-entrypoint-initdb.d/10-roles.sql:ro" in text
    asked = re.findall(r"(?m)^\\getenv \w+ (\w+)$", ROLES.read_text(encoding="utf-8"))
    assert asked == ["PINAKES_POSTGRES_PASSWORD", "PINAKES_READER_PASSWORD"]
    assert [name for name in asked if f"\n      {name}: ${{{name}:-" not in text] == []
    assert "POSTGRES_USER: postgres\n" in text
