"""The formats of ranking files: their names, and which one a file is of."""

import codecs
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders.base import InputFile
from pinakes.run.files.documents import read_csfcube_ranking, read_mdcr_scores, read_ranx_run
from pinakes.run.files.rows import FileRows, open_ranking, show
from pinakes.run.files.tables import find_delimiter, read_csv, read_parquet, read_tsv
from pinakes.run.files.trec import read_trec_run

FORMATS: Final[dict[str, Callable[[InputFile, Collection[str], str | None], FileRows]]] = {
    "trec": read_trec_run,
    "ranx": read_ranx_run,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "csfcube": read_csfcube_ranking,
    "mdcr": read_mdcr_scores,
}
_BEGIN_BYTES: Final = 1 << 16
_KEY: Final = re.compile(rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*(.)', re.DOTALL)
_BY_VALUE: Final = {b"{": "ranx", b"[": "csfcube", **{bytes([one]): "mdcr" for one in b"-0123456789"}}
"""the first byte of the first value of a JSON object -> the format"""


def read_ranking(
    path: Path, format_: str | None = None, query_ids: Collection[str] = (), facet: str | None = None
) -> tuple[str, FileRows]:
    """The format and the rows of a file of the format named, or of the one that its content shows.

    Args:
        path: plain, or compressed as its name says.
        format_: a name of `FORMATS`; None: the file shows it.
        query_ids: those of the benchmark, which `csfcube` and `mdcr` need.
        facet: of a file of `csfcube` whose name lacks it.

    Raises:
        UnknownNameError: there is no such format.
        InputError: the file cannot be read, or is not of its format.
    """
    if format_ is not None and format_ not in FORMATS:
        raise UnknownNameError("format of rankings", format_, list(FORMATS))
    file = InputFile(path, path.name, "run")
    named = format_ or recognise(file)
    return named, FORMATS[named](file, query_ids, facet)


def recognise(file: InputFile) -> str:
    """The format that the beginning of a file shows; `InputError` where it shows none."""
    with open_ranking(file) as stream:
        begin = stream.read(_BEGIN_BYTES)
    if begin.startswith(b"PAR1"):
        return "parquet"
    begin = begin.removeprefix(codecs.BOM_UTF8)
    lines = [line for line in begin.split(b"\n") if line.strip() and not line.startswith(b"#")]
    first = lines[0].strip() if lines else b""
    found = _recognise_object(begin.lstrip()) or _recognise_line(first)
    if found is None:
        begins = f"begins with {show(first)}" if first else "is empty"
        raise InputError(
            f"{file.name} {begins}, which shows no format of rankings; expected a TREC run (query Q0 "
            "document rank score tag), a table with a header, Parquet, or a JSON object of rankings. Say "
            f"which it is with --format: {', '.join(FORMATS)}."
        )
    return found


def _recognise_object(begin: bytes) -> str | None:
    found = _KEY.match(begin, 1) if begin.startswith(b"{") else None
    return _BY_VALUE.get(found[1]) if found else None


def _recognise_line(first: bytes) -> str | None:
    table = find_delimiter(first.decode("utf-8", "replace"))
    if table is not None:
        return table[0]
    columns = first.split()
    return "trec" if len(columns) == 6 and columns[4][-1:] not in b',:}])>"' else None
