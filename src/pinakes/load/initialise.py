"""Making a database ready: tables, views and every benchmark's schema."""

from pinakes.database import Database
from pinakes.queries.install import install_benchmarks
from pinakes.schema import create_schema
from pinakes.settings import Settings, read_settings


def initialise(database: Database, settings: Settings | None = None) -> list[str]:
    """Make what is missing; the names of the benchmarks whose views were made or renewed.

    Raises:
        SchemaVersionError: the database was made by an older or a newer Pinakes.
        BenchmarkError: a benchmark's folder is not as it should be.
    """
    create_schema(database)
    return install_benchmarks(database, (settings or read_settings()).benchmark_folders)
