"""The options that several commands share, each with its help and its environment variable.

An option without a variable of its own here has one by Typer's rule: PINAKES_<COMMAND>_<OPTION>.
"""

from typing import Annotated, Final

import typer

from pinakes.errors import InputError

ENVIRONMENT: Final = "PINAKES"
"""what the variables of all options begin with"""

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--db",
        envvar="PINAKES_DATABASE_URL",
        help="SQLAlchemy URL of the database: duckdb:///FILE or postgresql://USER@HOST/NAME. "
        "Default: duckdb:///pinakes.duckdb.",
        show_default=False,
    ),
]
Wait = Annotated[
    float,
    typer.Option("--wait", envvar="PINAKES_WAIT", help="Seconds to wait for a DuckDB file that is held."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", envvar="PINAKES_QUIET", help="No chatter on stderr.")]
Json = Annotated[bool, typer.Option("--json", envvar="PINAKES_JSON", help="Data as JSON on stdout.")]

OUTPUT_FORMATS: Final = ("table", "csv", "json")


def _check_format(given: str) -> str:
    if given not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(OUTPUT_FORMATS)}.")
    return given


OutputFormat = Annotated[str, typer.Option("--format", help="table, csv or json.", callback=_check_format)]

BenchmarkName = Annotated[str, typer.Argument(help="The benchmark's name.", metavar="BENCHMARK")]
Systems = Annotated[
    list[str],
    typer.Option(
        "--system", "-s", help="bm25, tfidf, minilm, a model's folder, or a hub id. May be repeated."
    ),
]
RunIds = Annotated[
    list[int] | None,
    typer.Option(
        "--run", "-r", help="A run's id. May be repeated. Default: all of them.", show_default=False
    ),
]
AllRuns = Annotated[
    bool, typer.Option("--all-runs", help="Also runs that a newer one of the same settings replaced.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="A measure, as nDCG@10. May be repeated. Default: the benchmark's.",
        show_default=False,
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="An encoder's precision: fp32, bf16, fp16, or auto (bf16 where the device computes it faster).",
    ),
]
Distance = Annotated[
    str | None,
    typer.Option(
        "--distance",
        help="Between vectors: cosine, l2 or inner_product. Default: the encoder's own, or cosine.",
        show_default=False,
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="name=value for the system; `pinakes systems NAME` lists them. May be repeated.",
        show_default=False,
    ),
]
Device = Annotated[
    str | None,
    typer.Option("--device", help="cpu or cuda. Default: CUDA where there is a device.", show_default=False),
]
QueryTemplate = Annotated[
    str | None,
    typer.Option(
        "--query-template", help="Text template for queries. Default: the benchmark's.", show_default=False
    ),
]
PaperTemplate = Annotated[
    str | None,
    typer.Option(
        "--paper-template", help="Text template for papers. Default: the benchmark's.", show_default=False
    ),
]

LOADER_OPTION: Final = "--option"


def parse_options(given: list[str]) -> dict[str, str]:
    """Options of a loader or a system from `name=value` words.

    Raises:
        InputError: a word has no `=`.

    >>> parse_options(["split=dev", "unknown=create"])
    {'split': 'dev', 'unknown': 'create'}
    """
    parsed = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"{LOADER_OPTION} {word!r}: expected name=value.")
        parsed[name] = value
    return parsed


def parse_positions(text: str) -> tuple[int, ...]:
    """Positions of sentences, from 1, from numbers with commas between.

    Raises:
        InputError: a part is no such number.

    >>> parse_positions("3, 1"), parse_positions("")
    ((3, 1), ())
    """
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    for part in parts:
        if not part.isdecimal() or not 0 < int(part) < 1 << 31:
            raise InputError(f"--sentences {text!r}: expected numbers from 1 with commas between, as 2,3.")
    return tuple(map(int, parts))
