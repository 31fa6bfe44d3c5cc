"""What a command says on stderr: sentences as they are, or lines of a log with time, level and command.

The log is Python's own: the logger `pinakes`, beside what libraries log and warn.
"""

import json
import logging
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import typer

from pinakes.errors import clean

LOG_FORMS: Final = ("off", "text", "json")
_OWN: Final = "pinakes: "
_WARNING: Final = "warning: "
_LOGGER: Final = logging.getLogger("pinakes")


class _Command:
    name = "pinakes"


def name_log(words: Sequence[str]) -> None:
    """Call the lines of a log after the command that a command line begins with."""
    _Command.name = next((word for word in words[:1] if not word.startswith("-")), "pinakes")


def is_logging() -> bool:
    """Whether what is said becomes lines of a log."""
    return any(isinstance(one, _Handler) for one in logging.getLogger().handlers)


def start_log(form: str, *, errors_only: bool = False) -> None:
    """Have all that is said from now on be lines of a log on stderr: `text`, `json`, or `off`."""
    stop_log()
    if form not in LOG_FORMS or form == "off":
        return
    root = logging.getLogger()
    handler = _Handler(_JsonLines() if form == "json" else _TextLines())
    handler.setLevel(logging.ERROR if errors_only else logging.INFO)
    root.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    logging.captureWarnings(True)


def stop_log() -> None:
    """Say sentences as they are from now on."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, _Handler)]:
        root.removeHandler(handler)
        logging.captureWarnings(False)
        _LOGGER.setLevel(logging.NOTSET)


def say(line: str) -> None:
    """Say a line; one that begins with `pinakes: warning: ` is a warning."""
    if not is_logging():
        typer.echo(line, err=True)
        return
    said = line.removeprefix(_OWN)
    level = logging.WARNING if said.startswith(_WARNING) else logging.INFO
    _LOGGER.log(level, "%s", said.removeprefix(_WARNING))


def say_error(message: str, *, trace: str = "") -> None:
    """Say why a command failed; before it the traceback of a defect."""
    if is_logging():
        _LOGGER.error("%s", message, extra={"trace": trace})
        return
    if trace:
        typer.echo(trace, err=True, nl=not trace.endswith("\n"))
    typer.echo(f"{_OWN}{message}", err=True)


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what stderr is now."""

    def __init__(self, lines: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(lines)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the library's name)
        """End no command because nobody reads its log."""


class _TextLines(logging.Formatter):
    """`2026-11-23T02:15:00.123+01:00 INFO evaluate[4711] message`, as many lines as the message has."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record."""
        begin = f"{_write_time(record)} {record.levelname} {_Command.name}[{record.process}] "
        lines = (_read_trace(record) + clean(record.getMessage())).splitlines() or [""]
        return "\n".join(begin + line for line in lines)


class _JsonLines(logging.Formatter):
    """One object a line: time, level, command, process, logger, message, and traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        trace = _read_trace(record)
        line = {
            "time": _write_time(record),
            "level": record.levelname,
            "command": _Command.name,
            "process": record.process,
            "logger": record.name,
            "message": record.getMessage(),
            **({"traceback": trace} if trace else {}),
        }
        return json.dumps(line, ensure_ascii=False)


def _read_trace(record: logging.LogRecord) -> str:
    given: str = getattr(record, "trace", "")
    if record.exc_info:
        given += logging.Formatter().formatException(record.exc_info) + "\n"
    return given


def _write_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
