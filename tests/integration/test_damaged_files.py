"""A compressed file that is cut short: what stands before that is in, and the whole file makes it good."""

import shutil
from pathlib import Path

import pytest

from pinakes.database import Database, connect
from pinakes.errors import LoadError
from pinakes.load.load import LoadRequest, load
from tests.loading import dump_tables
from tests.long import sample
from tests.unit.loaders.test_damaged_files import CASES, MARKED, write_cut
from tests.writing import COMPRESS

pytestmark = pytest.mark.in_turn

_OF_LOADS = {"corpora", "load_batches", "load_reports", "rejected_rows", "unread_files", "left_out_items"}
SUFFIXES = dict(zip(CASES, MARKED * len(CASES), strict=False))


def _dump(database: Database) -> dict[str, list[tuple[object, ...]]]:
    dumped = dump_tables(database, without=("batch_id",))
    return {name: rows for name, rows in dumped.items() if name not in _OF_LOADS}


@pytest.mark.parametrize("name", sample(SUFFIXES, 3))
def test_what_stands_before_the_damage_is_in_and_the_whole_file_makes_it_good(
    both_databases: tuple[Database, Database], tables_duckdb: Path, tmp_path: Path, name: str
) -> None:
    case, suffix = CASES[name], SUFFIXES[name]
    source = write_cut(tmp_path / "source", case, suffix)
    request = LoadRequest(case.loader, source, corpus="toy")
    for database in both_databases:
        for _ in range(2):
            with pytest.raises(LoadError, match="damaged or cut short: it breaks off after"):
                load(database, request)
        with database.read() as session:
            assert session.scalar("SELECT SUM(rows_in) FROM load_batches") >= case.rows
            assert session.scalar("SELECT COUNT(*) FROM load_batches WHERE is_last") == 0
    (source if source.is_file() else source / f"{case.name}{suffix}").write_bytes(
        COMPRESS[suffix](case.before + case.behind)
    )
    with connect(f"duckdb:///{shutil.copy(tables_duckdb, tmp_path / 'undisturbed.duckdb')}") as undisturbed:
        load(undisturbed, request)
        expected = _dump(undisturbed)
    for database in both_databases:
        load(database, request)
        assert _dump(database) == expected
