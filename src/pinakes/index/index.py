"""What a system needs before it can rank a benchmark or search a corpus: vectors, or a side index."""

from pinakes.database import Database
from pinakes.progress import Progress, Silent
from pinakes.systems.base import IndexSummary, SystemOptions
from pinakes.systems.registry import find_system, require_ability
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.scope import open_corpus
from pinakes.workload.templates import choose_templates, find_own_templates


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
    """Make what a system needs to answer a benchmark's questions; what exists already is not made again.

    Raises:
        UnknownNameError: no such benchmark, system or template.
        BenchmarkError: the benchmark's corpus is not loaded.
        InputError: the system cannot do what the benchmark's task needs.
        IndexingError: a model or a text cannot be used.
    """
    benchmark = open_benchmark(database, benchmark_name)
    options = options or SystemOptions(find_index_folder(database))
    task, system = find_task(benchmark), find_system(system_name, options)
    require_ability(system, task.needs, f", which the task {task.name} needs")
    templates = choose_templates(benchmark, system_name, query_template, paper_template)
    questions = task.read(database, benchmark, *templates)
    return system.index(database, questions, progress or Silent())


def index_corpus(
    database: Database,
    corpus: str,
    system_name: str,
    *,
    options: SystemOptions | None = None,
    paper_template: str | None = None,
    progress: Progress | None = None,
) -> IndexSummary:
    """Make what a system needs to search a corpus; what exists already is not made again.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: the system cannot index a corpus without a benchmark.
        IndexingError: a model or a text cannot be used.
    """
    system = find_system(system_name, options or SystemOptions(find_index_folder(database)))
    require_ability(system, "index_corpus")
    scope = open_corpus(database, corpus, paper_template or find_own_templates(system_name)[1])
    return system.index_corpus(database, scope, progress or Silent())
