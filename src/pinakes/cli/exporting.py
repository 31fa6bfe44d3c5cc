"""The commands that write files for other programs: `export NAME FILE`, `export run`, `export beir`, …"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import DATA, ENVIRONMENT, BenchmarkName, CommonOptions, GuardFormulas, QueryLimits
from pinakes.errors import InputError

if TYPE_CHECKING:  # a command's help does not wait for them
    from pinakes.database import Database
    from pinakes.export.collections import Collection

DEFAULT_EXPORT: Final = "table"


class _TableFirst(TyperGroup):
    """`pinakes export NAME FILE` is `pinakes export table NAME FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command first where none is named."""
        named = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else [DEFAULT_EXPORT, *args])


app = CommandGroup()
export_app = CommandGroup(cls=_TableFirst, no_args_is_help=True)
app.add_typer(export_app, name="export", help="Write files that other programs read.")


@export_app.command(DEFAULT_EXPORT, context_settings={"auto_envvar_prefix": f"{ENVIRONMENT}_EXPORT"})
def export_table(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME] FILE", help="A table or view, as papers or csfcube.queries; the file."
        ),
    ],
    sql: Annotated[
        str | None, typer.Option(help="A query whose result is written, in place of NAME.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="parquet, csv, tsv, jsonl, arrow or latex. Default: by the file's name."),
    ] = None,
    guard_formulas: GuardFormulas = False,
    *,
    limits: QueryLimits,
    common: Annotated[CommonOptions, Omit("guard_formulas", "timeout")],
) -> None:
    """Write a table, a view or a query's result: Parquet, CSV, TSV, JSON Lines, Arrow or LaTeX."""
    from pinakes.export.tables import export_query, export_table

    expected = 1 if sql is not None else 2
    if len(words) != expected:
        form = "--sql QUERY FILE" if sql is not None else "NAME FILE"
        raise InputError(f"expected pinakes export {form}, found {len(words)} words: {' '.join(words)}.")
    file = Path(words[-1])
    with common.connect_read_only() as database:
        written = (
            export_table(database, words[0], file, format, limits.read(), guard=guard_formulas)
            if sql is None
            else export_query(database, sql, file, format, limits.read(), guard=guard_formulas)
        )
    common.print_records([asdict(written)])


@export_app.command("run")
def export_run(
    run: Annotated[int, typer.Argument(help="The run's id.")],
    file: Annotated[Path, typer.Argument(help="The file that is written; of csfcube, the folder.")],
    format: Annotated[
        str | None,
        typer.Option(
            help="trec, ranx, csv, tsv, parquet, csfcube or mdcr. Default: by the file's name, else trec."
        ),
    ] = None,
    provenance: Annotated[
        bool,
        typer.Option(
            "--provenance", help="trec: begin with comment lines that say what made the run: ir_metadata."
        ),
    ] = False,
    actor: Annotated[
        str | None, typer.Option(help="Who made the run, for the lines of --provenance.")
    ] = None,
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Write a stored run: TREC, ranx JSON, PyTerrier's table, CSFCube's or MDCR's own files."""
    from pinakes.run.export_run import export_run

    with common.connect_to_look() as database:
        count = export_run(database, run, file, format, with_provenance=provenance, actor=actor)
    common.say(f"{file}: {count} hits")


@export_app.command("qrels")
def export_qrels(
    benchmark: BenchmarkName,
    file: Annotated[Path, typer.Argument(help="The file that is written.")],
    format: Annotated[
        str | None, typer.Option(help="trec, beir or ranx. Default: by the file's name, else trec.")
    ] = None,
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Write a benchmark's judgments: TREC qrels, BEIR's table (.tsv) or ranx JSON (.json)."""
    from pinakes.run.export_qrels import export_qrels

    with common.connect_to_look() as database:
        count = export_qrels(database, benchmark, file, format)
    common.say(f"{file}: {count} judgments")


@dataclass(frozen=True, slots=True)
class CollectionChoice:
    """What is written as a collection."""

    benchmark: Annotated[
        str | None, typer.Option(help="A benchmark: its candidates, queries and judgments.")
    ] = None
    corpus: Annotated[str | None, typer.Option(help="A corpus: all its papers, queries and judgments.")] = (
        None
    )
    assessor: Annotated[
        str | None, typer.Option(help="Whose judgments, where the corpus has those of several.")
    ] = None

    def find(self, database: "Database") -> "Collection":
        """The collection in the database."""
        from pinakes.export.collections import find_collection

        return find_collection(database, self.benchmark, self.corpus, self.assessor)


Folder = Annotated[Path, typer.Argument(help="The folder that is made.")]


@export_app.command("partitioned")
def export_partitioned(
    folder: Annotated[str, typer.Argument(help="The folder that is made or renewed, or s3://BUCKET/PREFIX.")],
    corpus: Annotated[list[str] | None, typer.Option(help="A corpus. May be repeated. Default: all.")] = None,
    buckets: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Files of each table. Default: one for each million papers."),
    ] = None,
    *,
    common: CommonOptions,
) -> None:
    """Write corpora as Parquet files by corpus and hash of the paper's id, with a manifest."""
    from pinakes.export.corpora.write import export_corpora

    with common.connect_to_look() as database:
        written = export_corpora(database, folder, corpus or (), buckets, common.show_progress())
    common.print_records([asdict(one) for one in written])


@app.command("import-corpora")
def import_corpora(
    folder: Annotated[str, typer.Argument(help="What `export partitioned` wrote, or s3://BUCKET/PREFIX.")],
    corpus: Annotated[list[str] | None, typer.Option(help="A corpus. May be repeated. Default: all.")] = None,
    *,
    common: CommonOptions,
) -> None:
    """Take corpora that `export partitioned` wrote, with the same rows and ids."""
    from pinakes.export.corpora.take import import_corpora

    with common.connect() as database:
        taken = import_corpora(database, folder, corpus or (), common.show_progress())
    common.print_records([asdict(one) for one in taken])


@export_app.command("beir")
def export_beir(folder: Folder, choice: CollectionChoice, common: CommonOptions) -> None:
    """Write a corpus or a benchmark as a BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv."""
    from pinakes.export.beir import export_beir

    with common.connect_to_look() as database:
        written = export_beir(database, choice.find(database), folder)
    common.print_records([asdict(written)])


@export_app.command("mteb")
def export_mteb(folder: Folder, choice: CollectionChoice, common: CommonOptions) -> None:
    """Write a corpus or a benchmark as Parquet files that `datasets` and MTEB read."""
    from pinakes.export.mteb import export_mteb

    with common.connect_to_look() as database:
        written = export_mteb(database, choice.find(database), folder)
    common.print_records([asdict(written)])


@export_app.command("summaries")
def export_summaries(
    file: Annotated[Path, typer.Argument(help="The file that is written.")],
    corpus: Annotated[str, typer.Option(help="The corpus whose examples are written.")],
    format: Annotated[str | None, typer.Option(help="jsonl or parquet. Default: by the file's name.")] = None,
    labeller: Annotated[
        str | None, typer.Option(help="Whose labels. Default: a greedy one where there is one.")
    ] = None,
    split_scheme: Annotated[str, typer.Option(help="by_paper, or by_example as published.")] = "by_paper",
    producer: Annotated[
        str | None, typer.Option(help="Whose examples, where the corpus has those of several.")
    ] = None,
    *,
    common: CommonOptions,
) -> None:
    """Write the examples of query-focused summarisation of a corpus, with sentences and labels."""
    from pinakes.texts.summaries.export import export_summaries

    with common.connect_to_look() as database:
        written = export_summaries(
            database,
            corpus,
            file,
            format_=format or file.suffix.removeprefix("."),
            labeller=labeller,
            scheme=split_scheme,
            producer=producer,
        )
    common.print_records([{"file": str(file), **written}])
