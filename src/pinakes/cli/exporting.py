"""The commands that write what a corpus has to files: `export summaries`."""

from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions

app = CommandGroup()
export_app = CommandGroup(no_args_is_help=True)
app.add_typer(export_app, name="export", help="Write what a corpus has to files that others read.")


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
    common: Annotated[CommonOptions, Omit("quiet")],
) -> None:
    """Write the examples of query-focused summarisation of a corpus, with sentences and labels."""
    from pinakes.texts.summaries.export import export_summaries

    with common.connect() as database:
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
