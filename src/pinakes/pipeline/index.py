"""What a system needs before it can rank a benchmark: vectors, or a side index."""

from pinakes.database import Database
from pinakes.pipeline.benchmarking import find_index_folder, open_benchmark
from pinakes.pipeline.progress import Progress, Silent
from pinakes.pipeline.systems import find_system
from pinakes.pipeline.systems.base import IndexSummary, SystemOptions
from pinakes.pipeline.workload import read_workload


def index(
    database: Database,
    benchmark_name: str,
    system_name: str,
    *,
    options: SystemOptions | None = None,
    query_template: str | None = None,
    paper_template: str | None = None,
    progress: Progress | None = None,
) -> IndexSummary:
    """Make what a system needs to rank a benchmark; what is there already is not made again.

    Raises:
        UnknownNameError: no such benchmark, system or template.
        BenchmarkError: the benchmark's corpus is not loaded.
        IndexingError: a model or a text cannot be used.
    """
    benchmark = open_benchmark(database, benchmark_name)
    options = options or SystemOptions(find_index_folder(database))
    system = find_system(system_name, options)
    workload = read_workload(database, benchmark, query_template, paper_template)
    return system.index(database, workload, progress or Silent())
