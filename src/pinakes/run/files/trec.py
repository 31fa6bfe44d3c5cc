"""TREC runs, `query Q0 document rank score tag`, columns by white space, a block of lines at a time.

A block is parsed by Arrow; one that Arrow does not take is parsed line by line, which takes what is right
and says which line is wrong.
"""

import codecs
import re
from collections.abc import Collection, Iterator
from typing import IO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.run.files.rows import FileRows, open_ranking, show

_BLOCK_BYTES: Final = 16 << 20
_COLUMNS: Final = ("query", "iteration", "document", "rank", "score", "tag")
_TYPES: Final = {
    "query": pa.string(),
    "document": pa.string(),
    "score": pa.float64(),
    "tag": pa.dictionary(pa.int32(), pa.string()),
}
_BLANKS: Final = bytes.maketrans(b"\t\r\v\f", b"    ")
_COMMENT: Final = re.compile(rb"^#.*\n?", re.MULTILINE)
_SCHEMA: Final = pa.schema([(name, pa.string() if name == "tag" else _TYPES[name]) for name in _TYPES])


def read_trec_run(file: InputFile, _query_ids: Collection[str], _facet: str | None) -> FileRows:
    """The rows of a TREC run; the rank column is ignored, as trec_eval ignores it.

    Lines that begin with `#` are comments; empty lines are passed over.

    Raises:
        InputError: a line is no row of a run, or its score is no finite number.
    """
    with open_ranking(file) as stream:
        blocks = _cut_blocks(stream)
        parts = [_parse_block(file.name, number, block) for number, block in blocks]
    table = pa.concat_tables([_SCHEMA.empty_table(), *parts])
    scores = table["score"].to_numpy()
    return FileRows(table["query"], table["document"], scores, np.zeros(len(scores)), table["tag"])


def _cut_blocks(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Whole lines, many at once, with the number of the first."""
    number, rest = 1, b""
    while data := stream.read(_BLOCK_BYTES):
        if number == 1 and not rest:
            data = data.removeprefix(codecs.BOM_UTF8)
        end = data.rfind(b"\n") + 1
        if not end:
            rest += data
            continue
        yield number, rest + data[:end]
        number += data.count(b"\n") + rest.count(b"\n")
        rest = data[end:]
    if rest:
        yield number, rest


def _parse_block(name: str, first_line: int, block: bytes) -> pa.Table:
    parsed = _parse_columns(block)
    return _parse_lines(name, first_line, block) if parsed is None else parsed


def _parse_columns(block: bytes) -> pa.Table | None:
    """The block as Arrow parses it, or None where something in it is not as it should be."""
    plain = _squeeze(block)
    if not plain.strip():
        return _SCHEMA.empty_table()
    try:
        table = csv.read_csv(
            pa.BufferReader(plain),
            read_options=csv.ReadOptions(column_names=_COLUMNS),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False),
            convert_options=csv.ConvertOptions(
                column_types=_TYPES, include_columns=list(_TYPES), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    if not pc.all(pc.is_finite(table["score"])).as_py():
        return None
    return table.cast(_SCHEMA)


def _squeeze(block: bytes) -> bytes:
    """The lines with one blank between columns and none around them, without comments."""
    if _is_squeezed(block):
        return block
    plain = block.translate(_BLANKS)
    if plain.startswith(b"#") or b"\n#" in plain:
        plain = _COMMENT.sub(b"", plain)
    while b"  " in plain:
        plain = plain.replace(b"  ", b" ")
    return plain.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _is_squeezed(block: bytes) -> bool:
    """Whether single spaces and line ends are all the white space, and no comment is there."""
    found = np.frombuffer(block, np.uint8)
    is_blank = found <= ord(" ")
    if is_blank[0] or block.endswith(b" ") or (is_blank[1:] & is_blank[:-1]).any():
        return False
    if block.startswith(b"#") or b"\n#" in block:
        return False
    return not any(one in block for one in (b"\t", b"\r", b"\v", b"\f"))


def _parse_lines(name: str, first_line: int, block: bytes) -> pa.Table:
    rows = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if line.strip() and not line.startswith(b"#"):
            try:
                rows.append(_parse_line(line))
            except ValueError as error:
                raise InputError(f"{name}, line {number}: {error}.") from error
    columns = zip(*rows, strict=True) if rows else [()] * len(_SCHEMA)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
    )


def _parse_line(line: bytes) -> tuple[str, str, float, str]:
    columns = line.split()
    if len(columns) != len(_COLUMNS):
        raise ValueError(
            f"{show(line.strip())} is no row of a TREC run: it has {len(columns)} columns; expected "
            "`query Q0 document rank score tag`"
        )
    try:
        query, _, document, _, score, tag = (column.decode("utf-8") for column in columns)
    except UnicodeDecodeError as error:
        raise ValueError(f"{show(line.strip())} is not UTF-8") from error
    try:
        value = float(score.replace("_", "?"))  # Python alone reads 1_000 as a number
    except ValueError as error:
        raise ValueError(
            f"the score {show(score)} is no number; expected `query Q0 document rank score tag`"
        ) from error
    if not np.isfinite(value):
        raise ValueError(f"the score {score} is not a finite number")
    return query, document, value, tag
