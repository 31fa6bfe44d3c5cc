"""Seconds of the processor that a Postgres server of this machine has used.

With those of the client, a ratio holds on a machine that others use too.
"""

import os
from pathlib import Path

import psycopg
import sqlalchemy as sa

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def read_server_s(url: str) -> float:
    """Processor seconds of the server and of all its processes until now; 0 of a DuckDB file."""
    if not url.startswith("postgresql"):
        return 0.0
    address = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection:
        server = _read_stat(connection.info.backend_pid)[1]
        ticks = sum(map(int, _read_stat(int(server))[11:15]))  # its own, and of its processes that ended
        for found in Path("/proc").iterdir():
            try:
                stat = _read_stat(int(found.name)) if found.name.isdigit() else []
            except OSError:  # it has ended meanwhile
                continue
            if stat and stat[1] == server:
                ticks += int(stat[11]) + int(stat[12])
    return ticks / TICKS_A_SECOND


def _read_stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on: what is before them holds the program's name."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
