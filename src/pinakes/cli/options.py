"""The options that several commands share, alone and in sets, each with its help.

An option without a variable of its own here has one by Typer's rule: PINAKES_<COMMAND>_<OPTION>.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from pinakes.cli.chatter import LOG_FORMS, is_logging, say, start_log
from pinakes.cli.time_limit import start_time_limit
from pinakes.errors import InputError, show
from pinakes.progress import Progress, Silent

if TYPE_CHECKING:  # a command's help does not wait for them
    from pinakes.database import Database
    from pinakes.database.read_only import Limits
    from pinakes.report.output import Form, Layout, Output
    from pinakes.systems.base import SystemOptions

ENVIRONMENT: Final = "PINAKES"
"""what the variables of all options begin with"""

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        envvar="PINAKES_DATABASE_URL",
        help="The database: a DuckDB file, as pinakes.duckdb, or a URL, duckdb:///FILE or "
        "postgresql://USER@HOST/NAME. Default: pinakes.duckdb in this folder.",
    ),
]
Wait = Annotated[
    float,
    typer.Option(
        envvar="PINAKES_WAIT",
        help="Seconds to wait for another process: one that holds the DuckDB file, or evaluates.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        envvar="PINAKES_MEMORY",
        help="How much memory the command may take, as 2GB, or a share of the machine's, as 25%. "
        "Default: 25%; a load at most 2GB of it.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", envvar="PINAKES_QUIET", help="Nothing on stderr but errors.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        envvar="PINAKES_TIMEOUT",
        help="Seconds after which the command ends; what it has stored stays. Default: none.",
    ),
]


def _check_log(given: str) -> str:
    if given not in LOG_FORMS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(LOG_FORMS)}.")
    return given


Log = Annotated[
    str,
    typer.Option(
        envvar="PINAKES_LOG",
        callback=_check_log,
        help="What is said on stderr as lines of a log, with time and level: text, json or off.",
    ),
]
Json = Annotated[bool, typer.Option("--json", envvar="PINAKES_JSON", help="Data as JSON on stdout.")]

Csv = Annotated[bool, typer.Option("--csv", envvar="PINAKES_CSV", help="Data as CSV on stdout.")]
Wide = Annotated[
    bool,
    typer.Option("--wide", envvar="PINAKES_WIDE", help="Tables with every column, however long the lines."),
]
Expanded = Annotated[
    bool,
    typer.Option(
        "--expanded", envvar="PINAKES_EXPANDED", help="Tables with every column, each on a line of its own."
    ),
]

OutputFormat = Annotated[
    Literal["table", "csv", "json"] | None,
    typer.Option("--format", help="table, csv or json; says more than --csv and --json."),
]

GuardFormulas = Annotated[
    bool,
    typer.Option(
        "--guard-formulas",
        help="CSV, TSV: an apostrophe before a text that a spreadsheet would take for a formula.",
    ),
]

BenchmarkName = Annotated[str, typer.Argument(help="The benchmark's name.", metavar="BENCHMARK")]
Systems = Annotated[
    list[str],
    typer.Option(
        "--system", "-s", help="bm25, tfidf, minilm, a model's folder, or a hub id. May be repeated."
    ),
]
InTrain = Annotated[
    list[str] | None,
    typer.Option(help="A benchmark of a kind that was trained on, though of other data. May be repeated."),
]
RunIds = Annotated[
    list[int] | None, typer.Option("--run", "-r", help="A run's id. May be repeated. Default: all of them.")
]
AllRuns = Annotated[
    bool, typer.Option("--all-runs", help="Also runs that a newer one of the same settings replaced.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="A measure, as nDCG@10. May be repeated. Default: the benchmark's."),
]
HeadlineMeasure = Annotated[
    str | None, typer.Option("--measure", "-m", help="Default: the headline measure.")
]
Precision = Annotated[
    str,
    typer.Option(
        help="An encoder's precision: fp32, bf16, fp16, or auto: that of its stored vectors, else bf16 where "
        "the device computes it faster."
    ),
]
Distance = Annotated[
    str | None,
    typer.Option(help="Between vectors: cosine, l2 or inner_product. Default: the encoder's own, or cosine."),
]
Options = Annotated[
    list[str] | None,
    typer.Option(help="name=value for the system; `pinakes systems NAME` lists them. May be repeated."),
]
Device = Annotated[str | None, typer.Option(help="cpu or cuda. Default: CUDA where there is a device.")]
On = Annotated[
    str | None,
    typer.Option(
        envvar="PINAKES_CLUSTER",
        help="A Ray cluster that shares the work: ray://HOST:PORT, HOST:PORT, auto, or local. Default: this "
        "machine does it alone.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Which of a system's embeddings: CLF, RGN, PRX, QRY, or SRCH. Default: the benchmark's format.",
    ),
]
QueryTemplate = Annotated[
    str | None, typer.Option(help="Text template for queries. Default: the benchmark's.")
]
PaperTemplate = Annotated[
    str | None, typer.Option(help="Text template for papers. Default: the benchmark's.")
]


DATA: Final = ("json", "csv", "wide", "expanded", "guard_formulas")
"""the common options of commands that print data; one that prints none omits all of them"""


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options of nearly every command: which database, and how much is said in which form."""

    db: DatabaseUrl = None
    wait: Wait = 0.0
    memory: Memory = None
    quiet: Quiet = False
    json: Json = False
    csv: Csv = False
    wide: Wide = False
    expanded: Expanded = False
    guard_formulas: GuardFormulas = False
    timeout: TimeLimit = None
    log: Log = "off"

    def __post_init__(self) -> None:
        """Set for this process, until the command ends, what it says and how long it may take."""
        if self.json and self.csv:
            raise typer.BadParameter("--json and --csv exclude each other.")
        if self.wide and self.expanded:
            raise typer.BadParameter("--wide and --expanded exclude each other.")
        if self.guard_formulas and not self.csv:
            raise typer.BadParameter("--guard-formulas is for CSV; add --csv, or leave it out.")
        if self.quiet:
            warnings.simplefilter("ignore")  # of libraries
        start_log(self.log, errors_only=self.quiet)
        if self.timeout is not None:
            start_time_limit(self.timeout)

    @property
    def memory_bytes(self) -> int | None:
        """The memory that the command may take; None: what is usual."""
        from pinakes.memory import read_memory

        return None if self.memory is None else read_memory(self.memory)

    def connect(self) -> "Database":
        """The database, to be closed by `with`; a DuckDB file that is missing is an error."""
        from pinakes.database import connect

        self.warn_of_missing_folders()
        return connect(
            self.db, wait_s=self.wait, tell=self.tell_waiting, create=False, memory=self.memory_bytes
        )

    def connect_alone(self, job: str) -> AbstractContextManager["Database"]:
        """The database, while no other process does the job, one of `database.jobs.JOBS`, for it."""
        from pinakes.database import connect_alone

        self.warn_of_missing_folders()
        return connect_alone(self.db, job, wait_s=self.wait, tell=self.tell_waiting, memory=self.memory_bytes)

    def connect_to_fill(self, is_empty: Callable[["Database"], bool]) -> AbstractContextManager["Database"]:
        """The database; a DuckDB file that is made for it, and is empty in the end, is taken away again."""
        from pinakes.database import connect_to_fill

        return connect_to_fill(
            self.db, is_empty, wait_s=self.wait, tell=self.tell_waiting, memory=self.memory_bytes
        )

    def connect_read_only(self) -> "Database":
        """The database, where nothing can be changed."""
        from pinakes.database import connect_read_only

        self.warn_of_missing_folders()
        return connect_read_only(self.db, wait_s=self.wait, tell=self.tell_waiting, memory=self.memory_bytes)

    def tell_waiting(self, line: str) -> None:
        """Say for whom the command waits."""
        self.say(f"pinakes: {line}")

    def connect_to_look(self) -> "Database":
        """The database, of which the command only reads."""
        from pinakes.database import connect_to_look

        self.warn_of_missing_folders()
        return connect_to_look(self.db, wait_s=self.wait, tell=self.tell_waiting, memory=self.memory_bytes)

    def warn_of_missing_folders(self) -> None:
        """Say which folders of benchmarks are not there; what needs one of theirs fails by itself."""
        from pinakes.queries.folders import tell_missing
        from pinakes.settings import read_settings

        missing = tell_missing(read_settings().benchmark_folders)
        self.say(*([f"pinakes: warning: {missing}"] if missing else []))

    def show_progress(self) -> Progress:
        """A display of progress on stderr, or none."""
        if self.quiet:
            return Silent()
        from pinakes.report.progress import LineProgress, make_progress

        return LineProgress(say) if is_logging() else make_progress()

    def say(self, *lines: str) -> None:
        """Write lines to stderr, where the command is not quiet."""
        for line in () if self.quiet else lines:
            say(line)

    @property
    def output(self) -> "Output":
        """Where data go, and in which form."""
        from pinakes.report.output import Output

        form: Form = "json" if self.json else "csv" if self.csv else "table"
        layout: Layout = "wide" if self.wide else "expanded" if self.expanded else "fitted"
        return Output(form, layout, self.guard_formulas)

    def print_records(self, rows: Sequence[Mapping[str, object]], lead: Sequence[str] = ()) -> None:
        """Print records of one kind as a table, or as CSV or JSON; `lead` are the columns that come first."""
        if self.output.is_for_programs:
            from pinakes.report.for_programs import print_data  # waits for nothing that draws tables

            print_data(list(rows), self.output)
            return
        from pinakes.report.terminal import print_records

        print_records(rows, self.output, lead=lead)


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """How much a user's query may take and give."""

    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds after which the query is ended. Default: none.")
    ] = None
    max_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows beyond which the query is ended. Default: none.")
    ] = None

    def read(self) -> "Limits":
        """The limits as `ask` takes them."""
        from pinakes.database.read_only import Limits

        return Limits(self.timeout, self.max_rows)


