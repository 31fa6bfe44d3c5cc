"""The commands that make runs, bring them in, and tune: `run`, `import-run`, `reproduce`, …"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import (
    DATA,
    BenchmarkName,
    CommonOptions,
    Device,
    HeadlineMeasure,
    InTrain,
    On,
    PaperTemplate,
    QueryTemplate,
    SystemChoices,
    Systems,
    Templates,
)
from pinakes.errors import InputError, RunError

if TYPE_CHECKING:  # a command's help does not wait for them
    from pinakes.database import Database
    from pinakes.evaluate.each import Failure
    from pinakes.run.run import RunRequest

app = CommandGroup()
tune_app = CommandGroup(no_args_is_help=True)
app.add_typer(tune_app, name="tune", help="Choose parameters on a benchmark's validation queries.")


@app.command()
def use_corpus(
    benchmark: BenchmarkName,
    corpus: Annotated[str, typer.Argument(help="A loaded corpus.")],
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Have a benchmark that can read several corpora read this one."""
    from pinakes.queries.definition import read_benchmark
    from pinakes.queries.install import use_corpus
    from pinakes.settings import read_settings

    with common.connect() as database:
        use_corpus(database, read_benchmark(benchmark, read_settings().benchmark_folders), corpus)
    common.say(f"{benchmark} reads {corpus}")


Mode = Annotated[
    str, typer.Option(help="corrected, or published: as the published code has it, with its faults.")
]


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """What a benchmark that reads any corpus is asked of."""

    corpus: Annotated[
        str | None,
        typer.Option(help="Of a benchmark that reads any: a loaded corpus, or a dataset of its own."),
    ] = None
    producer: Annotated[
        str | None, typer.Option(help="Whose variants of papers ask, where several made some.")
    ] = None


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """What is ranked, and how much of it is kept."""

    depth: Annotated[int | None, typer.Option(min=1, help="Papers kept for each query.")] = None
    query_template: QueryTemplate = None
    paper_template: PaperTemplate = None
    again: Annotated[bool, typer.Option("--again", help="Rank again even where nothing changed.")] = False
    mode: Mode = "corrected"


@app.command()
def run(
    benchmark: BenchmarkName,
    system: Systems,
    choices: SystemChoices,
    ranking: RankingOptions,
    asked: AskedOptions,
    on: On = None,
    *,
    common: CommonOptions,
) -> None:
    """Have systems answer a benchmark's questions and store the answers; or those of a whole suite."""
    from pinakes.run.run import RunRequest, run
    from pinakes.workload.suite import is_suite

    with common.connect() as database:
        options = choices.for_database(database, common.say, on=on)
        if is_suite(benchmark):
            if asked.corpus or asked.producer:
                raise InputError("--corpus and --producer are of one benchmark; leave them out for a suite.")
            _run_suite(database, RunRequest(benchmark, "", options, **asdict(ranking)), system, common)
            return
        summaries = [
            run(
                database,
                RunRequest(benchmark, name, options, **asdict(ranking), **asdict(asked)),
                progress=common.show_progress(),
            )
            for name in system
        ]
    common.print_records([asdict(summary) for summary in summaries])


def _run_suite(
    database: "Database", request: "RunRequest", systems: list[str], common: CommonOptions
) -> None:
    from pinakes.evaluate.suite import run_suite
    from pinakes.report.present.failures import list_failures
    from pinakes.report.present.suite import list_missing

    done = run_suite(database, request, systems, progress=common.show_progress(), report=common.say)
    common.print_records([asdict(summary) for summary in done.made])
    common.say(*list_missing(done.missing))
    if done.failed:
        raise RunError(list_failures(done.failed))


