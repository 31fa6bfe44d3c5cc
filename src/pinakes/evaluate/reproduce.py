"""Every baseline of a benchmark, indexed, run and scored: what a paper's tables are held against.

Which they are says the benchmark's folder (`[[baselines]]`). An encoder whose weights are not on this machine
is left out and named, unless downloading is allowed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pinakes.database import Database
from pinakes.errors import BenchmarkError, PinakesError, UnknownNameError
from pinakes.evaluate.each import Failure
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.suite import describe_missing, find_missing
from pinakes.index.index import index
from pinakes.indexers.encoder.presets import explain_absent_weights
from pinakes.progress import Progress
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.exhibits import Baseline
from pinakes.run.run import RunRequest, run
from pinakes.settings import read_settings
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder, open_benchmark


@dataclass(frozen=True, slots=True)
class ReproduceRequest:
    """Which baselines of which benchmark.

    Attributes:
        only: their names, as `Baseline.name` says; none: all.
        precision: of encoders; fp32 gives the same figures on every processor, to some 1e-6.
        download: whether weights that are not on this machine are fetched from the model hub.
    """

    benchmark: str
    only: Sequence[str] = ()
    precision: str = "fp32"
    device: str | None = None
    download: bool = False


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One baseline: its run, or why it has none.

    Attributes:
        published: the published row that it belongs to; empty: none.
        run_id: None where it was left out.
        left_out: why; empty where it was run.
    """

    baseline: str
    system: str
    published: str
    run_id: int | None = None
    index_s: float = 0.0
    run_s: float = 0.0
    left_out: str = ""


def reproduce(
    database: Database,
    request: ReproduceRequest,
    *,
    progress: Progress | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> list[Reproduction]:
    """Index, run and score the baselines that can be run here, in the folder's order.

    What is there already is found, not made again; so a second call goes on where a first one was stopped.

    Raises:
        UnknownNameError: no such benchmark or baseline.
        BenchmarkError: the benchmark names no baselines, or its corpus is not loaded.
        IndexingError, RunError: a baseline whose weights are here failed all the same.
    """
    chosen = _choose(open_benchmark(database, request.benchmark).baselines, request)
    made = [_reproduce(database, request, baseline, progress, report) for baseline in chosen]
    run_ids = [one.run_id for one in made if one.run_id is not None]
    if run_ids:
        evaluate(database, request.benchmark, run_ids=run_ids)
    return made


def reproduce_all(
    database: Database,
    request: ReproduceRequest,
    *,
    progress: Progress | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> list[Failure]:
    """Reproduce every benchmark that names baselines and whose data are loaded; those that failed.

    What is left out is reported with the reason. The benchmark of the request is not read.
    """
    failed = []
    folders = read_settings().benchmark_folders
    for name in list_benchmarks(folders):
        try:
            if not read_benchmark(name, folders).baselines:
                continue
            missing = find_missing(database, open_benchmark(database, name))
            if missing is not None:
                report(f"{name}: left out, {describe_missing(missing)}")
                continue
            reproduce(database, replace(request, benchmark=name), progress=progress, report=report)
        except PinakesError as error:
            failed.append(Failure(name, "", str(error)))
            report(f"{name}: {error}")
    return failed


def _choose(baselines: Sequence[Baseline], request: ReproduceRequest) -> list[Baseline]:
    if not baselines:
        raise BenchmarkError(
            f"{request.benchmark} names no baselines; list them under [[baselines]] in its benchmark.toml."
        )
    names = [baseline.name for baseline in baselines]
    for name in request.only:
        if name not in names:
            raise UnknownNameError(f"baseline of {request.benchmark}", name, names)
    return [baseline for baseline in baselines if not request.only or baseline.name in request.only]


def _reproduce(
    database: Database,
    request: ReproduceRequest,
    baseline: Baseline,
    progress: Progress | None,
    report: Callable[[str], None],
) -> Reproduction:
    reason = "" if request.download else explain_absent_weights(baseline.system)
    if reason:
        report(f"{baseline.name}: left out, {reason}")
        return Reproduction(baseline.name, baseline.system, baseline.published, left_out=reason)
    options = SystemOptions(
        find_index_folder(database),
        request.precision,
        baseline.distance,
        request.device,
        dict(baseline.options or {}),
    )
    templates: dict[str, Any] = {
        "query_template": baseline.query_template,
        "paper_template": baseline.paper_template,
    }
    indexed = index(
        database, request.benchmark, baseline.system, options=options, progress=progress, **templates
    )
    requested = RunRequest(request.benchmark, baseline.system, options, **templates)
    ranked = run(database, requested, progress=progress)
    answered = f"{ranked.queries_answered} of {ranked.queries_expected} queries"
    report(f"{baseline.name}: run {ranked.run_id}, {answered}")
    times = (indexed.elapsed_s, ranked.elapsed_s)
    return Reproduction(baseline.name, baseline.system, baseline.published, ranked.run_id, *times)
