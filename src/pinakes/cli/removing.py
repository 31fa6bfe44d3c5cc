"""The commands that take something out: `gc`, and `remove` of a run, a corpus, a benchmark, a training."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.option_sets import CommandGroup
from pinakes.cli.options import BenchmarkName, CommonOptions
from pinakes.errors import InputError

if TYPE_CHECKING:  # a command's help does not wait for them
    from pinakes.database import Database
    from pinakes.removal.data import Removal

app = CommandGroup()
remove_app = CommandGroup(no_args_is_help=True)
app.add_typer(
    remove_app, name="remove", help="Take runs, a corpus, a benchmark or a recorded draw out of the database."
)


@dataclass(frozen=True, slots=True)
class Consent:
    """Whether rows are really removed."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be removed, and remove nothing.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False

    def check(self) -> None:
        """Raise `InputError` where it would have to be asked for, and nobody is there to answer."""
        if not (self.dry_run or self.yes or sys.stdin.isatty()):
            raise InputError(
                "nothing was removed: without a terminal nobody can be asked. Look with --dry-run, then say "
                "--yes."
            )


@remove_app.command("run")
def remove_run(
    runs: Annotated[list[int], typer.Argument(help="The ids of the runs.", metavar="ID...")],
    *,
    consent: Consent,
    common: CommonOptions,
) -> None:
    """Take runs out, with their answers and scores."""
    from pinakes.removal.remove import remove_runs

    _remove(lambda database, dry_run: remove_runs(database, runs, dry_run=dry_run), consent, common)


@remove_app.command("corpus")
def remove_corpus(
    corpus: Annotated[str, typer.Argument(help="The corpus's name.", metavar="CORPUS")],
    *,
    consent: Consent,
    common: CommonOptions,
) -> None:
    """Take a corpus out, with what was sampled from it and the runs that ranked its papers."""
    from pinakes.removal.remove import remove_corpus

    _remove(lambda database, dry_run: remove_corpus(database, corpus, dry_run=dry_run), consent, common)


@remove_app.command("benchmark")
def remove_benchmark(benchmark: BenchmarkName, *, consent: Consent, common: CommonOptions) -> None:
    """Take a benchmark out, with its views, its runs and what was sampled, constructed or tuned for it."""
    from pinakes.removal.remove import remove_benchmark

    _remove(lambda database, dry_run: remove_benchmark(database, benchmark, dry_run=dry_run), consent, common)


@remove_app.command("training")
def remove_training(
    training: Annotated[str, typer.Argument(help="What the trained encoder is called.", metavar="TRAINING")],
    *,
    consent: Consent,
    common: CommonOptions,
) -> None:
    """Take out what was drawn to train an encoder on; its folder stays."""
    from pinakes.removal.remove import remove_training

    _remove(lambda database, dry_run: remove_training(database, training, dry_run=dry_run), consent, common)


def _remove(remove: "Callable[[Database, bool], Removal]", consent: Consent, common: CommonOptions) -> None:
    from pinakes.report.present.removal import print_removal

    consent.check()
    with common.connect() as database:
        if consent.dry_run or not consent.yes:
            print_removal(remove(database, True), common.output, is_dry=True)
        if consent.dry_run:
            return
        if not consent.yes:
            typer.confirm("Remove all of it?", abort=True, err=True)
        print_removal(remove(database, False), common.output)


@app.command()
def gc(*, consent: Consent, common: CommonOptions) -> None:
    """Remove what nothing refers to: vectors, side indexes and their folders, old analyses, authors."""
    from pinakes.removal.gc import collect_garbage
    from pinakes.report.present.removal import print_garbage
    from pinakes.workload.benchmark import find_index_folder

    consent.check()
    with common.connect() as database:
        folder = find_index_folder(database)
        if consent.dry_run or not consent.yes:
            print_garbage(collect_garbage(database, folder, dry_run=True), common.output, is_dry=True)
        if consent.dry_run:
            return
        if not consent.yes:
            typer.confirm("Remove all of it?", abort=True, err=True)
        print_garbage(collect_garbage(database, folder), common.output)
