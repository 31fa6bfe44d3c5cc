"""Tasks whose benchmarks have a report of their own: what gathers it, writes it and prints it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pinakes.queries.definition import read_benchmark
from pinakes.report.output import Output
from pinakes.settings import read_settings

_OWN: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "self_retrieval": (
        "pinakes.report.self_retrieval.gather:gather_self_retrieval",
        "pinakes.report.self_retrieval.page:write_self_retrieval",
        "pinakes.report.self_retrieval.page:fill_page",
        "pinakes.report.self_retrieval.terminal:print_self_retrieval",
    ),
    "sentence_extraction": (
        "pinakes.report.summaries.gather:gather_summaries",
        "pinakes.report.summaries.page:write_summaries",
        "pinakes.report.summaries.page:fill_page",
        "pinakes.report.summaries.page:print_summaries",
    ),
}
"""task -> gather, write, fill and print"""


@dataclass(frozen=True, slots=True)
class OwnReport:
    """A report of its own.

    Attributes:
        gather: from a database, a benchmark and run ids, with `all_runs` and `mode`, to what it shows.
        write: that into a folder; the paths.
        fill: the template of its page, and what that shows.
        print: its tables and warnings.
    """

    gather: Callable[..., Any]
    write: Callable[[Any, Path], list[Path]]
    fill: Callable[[Any], tuple[str, dict[str, Any]]]
    print: Callable[[Any, Output], None]


def find_own_report(name: str) -> OwnReport | None:
    """The report of a benchmark's task; None: it is that of rankings. `UnknownNameError`: no benchmark."""
    task = read_benchmark(name, read_settings().benchmark_folders).task
    return OwnReport(*map(_import, _OWN[task])) if task in _OWN else None


def _import(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
