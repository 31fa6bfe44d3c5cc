"""The command that lists what `--system` and `--option` take: `systems`."""

from typing import Annotated

import typer

from pinakes.cli.completing import complete_systems
from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions

app = CommandGroup()


@app.command()
def systems(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A system, or an index such as faiss:hnsw.", metavar="NAME", autocompletion=complete_systems
        ),
    ] = None,
    *,
    common: Annotated[CommonOptions, Omit("db", "wait")],
) -> None:
    """List the systems with what each can do; of one, its options: values, default and help."""
    from pinakes.options import describe_options
    from pinakes.report.terminal import print_records
    from pinakes.systems.registry import describe_systems, list_system_options

    if name is None:
        print_records(describe_systems(), common.output)
    elif name == "pgvector" or name.startswith("faiss:"):
        from pinakes.vectors.nearest import describe_index_options

        print_records(describe_index_options(name), common.output)
    else:
        print_records(describe_options(list_system_options(name)), common.output)