@app.command()
def rerun(
    run: Annotated[int, typer.Argument(help="The run's id.", metavar="RUN")],
    system: Annotated[
        str | None, typer.Option("--system", "-s", help="The model's folder, where it is another one now.")
    ] = None,
    device: Device = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="name=value for the system, of a run that was made before they were recorded."),
    ] = None,
    *,
    common: CommonOptions,
) -> None:
    """Make a stored run again and compare its answers with the stored ones; nothing is stored."""
    from pinakes.cli.options import parse_options
    from pinakes.report.present.rerun import print_rerun, require_same
    from pinakes.run.rerun import RerunRequest, rerun

    request = RerunRequest(run, system, device, parse_options(option))
    with common.connect() as database:
        done = rerun(database, request, progress=common.show_progress())
    print_rerun(done, common.output)
    require_same(done)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the files of a run are."""

    system: Annotated[str, typer.Option(help="What to call what ranked.")]
    format: Annotated[
        str | None,
        typer.Option(
            help="trec, ranx, csv, tsv, parquet, csfcube or mdcr. Default: what the file shows itself."
        ),
    ] = None
    facet: Annotated[str | None, typer.Option(help="csfcube: the facet, where the file's name lacks it.")] = (
        None
    )
    unknown: Annotated[str, typer.Option(help="Papers that are no candidates: reject or create.")] = "reject"
    tag: Annotated[
        str | None, typer.Option(help="Which system's rows, where the files are of several by their tags.")
    ] = None


@app.command()
def import_run(
    benchmark: BenchmarkName,
    files: Annotated[list[Path], typer.Argument(help="The files of one run.")],
    options: ImportOptions,
    common: CommonOptions,
) -> None:
    """Store a ranking that others made: a TREC run, ranx JSON, a table, CSFCube ranked pools, MDCR scores."""
    from pinakes.run.import_run import ImportRequest, import_run

    request = ImportRequest(benchmark, files=files, **asdict(options))
    with common.connect() as database:
        common.print_records([asdict(import_run(database, request))])


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """Which baselines are run, and how."""

    only: Annotated[
        list[str] | None, typer.Option(help="A baseline's name; a wrong one lists them. May be repeated.")
    ] = None
    precision: Annotated[
        str, typer.Option(help="Of encoders: fp32, bf16, fp16 or auto, the fastest here.")
    ] = "fp32"
    device: Device = None
    download: Annotated[
        bool, typer.Option("--download", help="Fetch weights that are not on this machine.")
    ] = False
    folder: Annotated[
        Path | None,
        typer.Option(help="Of the report. Default: BENCHMARK-report here; without one reproduction-report."),
    ] = None


@app.command()
def cross_format(
    benchmarks: Annotated[list[str], typer.Argument(help="The benchmarks; each has a format.")],
    system: Annotated[
        list[str],
        typer.Option(
            "--system",
            "-s",
            help="One that has several embeddings. Repeated: trainings that differ in the seed.",
        ),
    ],
    choices: Annotated[SystemChoices, Omit("format")],
    common: CommonOptions,
    in_train: InTrain = None,
    mode: Mode = "corrected",
) -> None:
    """Run and score each code's embedding on each benchmark: which one serves which format."""
    from pinakes.evaluate.cross_format import CrossFormatRequest, cross_format
    from pinakes.report.present.cross_format import print_cross_format

    with common.connect() as database:
        options = choices.for_database(database, common.say)
        request = CrossFormatRequest(system, benchmarks, tuple(in_train or ()), options, mode)
        scores = cross_format(database, request, progress=common.show_progress(), report=common.say)
    print_cross_format(scores, common.output)


@app.command()
def reproduce(
    benchmark: Annotated[
        str | None, typer.Argument(help="A benchmark or a suite. Default: all of them, from what is stored.")
    ] = None,
    run_all: Annotated[
        bool, typer.Option("--run", help="Without BENCHMARK: run the baselines of all benchmarks first.")
    ] = False,
    all_figures: Annotated[
        bool, typer.Option("--all-figures", help="Print a row for what is not run too.")
    ] = False,
    *,
    options: ReproduceOptions,
    common: CommonOptions,
) -> None:
    """Run a benchmark's baselines; and hold every published figure against what is measured here."""
    from pinakes.report.present.failures import list_failures
    from pinakes.report.reproduction.gather import gather_matrix
    from pinakes.report.reproduction.page import list_rows, print_matrix, write_matrix
    from pinakes.workload.suite import is_suite

    if benchmark is not None and not is_suite(benchmark):
        if run_all:
            raise InputError("--run is for all benchmarks; a benchmark that is named is run anyway.")
        _reproduce_one(benchmark, options, common, all_figures=all_figures)
        return
    if options.only:
        raise InputError("--only names baselines of one benchmark; name it too.")
    if benchmark is not None and run_all:
        raise InputError(f"{benchmark} is a suite: run it with `pinakes run {benchmark} --system …`.")
    with common.connect() as database:
        failed = _reproduce_all(database, options, common) if run_all else []
        matrix = gather_matrix(database, benchmark)
    name = "reproduction-report" if benchmark is None else f"{benchmark}-report"
    paths = write_matrix(matrix, options.folder or Path(name))
    if common.output.is_for_programs:
        common.print_records(list_rows(matrix))
    else:
        print_matrix(matrix, common.output, all_figures=all_figures)
    common.say(*(f"written: {path}" for path in paths))
    if failed:
        raise RunError(list_failures(failed))


