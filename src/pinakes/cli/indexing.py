"""The commands that make indexes and vectors, and tune them: `index`, `encode`, `tune`.

They stand apart from the other commands (`cli`) for their number of options only.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from pinakes.cli import steps
from pinakes.cli.options import (
    ENVIRONMENT,
    BenchmarkName,
    DatabaseUrl,
    Device,
    Distance,
    Json,
    Options,
    PaperTemplate,
    Precision,
    QueryTemplate,
    Quiet,
    Systems,
    Wait,
    parse_options,
)
from pinakes.errors import InputError

DEFAULT_INDEX: Final = "benchmark"


class _BenchmarkFirst(TyperGroup):
    """`pinakes index BENCHMARK …` is `pinakes index benchmark BENCHMARK …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command first where none is named."""
        named = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else [DEFAULT_INDEX, *args])


index_app = typer.Typer(cls=_BenchmarkFirst, no_args_is_help=True)


@index_app.command(DEFAULT_INDEX, context_settings={"auto_envvar_prefix": f"{ENVIRONMENT}_INDEX"})
def index(
    system: Systems,
    benchmark: Annotated[
        str | None, typer.Argument(help="The benchmark's name.", metavar="BENCHMARK", show_default=False)
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Index this corpus for `search` instead of a benchmark.", show_default=False),
    ] = None,
    precision: Precision = "auto",
    device: Device = None,
    option: Options = None,
    query_template: QueryTemplate = None,
    paper_template: PaperTemplate = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make what systems need to rank a benchmark, or to search a corpus: side indexes, vectors."""
    if (benchmark is None) == (corpus is None):
        raise InputError("expected either a BENCHMARK or --corpus NAME.")
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(
            steps.find_index_folder(database),
            precision,
            device=device,
            parameters=parse_options(option or []),
        )
        progress = steps.show_progress(quiet=quiet)
        summaries = [
            steps.index_corpus(
                database, corpus, name, options=options, paper_template=paper_template, progress=progress
            )
            if corpus is not None
            else steps.index(
                database,
                benchmark or "",
                name,
                options=options,
                query_template=query_template,
                paper_template=paper_template,
                progress=progress,
            )
            for name in system
        ]
    steps.print_records([asdict(summary) for summary in summaries], as_json=json)


@index_app.command("faiss")
def index_faiss(
    corpus: Annotated[str, typer.Option(help="The corpus whose vectors are indexed.")],
    system: Annotated[str, typer.Option("--system", "-s", help="The encoder.")],
    kind: Annotated[str, typer.Option(help="flat, ivf_flat, ivf_pq, hnsw, sq8 or fp16.")] = "hnsw",
    threads: Annotated[
        int, typer.Option(min=1, help="hnsw: more than one is faster, and no two builds are alike.")
    ] = 1,
    precision: Precision = "auto",
    distance: Distance = None,
    option: Options = None,
    paper_template: PaperTemplate = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build a Faiss index of a corpus's vectors beside the database, and measure its recall."""
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(
            steps.find_index_folder(database), precision, distance, parameters=parse_options(option or [])
        )
        request = steps.FaissRequest(corpus, system, kind, options, paper_template, threads)
        summary = steps.index_faiss(database, request, steps.show_progress(quiet=quiet))
    steps.print_records([asdict(summary)], as_json=json)


@index_app.command("pgvector")
def index_pgvector(
    system: Annotated[str, typer.Option("--system", "-s", help="The encoder.")],
    m: Annotated[int, typer.Option("--m", min=2, max=100, help="Links of a vector.")] = 16,
    ef_construction: Annotated[int, typer.Option(min=4, max=1000, help="Candidates while building.")] = 64,
    kind: Annotated[str, typer.Option(help="vector, or halfvec in half the bytes.")] = "vector",
    precision: Precision = "auto",
    distance: Distance = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build an HNSW index of an encoder's vectors in Postgres, and measure its recall."""
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(steps.find_index_folder(database), precision, distance)
        summary = steps.index_pgvector(
            database,
            system,
            options,
            m=m,
            ef_construction=ef_construction,
            kind=kind,
            progress=steps.show_progress(quiet=quiet),
        )
    steps.print_records([asdict(summary)], as_json=json)


tune_app = typer.Typer(no_args_is_help=True)


@tune_app.callback()
def tune() -> None:
    """Choose a system's parameters on a benchmark's validation queries."""


@tune_app.command("bm25")
def tune_bm25(
    benchmark: BenchmarkName,
    k1: Annotated[list[float] | None, typer.Option(help="A k1 to try. May be repeated.")] = None,
    b: Annotated[list[float] | None, typer.Option("--b", help="A b to try. May be repeated.")] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Default: the headline measure.", show_default=False)
    ] = None,
    option: Options = None,
    query_template: QueryTemplate = None,
    paper_template: PaperTemplate = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Try k1 and b of sparse_bm25 on the validation queries; runs take the best pair from then on."""
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(
            steps.find_index_folder(database), parameters=parse_options(option or [])
        )
        grids = (k1 or steps.K1_GRID, b or steps.B_GRID)
        request = steps.TuneRequest(benchmark, *grids, measure, options, query_template, paper_template)
        summary = steps.tune_bm25(database, request, progress=steps.show_progress(quiet=quiet))
    steps.print_tuning(summary, as_json=json)


def encode(
    source: Annotated[
        str,
        typer.Argument(help="A Parquet file, a folder of them, or a query, as SELECT …", metavar="SOURCE"),
    ],
    out: Annotated[Path, typer.Argument(help="The folder of Parquet files to write or to go on with.")],
    model: Annotated[str, typer.Option(help="A preset, a model's folder, or a hub id.")] = "minilm",
    id_column: Annotated[str, typer.Option(help="The column of ids.")] = "id",
    text_column: Annotated[
        list[str] | None, typer.Option(help="A column of text. May be repeated. Default: text.")
    ] = None,
    separator: Annotated[str, typer.Option(help="What stands between the columns of text.")] = " ",
    precision: Precision = "auto",
    device: Annotated[
        list[str] | None,
        typer.Option("--device", help="As cuda:0; several are one process each.", show_default=False),
    ] = None,
    max_cosine_error: Annotated[
        float, typer.Option(help="The most that bf16 or fp16 may differ from fp32 on a sample.")
    ] = 1e-3,
    token_budget: Annotated[
        int | None, typer.Option(min=1, help="Tokens of a batch.", show_default=False)
    ] = None,
    compile: Annotated[bool, typer.Option("--compile", help="torch.compile; needs a compiler.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Encode texts of Parquet files or of a query into Parquet files; killed, the same command goes on."""
    options = steps.EncodeOptions(
        id_column,
        tuple(text_column or ("text",)),
        separator,
        precision,  # type: ignore[arg-type]
        max_cosine_error,
        tuple(device or ()),
        token_budget=token_budget,
        compile=compile,
    )
    progress = steps.show_progress(quiet=quiet)
    if Path(source).exists() or len(source.split()) == 1:  # no query is one word
        summary = steps.encode_source(Path(source), model, out, options, progress)
    else:
        with steps.connect_read_only(db, wait_s=wait) as database:
            summary = steps.encode_source(steps.QuerySource(database, source), model, out, options, progress)
    steps.print_records([asdict(summary)], as_json=json)


def add_indexing_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.add_typer(index_app, name="index", help="Make side indexes and vectors, for a benchmark or a corpus.")
    app.add_typer(tune_app, name="tune", help="Choose parameters on a benchmark's validation queries.")
    app.command()(encode)
