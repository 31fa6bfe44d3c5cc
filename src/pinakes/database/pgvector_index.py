"""HNSW indexes of pgvector: built whole in one transaction, and looked up. Postgres alone.

A plain CREATE INDEX, not CONCURRENTLY: killed at any moment, it leaves nothing behind, while CONCURRENTLY
leaves an invalid index and waits for every older snapshot. The price: nothing is written into that one table
of vectors during the build; searches go on. What an index was built with is its comment.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

import sqlalchemy as sa

from pinakes.database.core import Database, Session
from pinakes.database.driver_errors import driver_errors
from pinakes.errors import IndexingError

OPERATORS: Final = {"cosine": "cosine", "l2": "l2", "inner_product": "ip"}
MOST_DIMENSIONS: Final = {"vector": 2000, "halfvec": 4000}
"""What pgvector indexes of each type"""

LOCK_TRIES: Final = 40
_LOCK_NOT_AVAILABLE: Final = "55P03"
WAIT_S: Final = 0.5
POLL_S: Final = 0.5

Report = Callable[[str, int, int], None]
"""called with the phase in Postgres' words, the vectors done, and those in all (0: unknown)"""


@dataclass(frozen=True, slots=True)
class HnswSpec:
    """What an index is built with; `kind` is the type that its vectors are kept in."""

    kind: str
    distance: str
    dimensions: int
    m: int
    ef_construction: int

    def check(self) -> None:
        """Raise IndexingError for what pgvector would refuse, in words that say what to choose."""
        if self.kind not in MOST_DIMENSIONS or self.distance not in OPERATORS:
            raise IndexingError(
                f"pgvector has no index of {self.kind} by {self.distance}; expected vector or halfvec, by "
                f"{', '.join(OPERATORS)}"
            )
        if self.dimensions > MOST_DIMENSIONS[self.kind]:
            raise IndexingError(
                f"pgvector indexes at most {MOST_DIMENSIONS[self.kind]} dimensions of the type {self.kind}, "
                f"and these vectors have {self.dimensions}; "
                + ("choose the kind halfvec" if self.dimensions <= 4000 else "build a Faiss index instead")
            )
        if not (2 <= self.m <= 100 and 4 <= self.ef_construction <= 1000):
            raise IndexingError(
                f"m is {self.m} and ef_construction {self.ef_construction}; expected 2 to 100 and 4 to 1000"
            )
        if self.ef_construction < 2 * self.m:
            raise IndexingError(
                f"ef_construction is {self.ef_construction}; expected at least twice m, which is {self.m}"
            )

    def column(self, column: str) -> str:
        """The indexed expression over the column: searches have to order by the same."""
        return column if self.kind == "vector" else f"CAST({column} AS halfvec({self.dimensions}))"


def index_name(table: sa.Table) -> str:
    """The name of the HNSW index of a table of vectors; there is one at most."""
    return f"{table.name}_hnsw"


def find_hnsw(session: Session, table: sa.Table) -> HnswSpec | None:
    """What the table's index was built with; None where there is none that is valid and ours."""
    row = session.first(
        "SELECT obj_description(indexrelid, 'pg_class') AS comment FROM pg_index "
        "WHERE indexrelid = to_regclass(:name) AND indisvalid AND indisready",
        {"name": index_name(table)},
    )
    try:
        return HnswSpec(**json.loads(row["comment"])) if row and row["comment"] else None
    except (ValueError, TypeError):
        return None


def create_hnsw(
    database: Database,
    table: sa.Table,
    spec: HnswSpec,
    *,
    memory: str = "1GB",
    workers: int = 2,
    progress: Report | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Build the table's HNSW index; False where one of the same spec is there already and nothing was done.

    An index of another spec, or an invalid one, is replaced; until then it serves searches. `memory` is
    Postgres' maintenance_work_mem, `workers` its parallel maintenance workers (with more than 0 the graph
    differs from build to build, and its levels are random at any number).

    Raises:
        IndexingError: the spec cannot be built, or another process is building this index.
    """
    spec.check()
    name = index_name(table)
    with database.read() as session:
        if find_hnsw(session, table) == spec:
            return False
        total = int(session.scalar(sa.select(sa.func.count()).select_from(table)))
    with database.engine.begin() as connection:
        session = Session(connection, database.backend)
        _lock(session, table, sleep)
        if find_hnsw(session, table) == spec:
            return False
        _prepare(session, memory, workers)
        building = f"{name[:50]}_new"
        statement = (
            f'CREATE INDEX "{building}" ON "{table.name}" USING hnsw '
            f"(({spec.column('embedding')}) {spec.kind}_{OPERATORS[spec.distance]}_ops) "
            f"WITH (m = {spec.m}, ef_construction = {spec.ef_construction})"
        )
        pid = int(session.scalar("SELECT pg_backend_pid()"))
        with _watched(database, pid, total, progress):
            session.execute(f'DROP INDEX IF EXISTS "{building}"')
            session.execute(statement)
        session.execute(f'DROP INDEX IF EXISTS "{name}"')
        session.execute(f'ALTER INDEX "{building}" RENAME TO "{name}"')
        comment = json.dumps(asdict(spec), sort_keys=True).replace("'", "''")
        session.execute(sa.text(f"COMMENT ON INDEX \"{name}\" IS '{comment}'".replace(":", r"\:")))
    return True


def index_bytes(session: Session, table: sa.Table) -> int:
    """The size of the table's HNSW index on the disk."""
    return int(
        session.scalar("SELECT pg_relation_size(to_regclass(:name))", {"name": index_name(table)}) or 0
    )


def _lock(session: Session, table: sa.Table, sleep: Callable[[float], None]) -> None:
    """Take a lock of the table that readers may not take, and that writers of it do not wait for."""
    # A killed client's backend notices within a second (client_connection_check_interval): wait for it.
    for _ in range(LOCK_TRIES):
        try:
            with session.connection.begin_nested():
                session.connection.execute(
                    sa.text(f'LOCK TABLE "{table.name}" IN SHARE UPDATE EXCLUSIVE MODE NOWAIT')
                )
        except sa.exc.OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
        else:
            return
        sleep(WAIT_S)
    raise IndexingError(
        f"the index {index_name(table)} is being built by another process; wait for it to end"
    )


def _prepare(session: Session, memory: str, workers: int) -> None:
    settings: Mapping[str, str] = {
        "maintenance_work_mem": memory,
        "max_parallel_maintenance_workers": str(workers),
        "client_connection_check_interval": "1s",
    }
    for setting, value in settings.items():
        session.execute("SELECT set_config(:setting, :value, true)", {"setting": setting, "value": value})


@contextmanager
def _watched(database: Database, pid: int, total: int, progress: Report | None) -> Iterator[None]:
    """Report how far the backend `pid` is, from a connection and a thread of their own."""
    if progress is None:
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(database, pid, total, progress, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(database: Database, pid: int, total: int, progress: Report, done: threading.Event) -> None:
    query = sa.text("SELECT phase, tuples_done FROM pg_stat_progress_create_index WHERE pid = :pid")
    try:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not done.is_set():
                for phase, tuples in connection.execute(query, {"pid": pid}):
                    progress(str(phase), int(tuples or 0), total)
                done.wait(POLL_S)
    except driver_errors():
        return  # the build goes on without being watched, or fails by itself
