"""Opening a suite in a database: with all of its benchmarks installed."""

from dataclasses import dataclass

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.queries.install import install_benchmark
from pinakes.queries.install_suites import install_suite
from pinakes.queries.suites import Suite, list_members, list_suites, read_suite
from pinakes.schema import check_schema
from pinakes.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class OpenSuite:
    """A suite and its benchmarks, by group and name."""

    suite: Suite
    members: list[Benchmark]


def is_suite(name: str, settings: Settings | None = None) -> bool:
    """Whether the name is a suite's; a benchmark has another one."""
    return name in list_suites((settings or read_settings()).benchmark_folders)


def open_suite(database: Database, name: str, settings: Settings | None = None) -> OpenSuite:
    """The suite, with its rows and the views of its benchmarks in the database as their folders define them.

    Raises:
        SchemaVersionError: the database has no tables, or others.
        UnknownNameError, BenchmarkError: there is no such suite, or a folder is not as it should be.
    """
    check_schema(database)
    folders = (settings or read_settings()).benchmark_folders
    suite = read_suite(name, folders)
    members = list_members(suite, folders)
    for benchmark in members:
        install_benchmark(database, benchmark)
    install_suite(database, suite, [benchmark.name for benchmark in members])
    return OpenSuite(suite, members)