@dataclass(frozen=True, slots=True)
class SystemChoices:
    """What a user may say about a system."""

    precision: Precision = "auto"
    distance: Distance = None
    device: Device = None
    option: Options = None
    format: Format = None

    def for_database(
        self,
        database: "Database",
        say: Callable[[str], None],
        through: str = "exact",
        on: str | None = None,
    ) -> "SystemOptions":
        """The options with the folder of the database's side indexes; what they tell is said once."""
        from pinakes.systems.base import SystemOptions
        from pinakes.workload.benchmark import find_index_folder

        folder, parameters = find_index_folder(database), parse_options(self.option)
        told: set[str] = set()

        def tell(line: str) -> None:
            if line not in told:
                told.add(line)
                say(line)

        return SystemOptions(
            folder,
            self.precision,
            self.distance,
            self.device,
            parameters,
            through,
            format=self.format,
            tell=tell,
            on=on,
        )


@dataclass(frozen=True, slots=True)
class Templates:
    """Which texts of queries and papers a system reads."""

    query_template: QueryTemplate = None
    paper_template: PaperTemplate = None


def parse_options(given: Sequence[str] | None) -> dict[str, str]:
    """Options of a loader or a system from `name=value` words.

    Raises:
        InputError: a word has no `=`.

    >>> parse_options(["split=dev", "unknown=create"])
    {'split': 'dev', 'unknown': 'create'}
    """
    parsed = {}
    for word in given or ():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"--option {show(word)}: expected name=value.")
        parsed[name] = value
    return parsed
