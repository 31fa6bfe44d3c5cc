"""The sample crontab and systemd units: every command is one that the program takes, and cron runs them."""

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pinakes import cli
from pinakes.database import connect_read_only
from pinakes.settings import read_settings
from tests.calling import make_call
from tests.documents import ROOT, Block, list_commands, read_manual
from tests.loading import paper, write_beir

SAMPLES = ROOT / "docs" / "examples" / "cron"
CRONTAB = SAMPLES / "crontab"
NIGHTLY = SAMPLES / "nightly.sh"
UNITS = [SAMPLES / f"pinakes-nightly.{kind}" for kind in ("service", "timer")]
COMMANDS: dict[str, Any] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
SCHEDULE = re.compile(r"((?:[\d*/,-]+ ){5})(.+)")
KNOWN_KEYS = {
    "Unit": {"Description", "Wants", "After"},
    "Service": {
        *("Type", "User", "WorkingDirectory", "Environment", "ExecStart", "TimeoutStartSec", "Nice"),
        *("NoNewPrivileges", "ProtectSystem", "ReadWritePaths", "PrivateTmp"),
    },
    "Timer": {"OnCalendar", "RandomizedDelaySec", "Persistent"},
    "Install": {"WantedBy"},
}


def read_crontab(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """A crontab's variables, and its schedules with their commands."""
    variables, jobs = {}, []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        job = SCHEDULE.fullmatch(line)
        if job:
            jobs.append((job[1].strip(), job[2]))
        else:
            name, _, value = line.partition("=")
            assert re.fullmatch("[A-Z_]+", name), line
            variables[name] = value
    return variables, jobs


def check_commands(text: str) -> int:
    """How many calls of the program there are; each is parsed by it."""
    calls = list(list_commands(Block("", "sh", text), "pinakes"))
    for name, *arguments in calls:
        command = COMMANDS[name]
        if hasattr(command, "commands"):
            command = command.commands.get(arguments[0], command.commands.get("benchmark"))
        assert command.make_context(name, list(arguments)).args == []
    return len(calls)


def test_every_command_of_the_crontab_and_the_script_is_one_that_the_program_takes() -> None:
    variables, jobs = read_crontab(CRONTAB.read_text())
    assert [schedule for schedule, _ in jobs] == ["15 2 * * *", "5 * * * *"]
    assert all("%" not in command for _, command in jobs)
    assert check_commands("\n".join(command for _, command in jobs)) == 1
    assert check_commands(NIGHTLY.read_text()) == 6
    assert os.access(NIGHTLY, os.X_OK)
    assert subprocess.run(["sh", "-n", str(NIGHTLY)], check=False).returncode == 0
    assert "nightly.sh" in jobs[0][1]
    own = {name: value for name, value in variables.items() if name.startswith("PINAKES_")}
    assert read_settings(own).log == "text"
    for name in own:
        assert f"`{name}" in read_manual()


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.suffix)
def test_a_unit_has_known_keys_and_systemd_finds_no_fault(unit: Path, tmp_path: Path) -> None:
    class Lines(configparser.RawConfigParser):
        optionxform = staticmethod(str)  # type: ignore[assignment]

    parsed = Lines(strict=False, delimiters=("=",))
    parsed.read_string(unit.read_text())
    assert {name: set(parsed[name]) - KNOWN_KEYS[name] for name in parsed.sections()} == {
        name: set() for name in parsed.sections()
    }
    if unit.suffix == ".service":
        assert Path(parsed["Service"]["ExecStart"]).name == NIGHTLY.name
        given = re.findall(r"^Environment=(PINAKES_\w+)=", unit.read_text(), re.MULTILINE)
        assert {"PINAKES_DATABASE_URL", "PINAKES_LOG", "PINAKES_WAIT"} == set(given)
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here; the unit's keys were compared with known ones")
    for one in UNITS:  # with a program and a user that are here
        text = one.read_text().replace("/srv/pinakes/nightly.sh", str(NIGHTLY))
        (tmp_path / one.name).write_text(text.replace("User=pinakes", "User=root"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / unit.name)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def cron() -> Iterator[None]:
    """Debian's daemon, started for the test."""
    program = shutil.which("cron") or shutil.which("cron", path="/usr/sbin:/sbin")
    if program is None or shutil.which("crontab") is None:
        pytest.skip("no cron here (Debian: apt-get install cron)")
    if os.geteuid():
        pytest.skip("a cron daemon is started by root alone")
    before = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False)
    if before.returncode == 0:
        pytest.skip("this user has a crontab, which stays as it is")
    with subprocess.Popen([program, "-f"]) as daemon:
        time.sleep(2)  # a crontab of the second in which it starts would not be seen
        try:
            yield
        finally:
            subprocess.run(["crontab", "-r"], check=False)
            daemon.send_signal(signal.SIGTERM)


@pytest.mark.long
@pytest.mark.usefixtures("cron")
def test_a_cron_daemon_runs_the_sample_every_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="pinakes-cron-", dir="/tmp") as made:
        folder = Path(made)
        (folder / "bin").mkdir()
        program = folder / "bin" / "pinakes"
        program.write_text(
            f"#!/bin/sh\nPYTHONPATH={shlex.quote(os.pathsep.join(filter(None, sys.path)))} exec "
            f'{shlex.quote(sys.executable)} -c "from pinakes.cli import main; main()" "$@"\n'
        )
        program.chmod(0o755)
        papers = [paper(number) for number in range(1, 8)]
        write_beir(folder / "corpora" / "scifact", papers, "q1\tp1\t1\nq2\tp2\t1\n", queries=2)
        url = f"duckdb:///{folder / 'pinakes.duckdb'}"
        script = NIGHTLY.read_text().replace(" --system minilm", " --system tfidf")
        (folder / "nightly.sh").write_text(script)
        (folder / "nightly.sh").chmod(0o755)
        text = CRONTAB.read_text()
        for old, new in (
            ("/srv/pinakes/venv/bin", str(folder / "bin")),
            ("/srv/pinakes", str(folder)),
            ("MAILTO=pinakes", f'MAILTO=""\nPINAKES_FOLDER={folder}\nOMP_NUM_THREADS=1'),
            ("15 2 * * *", "* * * * *"),
            ("5 * * * *", "* * * * *"),
            ('exit code $?"', f'exit code $?" >> {folder}/mail'),
        ):
            assert old in text
            text = text.replace(old, new)
        subprocess.run(["crontab", "-"], input=text, text=True, check=True)
        end_s = time.monotonic() + 170
        while time.monotonic() < end_s and not list((folder / "www").glob("**/*.html")):
            time.sleep(1)
        subprocess.run(["crontab", "-r"], check=True)
        log = (folder / "nightly.log").read_text()
        mail = (folder / "mail").read_text() if (folder / "mail").exists() else ""
        assert list((folder / "www").glob("**/*.html")), (log, mail)
        lines = log.splitlines()
        assert all(
            re.match(r"20\d\d-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d [A-Z]+ [a-z-]+\[\d+\] ", line) for line in lines
        )
        assert "nightly.sh: exit code" not in mail
        monkeypatch.setenv("PINAKES_DATABASE_URL", url)
        with connect_read_only(url, wait_s=120) as database, database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM papers") == 7
            assert session.scalar("SELECT COUNT(*) FROM runs") == 2
            assert session.scalar("SELECT COUNT(*) FROM scores") > 0
        status = make_call(capsys)("status", "--json", "--wait", "60")
        assert json.loads(status.out)
