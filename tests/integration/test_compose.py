"""compose.yaml and the images: the roles' SQL run as it stands and taken back, the files against the tree.

No container engine is asked: what a build would do is read from the Dockerfile.
"""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import typer.main
import yaml  # type: ignore[import-untyped]

from pinakes.cli import app
from pinakes.cli.indexing import DEFAULT_INDEX
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


COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = [line for line in re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines() if not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def list_stages() -> dict[str, list[str]]:
    """Stage -> its lines, the first of which is FROM."""
    stages: dict[str, list[str]] = {}
    for line in filter(None, LINES):
        if line.startswith("FROM "):
            stages[line.rpartition(" AS ")[2]] = []
        list(stages.values())[-1].append(line)
    return stages


def test_postgres_alone_is_started_unless_a_profile_asks_for_more() -> None:
    assert {name: service.get("profiles") for name, service in SERVICES.items()} == {
        "postgres": None,
        "pinakes": ["tools"],
        "cron": ["cron"],
    }
    for name in ("pinakes", "cron"):
        assert SERVICES[name]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
        assert SERVICES[name]["environment"]["PINAKES_DATABASE_URL"].endswith("@postgres:5432/pinakes")


def test_every_volume_and_mounted_file_is_there() -> None:
    for service in SERVICES.values():
        for mount in service["volumes"]:
            source = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", mount).split(":")[0]
            assert (ROOT / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]


def test_passwords_come_from_the_environment_and_are_in_no_layer() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for name, value in re.findall(r"(?m)^ +(\w*PASSWORD\w*): (.*)$", text):
        assert value.startswith("${PINAKES_"), name
    assert re.findall(r"(?i)password=|secret|token|credential", "\n".join(LINES)) == []
    assert [line for line in LINES if line.startswith("ARG ")] == []


def test_the_services_are_of_stages_that_are_there_and_of_this_version() -> None:
    stages = list_stages()
    for name, suffix in (("pinakes", ""), ("cron", "-cron")):
        target = re.sub(r"\$\{\w+:-(\w+)\}", r"\1", SERVICES[name]["build"]["target"])
        assert target in stages
        assert SERVICES[name]["image"] == f"pinakes{suffix}:{PROJECT['version']}"
    assert list(stages)[-1] == "cpu"  # what `docker build .` makes


def test_images_are_of_pinned_bases_and_users_without_rights() -> None:
    stages = list_stages()
    bases = {lines[0].split()[1] for lines in stages.values()} - stages.keys()
    assert [base for base in bases if not re.fullmatch(r"python:3\.\d+-slim-[a-z]+", base)] == []
    (version,) = {re.findall(r"3\.\d+", base)[0] for base in bases}
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    for name in ("light", "cpu", "gpu"):
        assert stages[name][-1] == "USER pinakes"
    assert any(line.startswith("HEALTHCHECK") for line in stages["base"])
    assert SERVICES["pinakes"]["cap_drop"] == ["ALL"]


def test_what_the_images_install_is_what_the_project_has() -> None:
    extras = {one for listed in re.findall(r"\.whl\)\[([\w,]+)\]", DOCKERFILE) for one in listed.split(",")}
    assert extras == {"cpu", "gpu", "texts", "report"}
    assert extras <= PROJECT["optional-dependencies"].keys()
    (torch,) = re.findall(r"torch==([\d.]+)\+cpu", DOCKERFILE)
    assert f"torch=={torch}\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_what_is_copied_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = set()
    for line in LINES:
        if line.startswith("COPY ") and "--from=" not in line:
            copied |= set(line.split()[1:-1])
    assert copied == kept
    assert [name for name in copied if not (ROOT / name).exists()] == []
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {name.split("/")[0] for name in parts["only-include"]} <= copied


def test_the_jobs_of_cron_get_the_containers_variables_and_run_as_pinakes(tmp_path: Path) -> None:
    for name, body in (("crontab", 'echo "$@" >&2; cat'), ("cron", 'echo "cron $@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    url = "postgresql://pinakes:p%20w@postgres:5432/pinakes"
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PINAKES_DATABASE_URL": url,
        "POSTGRES_PASSWORD": "hidden",
        "CRONTAB": str(ROOT / "compose" / "crontab"),
    }
    done = subprocess.run(
        [str(ROOT / "compose" / "start-cron.sh")], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == "-u pinakes -\n"
    written, started = done.stdout.removesuffix("\n").rsplit("\n", 1)
    assert started == "cron -f"
    assert f"\nPINAKES_DATABASE_URL={url}\n" in written
    assert "hidden" not in written
    assert written.endswith((ROOT / "compose" / "crontab").read_text().strip())


def test_the_crontab_has_commands_that_there_are() -> None:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    jobs = [line for line in (ROOT / "compose" / "crontab").read_text().splitlines() if line[:1].isdigit()]
    asked = re.findall(r"\bpinakes ([a-z-]+) ([^&|)]*)", " ".join(jobs))
    assert [name for name, _ in asked] == ["index", "run", "evaluate"]
    for name, words in asked:
        command = commands[name]
        if name == "index":
            command = command.commands[DEFAULT_INDEX]
        assert command.make_context(name, words.split()).args == []
