"""What a system needs before it can rank a benchmark or search a corpus: vectors, or a side index."""

from dataclasses import replace
from typing import cast

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import MODES
from pinakes.systems.base import (
    Asked,
    IndexSummary,
    System,
    SystemOptions,
    choose_options,
    note_stored,
    tell_alone,
)
from pinakes.systems.registry import find_system, require_ability, require_one
from pinakes.tasks.base import choose_corpus, find_task
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.readers import SEARCH
from pinakes.workload.scope import CorpusScope, open_corpus
from pinakes.workload.templates import choose_templates, find_own_templates


def require_target(benchmark: str | None, corpus: str | None, producer: str | None, mode: str) -> None:
    """Raise `InputError` where neither a benchmark nor a corpus is named, or options are of the other one."""
    if benchmark is None and corpus is None:
        raise InputError(
            "expected a BENCHMARK, or --corpus NAME, or both for a benchmark that reads any corpus."
        )
    if benchmark is None and (producer is not None or mode != MODES[0]):
        raise InputError("--producer and --mode are of a benchmark; leave them out for a corpus.")


def index(
    database: Database,
    benchmark_name: str,
    system_name: str,
    *,
    options: SystemOptions | None = None,
    query_template: str | None = None,
    paper_template: str | None = None,
    corpus: str | None = None,
    producer: str | None = None,
    mode: str = MODES[0],
    postings: bool | None = None,
    progress: Progress | None = None,
) -> IndexSummary:
    """Make what a system needs to answer a benchmark's questions; what exists already is not made again.

    `corpus`, `producer` and `mode` are those of `RunRequest`. `postings` says whether the index is to be in
    tables too; None: as it was, and what is there is renewed.

    Raises:
        UnknownNameError: no such benchmark, system, template, mode or corpus.
        BenchmarkError: the benchmark's corpus is not loaded.
        InputError: the system cannot do what the benchmark's task needs, or a corpus is named, or not, where
            it must not.
        IndexingError: a model or a text cannot be used.
    """
    if mode not in MODES:
        raise UnknownNameError("mode", mode, list(MODES))
    benchmark = replace(open_benchmark(database, benchmark_name), mode=mode)
    benchmark = choose_corpus(database, benchmark, corpus, producer)
    options = choose_options(benchmark, options or SystemOptions(find_index_folder(database)))
    task, system = find_task(benchmark), find_system(system_name, note_stored(database, options))
    require_one(system, task.needs, f", which the task {task.name} needs")
    _require_postings(system, postings)
    templates = choose_templates(benchmark, system_name, query_template, paper_template, options.format)
    questions = task.read(database, benchmark, *templates)
    tell_alone(system, options)
    summary = system.index(database, questions, progress or Silent())
    if "write_down" in system.can:
        scope = cast(Asked, questions).scope
        _keep_postings(database, system, scope, postings, options, progress or Silent())
    return summary


def index_corpus(
    database: Database,
    corpus: str,
    system_name: str,
    *,
    options: SystemOptions | None = None,
    paper_template: str | None = None,
    postings: bool | None = None,
    progress: Progress | None = None,
) -> IndexSummary:
    """Make what a system needs to search a corpus; what exists already is not made again.

    `postings` is that of `index`.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: the system cannot index a corpus without a benchmark.
        IndexingError: a model or a text cannot be used.
    """
    options = replace(options or SystemOptions(find_index_folder(database)), own_format=SEARCH)
    own_template = find_own_templates(system_name, options.choice)[1]
    scope = open_corpus(database, corpus, paper_template or own_template)
    system = find_system(system_name, note_stored(database, options))
    require_ability(system, "index_corpus")
    _require_postings(system, postings)
    tell_alone(system, options)
    summary = system.index_corpus(database, scope, progress or Silent())
    if "write_down" in system.can:
        _keep_postings(database, system, scope, postings, options, progress or Silent())
    return summary


def _require_postings(system: System, postings: bool | None) -> None:
    if postings:
        require_ability(system, "write_down")


def _keep_postings(
    database: Database,
    system: System,
    scope: CorpusScope,
    postings: bool | None,
    options: SystemOptions,
    progress: Progress,
) -> None:
    """Write the index into tables where that is asked for, or was; or remove it from there."""
    if postings is False:
        system.strike_out(database, scope)
    elif written := system.write_down(database, scope, progress, asked=bool(postings)):
        options.tell(
            f"{written.name} is written down: {written.postings:,} postings of {written.terms:,} terms."
        )
