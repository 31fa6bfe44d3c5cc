"""A benchmark's judgments as files: TREC qrels, BEIR's table, ranx's JSON."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.queries.definition import require_task
from pinakes.queries.relations import select_judgments
from pinakes.queries.tasks import RANKING
from pinakes.run.export_run import list_ranx_lines, require_word
from pinakes.workload.benchmark import open_benchmark
from pinakes.writing.files import find_kind, write_lines

Judgment = tuple[str, str, int]
BEIR_HEADER: Final = "query-id\tcorpus-id\tscore"
_BY_SUFFIX: Final = {".json": "ranx", ".tsv": "beir"}


def export_qrels(database: Database, benchmark_name: str, path: Path, format_: str | None = None) -> int:
    """Write a benchmark's judgments to a file; the number of judgments written.

    Without a format the file's name says it: `.json` is ranx, `.tsv` is beir, anything else is TREC.

    Raises:
        UnknownNameError: there is no such benchmark or format.
        InputError: an id cannot stand in the format, or the file cannot be written.
    """
    named = format_ or _BY_SUFFIX.get(find_kind(path), "trec")
    if named not in QRELS_FORMATS:
        raise UnknownNameError("format of judgments", named, list(QRELS_FORMATS))
    benchmark = open_benchmark(database, benchmark_name)
    require_task(benchmark, RANKING)
    count = 0

    def judge() -> Iterator[Judgment]:
        nonlocal count
        for row in session.stream_rows(select_judgments(benchmark)):
            count += 1
            yield row

    with database.read() as session:
        write_lines(path, QRELS_FORMATS[named](judge()))
    return count


def list_beir_lines(judgments: Iterator[Judgment]) -> Iterator[str]:
    """BEIR's table of judgments, with its header."""
    yield BEIR_HEADER
    for query_id, source_id, grade in judgments:
        yield f"{_require_cell(query_id)}\t{_require_cell(source_id)}\t{grade}"


def _require_cell(identifier: str) -> str:
    # What reads BEIR's tables splits them at any white space, or takes quotes away.
    if identifier.startswith(('"', "#")):
        raise InputError(
            f"the id {identifier!r} begins with a quotation mark or #, which readers of BEIR's tables take "
            "away; choose ranx."
        )
    return require_word(identifier, "BEIR's tables")


def _list_trec_lines(judgments: Iterator[Judgment]) -> Iterator[str]:
    for query_id, source_id, grade in judgments:
        query = require_word(query_id, "TREC files")
        if query.startswith("#"):
            raise InputError(f"the id {query!r} begins with #, as comments in TREC files do; choose ranx.")
        yield f"{query} 0 {require_word(source_id, 'TREC files')} {grade}"


QRELS_FORMATS: Final[dict[str, Callable[[Iterator[Judgment]], Iterator[str]]]] = {
    "trec": _list_trec_lines,
    "beir": list_beir_lines,
    "ranx": list_ranx_lines,
}