def _reproduce_all(database: "Database", options: ReproduceOptions, common: CommonOptions) -> "list[Failure]":
    """Run the baselines of every benchmark that has some; what fails is named, and the others go on."""
    from pinakes.evaluate.reproduce import ReproduceRequest, reproduce_all

    request = ReproduceRequest("", (), options.precision, options.device, options.download)
    return reproduce_all(database, request, progress=common.show_progress(), report=common.say)


def _reproduce_one(
    benchmark: str, options: ReproduceOptions, common: CommonOptions, *, all_figures: bool
) -> None:
    from pinakes.evaluate.reproduce import ReproduceRequest, reproduce
    from pinakes.report.gather import gather_report
    from pinakes.report.present.report import print_report, write_report
    from pinakes.report.reproduction.gather import gather_matrix
    from pinakes.report.reproduction.page import list_rows, print_matrix, write_matrix
    from pinakes.workload.benchmark import open_benchmark

    request = ReproduceRequest(
        benchmark, options.only or (), options.precision, options.device, options.download
    )
    with common.connect() as database:
        defined = open_benchmark(database, benchmark)
        has_figures = bool(defined.published) or any(one.published for one in defined.exhibits)
        made, report = [], None
        if defined.baselines or options.only or not has_figures:
            made = reproduce(database, request, progress=common.show_progress(), report=common.say)
            run_ids = [one.run_id for one in made if one.run_id is not None]
            if not run_ids:
                reasons = "; ".join(f"{one.baseline}: {one.left_out}" for one in made)
                raise RunError(f"no baseline of {benchmark} can be run here. {reasons}")
            report = gather_report(database, benchmark, run_ids)
        else:
            common.say(f"{benchmark} names no baselines: nothing is run, and what is stored is compared")
        matrix = gather_matrix(database, benchmark)
    folder = options.folder or Path(f"{benchmark}-report")
    paths = [] if report is None else write_report(report, folder)
    paths += write_matrix(matrix, folder) if matrix.figures else []
    if common.output.is_for_programs:
        rows = list_rows(matrix)
        of = [
            {**asdict(one), "figures": [row for row in rows if one.published and row["row"] == one.published]}
            for one in made
        ]
        common.print_records(of or rows)
    else:
        if report is not None:
            print_report(report, common.output)
        if matrix.figures:
            print_matrix(matrix, common.output, all_figures=all_figures)
    common.say(*(f"written: {path}" for path in paths))


@tune_app.callback()
def tune() -> None:
    """Choose a system's parameters on a benchmark's validation queries."""


@dataclass(frozen=True, slots=True)
class GridOptions:
    """Which values are tried, and what they are judged by."""

    k1: Annotated[list[float] | None, typer.Option(help="A k1 to try. May be repeated.")] = None
    b: Annotated[list[float] | None, typer.Option("--b", help="A b to try. May be repeated.")] = None
    measure: HeadlineMeasure = None


@tune_app.command("bm25")
def tune_bm25(
    benchmark: BenchmarkName,
    grid: GridOptions,
    choices: Annotated[SystemChoices, Omit("precision", "distance", "device", "format")],
    templates: Templates,
    common: CommonOptions,
) -> None:
    """Try k1 and b of sparse_bm25 on the validation queries; runs take the best pair from then on."""
    from pinakes.report.present.compare import print_tuning
    from pinakes.tune.tune import B_GRID, K1_GRID, TuneRequest, tune_bm25

    with common.connect() as database:
        request = TuneRequest(
            benchmark,
            grid.k1 or K1_GRID,
            grid.b or B_GRID,
            grid.measure,
            choices.for_database(database, common.say),
            **asdict(templates),
        )
        summary = tune_bm25(database, request, progress=common.show_progress())
    print_tuning(summary, common.output, say=common.say)
