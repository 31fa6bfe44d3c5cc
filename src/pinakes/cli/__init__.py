"""The command line: a module for each group of commands; options and exit codes, no logic.

Data goes to stdout, chatter to stderr. Exit code 0: everything asked for was done; 1: it was not, and the
message says why; 2: the command line was wrong; 3: scores are below those that were accepted; 70: a defect of
Pinakes, with its traceback; 130: interrupted.
What the machine or the database refuses, as a full disk, is no defect: it is told in words, and so is
an extra that is not installed.

A command imports what it runs when it is called, so that `pinakes --help` waits for none of it.
"""

import logging
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer

from pinakes.cli import (
    demo,
    deriving,
    evaluating,
    exporting,
    indexing,
    loading,
    removing,
    reporting,
    running,
    sampling,
    searching,
    systems,
)
from pinakes.cli.options import ENVIRONMENT
from pinakes.errors import PinakesError, RegressionError, clean
from pinakes.extras import explain_missing
from pinakes.faults import explain_fault
from pinakes.version import VERSION

REGRESSION: Final = 3
DEFECT: Final = 70
"""EX_SOFTWARE of sysexits.h"""
INTERRUPTED: Final = 130
_GOES_ON: Final = frozenset(
    ("load", "fetch", "derive", "encode", "index", "run", "cross-format", "reproduce", "tune", "demo")
)
"""the commands that pass over what an earlier start has done"""
_GROUPS: Final = (
    loading,
    deriving,
    exporting,
    indexing,
    searching,
    sampling,
    systems,
    running,
    evaluating,
    reporting,
    removing,
    demo,
)

app = typer.Typer(
    name="pinakes",
    help="Scholarly papers, references and citations in tables; retrieval benchmarks in SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for _group in _GROUPS:
    app.add_typer(_group.app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pinakes {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not of UTF-8 ends no command
    # The pool logs a traceback of a connection that cannot be rolled back; the command's own error tells why.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    code = run_command()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 1
    except OSError as error:
        with suppress(OSError):
            typer.echo(f"pinakes: the output cannot be written: {explain_fault(error)}", err=True)
        code = code or 1
    # Everything is closed by now. Taking the interpreter down as usual would print pages about objects of
    # DuckDB's bindings that torch, once imported, keeps alive.
    os._exit(code)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line; messages are on stderr."""
    try:
        with warnings.catch_warnings():  # --quiet turns them off for one command
            _make_command()(arguments, auto_envvar_prefix=ENVIRONMENT)
    except PinakesError as error:
        typer.echo(f"pinakes: {clean(str(error))}", err=True)
        return REGRESSION if isinstance(error, RegressionError) else 1
    except SystemExit as end:  # Typer's way out of everything, whichever click it carries
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code == INTERRUPTED:
            words = sys.argv[1:] if arguments is None else arguments
            then = "; start the same command again to go on" if words and words[0] in _GOES_ON else ""
            typer.echo(f"pinakes: interrupted{then}.", err=True)
        return code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 (the one place where a defect of Pinakes is caught)
        explained = explain_missing(error) or explain_fault(error) or _explain_driver(error)
        if explained is not None:
            typer.echo(f"pinakes: {clean(explained)}", err=True)
            return 1
        traceback.print_exc()
        typer.echo("pinakes: this is a defect of Pinakes; please report it with the lines above.", err=True)
        return DEFECT
    return 0


@cache
def _make_command() -> Any:
    """The commands with their options, which are read from the functions once a process."""
    return typer.main.get_command(app)


def _explain_driver(error: Exception) -> str | None:
    """A driver's error that nothing translated on its way; a driver that is not loaded raised nothing."""
    if "pinakes.database.driver_errors" not in sys.modules:
        return None
    from pinakes.database.driver_errors import driver_errors, explain

    ours = explain(error) if isinstance(error, driver_errors()) else None
    return None if ours is None else str(ours)
