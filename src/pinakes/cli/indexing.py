"""The commands that make indexes and vectors: `index`, `index faiss`, `index pgvector`, `encode`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import (
    ENVIRONMENT,
    CommonOptions,
    On,
    PaperTemplate,
    Precision,
    SystemChoices,
    Systems,
    Templates,
)

DEFAULT_INDEX: Final = "benchmark"


class _BenchmarkFirst(TyperGroup):
    """`pinakes index BENCHMARK …` is `pinakes index benchmark BENCHMARK …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command first where none is named."""
        named = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else [DEFAULT_INDEX, *args])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The group's commands, and the names of benchmarks."""
        parameters = self.commands[DEFAULT_INDEX].params
        benchmark = next(parameter for parameter in parameters if parameter.name == "benchmark")
        return [*super().shell_complete(ctx, incomplete), *benchmark.shell_complete(ctx, incomplete)]


app = CommandGroup()
index_app = CommandGroup(cls=_BenchmarkFirst, no_args_is_help=True)
app.add_typer(index_app, name="index", help="Make side indexes and vectors, for a benchmark or a corpus.")


@index_app.command(DEFAULT_INDEX, context_settings={"auto_envvar_prefix": f"{ENVIRONMENT}_INDEX"})
def index(
    system: Systems,
    benchmark: Annotated[
        str | None, typer.Argument(help="The benchmark's name.", metavar="BENCHMARK")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Index this corpus for `search`; with a BENCHMARK that reads any, for that."),
    ] = None,
    producer: Annotated[
        str | None,
        typer.Option(help="Whose variants of papers a benchmark asks with, where several made some."),
    ] = None,
    mode: Annotated[str, typer.Option(help="The mode in which the benchmark will run.")] = "corrected",
    postings: Annotated[
        bool | None,
        typer.Option(
            "--postings/--no-postings",
            help="Have the index's terms and postings in tables too, for SQL, or no longer. sparse_bm25. "
            "Default: as it was; what is there is renewed.",
        ),
    ] = None,
    on: On = None,
    *,
    choices: Annotated[SystemChoices, Omit("distance")],
    templates: Templates,
    common: CommonOptions,
) -> None:
    """Make what systems need to rank a benchmark, or to search a corpus: side indexes, vectors."""
    from pinakes.index.index import index, index_corpus, require_target

    require_target(benchmark, corpus, producer, mode)
    with common.connect() as database:
        given: dict[str, Any] = {
            "options": choices.for_database(database, common.say, on=on),
            "progress": common.show_progress(),
            "postings": postings,
            **asdict(templates),
        }
        if benchmark is None:
            del given["query_template"]
            summaries = [index_corpus(database, corpus or "", name, **given) for name in system]
        else:
            given |= {"corpus": corpus, "producer": producer, "mode": mode}
            summaries = [index(database, benchmark, name, **given) for name in system]
    common.print_records([asdict(summary) for summary in summaries])


@dataclass(frozen=True, slots=True)
class FaissOptions:
    """How a Faiss index is built, and of which vectors."""

    corpus: Annotated[str, typer.Option(help="The corpus whose vectors are indexed.")]
    system: Annotated[str, typer.Option("--system", "-s", help="The encoder.")]
    kind: Annotated[str, typer.Option(help="flat, ivf_flat, ivf_pq, hnsw, sq8 or fp16.")] = "hnsw"
    threads: Annotated[
        int, typer.Option(min=1, help="hnsw: more than one is faster, and no two builds are alike.")
    ] = 1


@index_app.command("faiss")
def index_faiss(
    faiss: FaissOptions,
    choices: Annotated[SystemChoices, Omit("device")],
    paper_template: PaperTemplate = None,
    *,
    common: CommonOptions,
) -> None:
    """Build a Faiss index of a corpus's vectors beside the database, and measure its recall."""
    from pinakes.index.approximate import FaissRequest, index_faiss

    with common.connect() as database:
        options = choices.for_database(database, common.say)
        request = FaissRequest(faiss.corpus, faiss.system, faiss.kind, options, paper_template, faiss.threads)
        summary = index_faiss(database, request, common.show_progress())
    common.print_records([asdict(summary)])


@index_app.command("pgvector")
def index_pgvector(
    system: Annotated[str, typer.Option("--system", "-s", help="The encoder.")],
    m: Annotated[int, typer.Option("--m", min=2, max=100, help="Links of a vector.")] = 16,
    ef_construction: Annotated[int, typer.Option(min=4, max=1000, help="Candidates while building.")] = 64,
    kind: Annotated[str, typer.Option(help="vector, or halfvec in half the bytes.")] = "vector",
    *,
    choices: Annotated[SystemChoices, Omit("device", "option")],
    common: CommonOptions,
) -> None:
    """Build an HNSW index of an encoder's vectors in Postgres, and measure its recall."""
    from pinakes.index.approximate import index_pgvector

    with common.connect() as database:
        summary = index_pgvector(
            database,
            system,
            choices.for_database(database, common.say),
            m=m,
            ef_construction=ef_construction,
            kind=kind,
            progress=common.show_progress(),
        )
    common.print_records([asdict(summary)])


@dataclass(frozen=True, slots=True)
class EncodingOptions:
    """What is encoded, by what and how."""

    model: Annotated[str, typer.Option(help="A preset, a model's folder, or a hub id.")] = "minilm"
    id_column: Annotated[str, typer.Option(help="The column of ids.")] = "id"
    text_column: Annotated[
        list[str] | None, typer.Option(help="A column of text. May be repeated. Default: text.")
    ] = None
    separator: Annotated[str, typer.Option(help="What stands between the columns of text.")] = " "
    precision: Precision = "auto"
    device: Annotated[list[str] | None, typer.Option(help="As cuda:0; several are one process each.")] = None
    max_cosine_error: Annotated[
        float, typer.Option(help="The most that bf16 or fp16 may differ from fp32 on a sample.")
    ] = 1e-3
    token_budget: Annotated[int | None, typer.Option(min=1, help="Tokens of a batch.")] = None
    compile: Annotated[bool, typer.Option("--compile", help="torch.compile; needs a compiler.")] = False


@app.command()
def encode(
    source: Annotated[
        str,
        typer.Argument(help="A Parquet file, a folder of them, or a query, as SELECT …", metavar="SOURCE"),
    ],
    out: Annotated[
        str,
        typer.Argument(
            help="The folder of Parquet files to write or to go on with, or s3://BUCKET/PREFIX.",
        ),
    ],
    encoding: EncodingOptions,
    on: On = None,
    *,
    common: CommonOptions,
) -> None:
    """Encode texts of Parquet files or of a query into Parquet files; killed, the same command goes on."""
    from pinakes.index.encode import EncodeOptions, QuerySource, encode_source

    options = EncodeOptions(
        encoding.id_column,
        tuple(encoding.text_column or ["text"]),
        encoding.separator,
        encoding.precision,  # type: ignore[arg-type]
        encoding.max_cosine_error,
        tuple(encoding.device or ()),
        token_budget=encoding.token_budget,
        compile=encoding.compile,
        on=on,
        tell=common.say,
    )
    progress = common.show_progress()
    if Path(source).exists() or len(source.split()) == 1:  # no query is one word
        summary = encode_source(Path(source), encoding.model, out, options, progress)
    else:
        with common.connect_read_only() as database:
            summary = encode_source(QuerySource(database, source), encoding.model, out, options, progress)
    common.print_records([asdict(summary)])
