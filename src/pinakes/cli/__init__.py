"""The command line: a module for each group of commands; options and exit codes, no logic.

Data goes to stdout, chatter to stderr; `codes` has the exit codes. What the machine or the database refuses,
as a full disk, is no defect: it is told in words, and so is an extra that is not installed.

A command is made when it is called (`commands`), and imports what it runs then, so that `pinakes --help`
waits for none of it.
"""

import gc
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

from pinakes.cli.chatter import is_logging, name_log, say_error, start_log, stop_log
from pinakes.cli.codes import ExitCode
from pinakes.cli.commands import AllCommands
from pinakes.cli.options import ENVIRONMENT
from pinakes.cli.time_limit import TimeLimitError, stop_time_limit
from pinakes.cli.without_pandas import refuse_pandas
from pinakes.error_words import explain_error
from pinakes.errors import DatabaseBusyError, PinakesError, RegressionError, clean
from pinakes.faults import explain_fault
from pinakes.settings import read_settings
from pinakes.version import VERSION

_GOES_ON: Final = frozenset(
    ("load", "fetch", "derive", "encode", "index", "train", "compare-methods", "run", "cross-format")
) | frozenset(("reproduce", "tune", "evaluate", "site", "demo"))
"""the commands that pass over what an earlier start has done"""
_OBJECTS_A_COLLECTION: Final = 50_000
"""Python looks for garbage after every 700 new objects, of which an import makes thousands that all stay"""

app = typer.Typer(
    name="pinakes",
    cls=AllCommands,
    help="Scholarly papers, references and citations in tables; retrieval benchmarks in SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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
    refuse_pandas()
    gc.set_threshold(_OBJECTS_A_COLLECTION)
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
            say_error(f"the output cannot be written: {explain_fault(error)}")
        code = code or 1
    # Everything is closed by now. Taking the interpreter down as usual would print pages about objects of
    # DuckDB's bindings that torch, once imported, keeps alive.
    os._exit(code)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line; messages are on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name_log(words)
    start_log(read_settings().log)  # until the command's own options are read
    try:
        return _run_command(words)
    finally:
        stop_log()


def _run_command(words: list[str]) -> int:
    try:
        with warnings.catch_warnings():  # --quiet turns them off for one command
            code = _call_command(words)
    except PinakesError as error:
        if (late := stop_time_limit()) is not None:
            return _end_late(late, words)
        say_error(clean(str(error)))
        return _choose_code(error)
    except SystemExit as end:  # Typer's way out of everything, whichever click it carries
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BrokenPipeError:
        sys.stderr.close()
        return ExitCode.FAILED
    except Exception as error:  # noqa: BLE001 (the one place where a defect of Pinakes is caught)
        if (late := stop_time_limit()) is not None:
            return _end_late(late, words)
        explained = explain_error(error)
        if explained is not None:
            say_error(clean(explained))
            return ExitCode.FAILED
        say_error(
            "this is a defect of Pinakes; please report it with the lines above.",
            trace=traceback.format_exc(),
        )
        return ExitCode.DEFECT
    late = stop_time_limit()
    if code == ExitCode.INTERRUPTED:
        if late is not None:
            return _end_late(late, words)
        say_error(f"interrupted{_say_how_it_goes_on(words)}.")
    return code


def _call_command(words: list[str]) -> int:
    """Run a command; while a log is written, what is wrong with its line is a line of that too."""
    if not is_logging():
        _make_command()(words, auto_envvar_prefix=ENVIRONMENT)
        return ExitCode.DONE
    try:
        code = _make_command()(words, auto_envvar_prefix=ENVIRONMENT, standalone_mode=False)
    except typer.Abort:
        say_error("aborted.")
        return ExitCode.FAILED
    except Exception as error:
        if not hasattr(error, "format_message"):  # what every click calls an error of its user
            raise
        say_error(clean(error.format_message()))
        return ExitCode.USAGE
    return code if isinstance(code, int) else ExitCode.DONE


def _end_late(late: TimeLimitError, words: list[str]) -> int:
    say_error(f"{late}. What it has stored stays{_say_how_it_goes_on(words)}.")
    return ExitCode.FAILED


def _say_how_it_goes_on(words: list[str]) -> str:
    return "; start the same command again to go on" if words and words[0] in _GOES_ON else ""


def _choose_code(error: PinakesError) -> ExitCode:
    if isinstance(error, RegressionError):
        return ExitCode.REGRESSION
    return ExitCode.BUSY if isinstance(error, DatabaseBusyError) else ExitCode.FAILED


@cache
def _make_command() -> Any:
    """The commands with their options, which are read from the functions once a process."""
    return typer.main.get_command(app)
