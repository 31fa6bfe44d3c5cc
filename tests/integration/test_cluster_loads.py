"""Loads whose files a cluster reads: the tables, summaries and errors of a load by one process."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.database import connect
from pinakes.load.load import LoadSummary, load
from tests.clusters import LocalCluster
from tests.integration.test_every_loader import BEFORE
from tests.loading import dump_tables
from tests.long import sample
from tests.sources import SOURCES

WAYS = ("alone", "shared")


def require_same(found: LoadSummary, expected: LoadSummary) -> None:
    assert replace(found, elapsed_s=0.0) == replace(expected, elapsed_s=0.0)


def load_in(file: Path, name: str, on: str | None, told: list[str]) -> tuple[LoadSummary, object]:
    with connect(f"duckdb:///{file}") as database:
        if name in BEFORE:
            load(database, replace(SOURCES[BEFORE[name]], corpus="toy"))
        summary = load(database, replace(SOURCES[name], on=on), tell=told.append)
        return summary, dump_tables(database)


@pytest.mark.parametrize("name", sample(SOURCES, 10))
def test_the_tables_are_those_of_one_process(
    cluster: LocalCluster, tables_duckdb: Path, tmp_path: Path, name: str
) -> None:
    told: list[str] = []
    alone, shared = (Path(shutil.copy(tables_duckdb, tmp_path / f"{way}.duckdb")) for way in WAYS)
    expected, tables = load_in(alone, name, None, told)
    found, same = load_in(shared, name, cluster.address, told)
    require_same(found, expected)
    assert same == tables
    assert told == []
    assert not list((tmp_path / "shared.duckdb.indexes").rglob("*.*"))
