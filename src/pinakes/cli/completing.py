"""What a shell completes: names of benchmarks, suites, systems, loaders, datasets, corpora and runs.

No network is opened: corpora and runs are looked up where the database is a DuckDB file that nobody holds.
What goes wrong completes nothing and says nothing, since it would be written into the command line.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from typing import Any, Final

import typer


def complete_benchmarks(incomplete: str) -> Iterator[str]:
    """Names of benchmarks and suites, the bundled ones and those of `PINAKES_BENCHMARKS`."""
    with _silence():
        from pinakes.queries.definition import list_benchmarks
        from pinakes.queries.suites import list_suites
        from pinakes.settings import read_settings

        folders = read_settings().benchmark_folders
        yield from _begin([*list_benchmarks(folders), *list_suites(folders)], incomplete)


def complete_systems(incomplete: str) -> Iterator[str]:
    """Names of systems; of a combination what stands before its colon, with that."""
    with _silence():
        from pinakes.systems.names import list_systems

        parts = (name.partition(":") for name in list_systems())
        yield from _begin([f"{name}{colon}" for name, colon, _systems in parts], incomplete)


def complete_loaders(incomplete: str) -> Iterator[str]:
    """Names of loaders."""
    with _silence():
        from pinakes.loaders.registry import LOADERS

        yield from _begin(LOADERS, incomplete)


def complete_datasets(incomplete: str) -> Iterator[tuple[str, str]]:
    """Names of datasets that can be fetched, with their titles."""
    with _silence():
        from pinakes.load.sources import list_sources

        yield from ((one.name, one.title) for one in list_sources() if one.name.startswith(incomplete))


def complete_corpora(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of the corpora of a DuckDB file."""
    with _silence():
        rows = _ask(ctx, "SELECT name FROM corpora ORDER BY name")
        yield from _begin([str(name) for (name,) in rows], incomplete)


def complete_runs(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Ids of the runs of a DuckDB file, with their systems and benchmarks."""
    with _silence():
        for run_id, benchmark, system in _ask(
            ctx, "SELECT run_id, benchmark, system FROM runs ORDER BY run_id"
        ):
            if str(run_id).startswith(incomplete):
                yield str(run_id), f"{system} on {benchmark}"


def complete_recipes(incomplete: str) -> Iterator[tuple[str, str]]:
    """Names of the cookbook's recipes, with their questions."""
    with _silence():
        from pinakes.recipes import read_sections

        recipes = (recipe for section in read_sections() for recipe in section.recipes)
        yield from ((one.name, one.question) for one in recipes if one.name.startswith(incomplete))


def _ask(ctx: typer.Context, query: str) -> list[tuple[object, ...]]:
    """The rows of a query where the database is a file; on a server there are none."""
    from pinakes.database import connect_read_only
    from pinakes.database.address import find_file, read_address
    from pinakes.database.read_only import ask

    address = read_address(ctx.params.get("db"))
    if find_file(address) is None:
        return []
    with connect_read_only(address) as database, ask(database, query) as result:
        return [tuple(row) for row in result.rows]


def _begin(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing is printed, and what fails completes nothing."""
    kept, sys.stderr = sys.stderr, StringIO()
    try:
        with suppress(Exception):
            yield
    finally:
        sys.stderr = kept


COMPLETED: Final[Mapping[str, Callable[..., Any]]] = {
    "benchmark": complete_benchmarks,
    "benchmarks": complete_benchmarks,
    "drawn_from": complete_benchmarks,
    "system": complete_systems,
    "loader": complete_loaders,
    "dataset": complete_datasets,
    "corpus": complete_corpora,
    "recipe": complete_recipes,
    "run": complete_runs,
    "runs": complete_runs,
}
"""parameter of a command -> what completes it, in every command that has one of that name"""
