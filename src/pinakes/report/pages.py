"""Pages: Jinja as our templates use it, every text escaped, and files replaced whole while they are read."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from pinakes.errors import InputError
from pinakes.faults import told_as
from pinakes.report.escapes import escape_marks
from pinakes.report.formatting import format_time


class Drawn(Markup):
    """Markup in which control characters and marks of direction are written out already."""


def make_environment() -> Environment:
    """Where templates are looked up, with the filters `time`, `breakable` and `minus`."""
    environment = Environment(
        loader=FunctionLoader(_read_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_write_out,
    )
    environment.filters["time"] = format_time
    environment.filters["breakable"] = _let_break
    environment.filters["minus"] = _write_minus
    return environment


def _write_out(value: object) -> object:
    """What a template prints, with control characters and marks of direction written out."""
    if not isinstance(value, str) or isinstance(value, Drawn):
        return value
    text = escape_marks(str(value))
    if text == value:
        return value
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 - it was safe before


def _read_template(name: str) -> str:
    return files("pinakes.report").joinpath("templates", name).read_text(encoding="utf-8")


def _let_break(text: str) -> Markup:
    """Text that may go on in the next line after a point, as names of measures have one.

    >>> str(_let_break("CSFCube.nDCG%20")), str(_let_break("<b>"))
    ('CSFCube.<wbr>nDCG%20', '&lt;b&gt;')
    """
    return Markup(".<wbr>").join(text.split("."))


def _write_minus(text: str) -> str:
    """Text with a true minus before digits and between words, as print has it.

    >>> _write_minus("-0.10"), _write_minus("95 % -7.21 to -3.17"), _write_minus("bm25-fast")
    ('−0.10', '95 % −7.21 to −3.17', 'bm25-fast')
    """
    return re.sub(r"(?:^|(?<= to )|(?<= % ))-(?=[\d∞])", "−", text.replace(" - ", "\u00a0−\u00a0"))


def write_files(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    """Write texts under their names into a folder, which is made; the paths, in the given order.

    Raises:
        InputError: the folder cannot be written.
    """
    with told_as(InputError, f"the report cannot be written to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(folder / name, text) for name, text in contents.items()]


def _write(path: Path, text: str) -> Path:
    """Write beside the path and rename, so that a reader never sees half a file."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        return unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise
