"""TREC-COVID: CORD-19's metadata.csv, the topics and the qrels of the rounds.

The headers of all releases are read (`mag_id` was `Microsoft Academic Paper ID`). One cord_uid on several
rows is known to occur: they describe one paper from several sources, so they are merged, not rejected. The
first row is the paper and has the identifiers of all its rows; the later ones fill its gaps and overwrite
nothing. `sha` are the hashes of the paper's PDF files, several of them separated by semicolons; their scheme
is `pdf_sha1`, and none is an id of Semantic Scholar, whose CorpusID is `s2_id`.

The iteration of a judgment is the round of judging (0.5, 1, … 5); it becomes the pool source `round 4.5`.
Judged papers that the metadata lacks become papers without a text, or rejected rows with `unknown=reject`.
Judgments of topics that are not loaded are rejected: load the topics with them, or before.
Leaves out, and counts: full texts, licences, addresses, `source_x`.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import keep_filled, leave_fields, leave_out
from pinakes.loaders.reading.breaks import until_broken
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.qrels import COLUMNS_HELP, ITERATION, TREC, read_qrels
from pinakes.loaders.reading.qrels_columns import settle_qrels
from pinakes.loaders.reading.rows import (
    Row,
    describe_paper,
    list_authorships,
    list_identifiers,
    list_pool_sources,
)
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.unknown import creates_unknown
from pinakes.loaders.reading.values import take_id, take_year
from pinakes.loaders.staging import Accepted, Chunk, RecordError, Rejected, Rows, show_raw
from pinakes.loaders.trec.topics import read_topics

_SCHEMES: Final = {
    "doi": "doi",
    "pmcid": "pmc",
    "pubmed_id": "pubmed",
    "mag_id": "mag",
    "Microsoft Academic Paper ID": "mag",
    "arxiv_id": "arxiv",
    "who_covidence_id": "who_covidence",
    "WHO #Covidence": "who_covidence",
    "s2_id": "corpus",
}
"""column -> scheme of the identifier that it holds"""


_READ: Final = frozenset(
    {"cord_uid", "title", "abstract", "publish_time", "journal", "authors", "sha", *_SCHEMES}
)
"""What is read of a row of the metadata; the rest is left out."""
_creates_unknown: Final = partial(creates_unknown, default="create")
_find_parts: Final = find_by_name(
    "metadata.csv, topics (.xml) and qrels (.txt)",
    papers=r"\.csv$",
    queries=r"\.xml$",
    judgments=r"qrels?[^/]*$",
)


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The metadata, then the topics, then the qrels; topics are told by the suffix `.xml`."""
    _creates_unknown(options)  # which refuses a wrong one
    return _find_parts(source, options)


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file: a row of the metadata, a topic or a judgment each."""
    if file.role == "queries":
        return gather_chunks(read_topics(file, options), first_row=first_row)
    records = _read_papers(file) if file.role == "papers" else _read_judgments(file, options)
    return gather_chunks(records, first_row=first_row)


def _read_judgments(file: InputFile, options: Options) -> Iterator[Accepted | Rejected]:
    columns = file.columns or TREC
    found = read_qrels(file, columns=TREC, split=options.get("split", "test"))
    for number, record in enumerate(found, start=1):
        if isinstance(record, Rejected):
            yield replace(record, row_number=number)
        else:
            (judgment,) = record.rows["judgments"]
            judged_in = dict(zip(columns, show_raw(record.raw).split(), strict=True)).get("iteration")
            rounds = [] if judged_in is None else [(judgment["source_id"], f"round {judged_in}")]
            pooled = list_pool_sources(judgment["query_id"], rounds)
            noted = [row for row in record.rows.get("left_out", ()) if row["kind"] != ITERATION]
            rows = {"judgments": [judgment], "pool_sources": pooled, "left_out": noted}
            yield replace(record, row_number=number, rows=rows)


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    repeated = _find_repeated(file)
    seen: set[str] = set()
    return _read_metadata(file, partial(_parse_paper, repeated, seen))


def _read_metadata(file: InputFile, parse: Callable[[dict[str, str]], Rows]) -> Iterator[Accepted | Rejected]:
    return read_table(file, parse, delimiter=",", quoted=True, required=("cord_uid", "title"))


def _find_repeated(file: InputFile) -> dict[str, list[Row]]:
    """Each cord_uid that stands on several rows -> the identifiers of the rows after its first."""
    seen: set[str] = set()
    found: dict[str, list[Row]] = {}

    def collect(row: dict[str, str]) -> Rows:
        source_id = row["cord_uid"].strip()
        if source_id in seen:
            found.setdefault(source_id, []).extend(_list_identifiers(source_id, row))
        seen.add(source_id)
        return {}

    # Where the file breaks off, that is said when its records are read.
    deque(until_broken(_read_metadata(file, collect), []), maxlen=0)
    return found


def _parse_paper(repeated: dict[str, list[Row]], seen: set[str], row: dict[str, str]) -> Rows:
    source_id = take_id(row, "cord_uid")
    published = {"year": _take_year(row.get("publish_time", "")), "venue": row.get("journal")}
    paper = describe_paper(source_id, {**row, **published})
    leave_fields(row, _READ)
    written = row.get("authors", "").strip()
    names = keep_filled("authorships", map(str.strip, written.split(";"))) if written else []
    if source_id in seen:
        leave_out("authorships", "repeated", len(names))
        return {"mentioned_papers": [paper]}
    rows = {
        "papers": [paper],
        "identifiers": _add_new(_list_identifiers(source_id, row), repeated.get(source_id, [])),
        "authorships": list_authorships(source_id, ((None, name) for name in names)),
    }
    seen.add(source_id)
    return rows


def _take_year(published: str) -> int | None:
    """The year of a date.

    >>> _take_year("2020-03-11"), _take_year("2020"), _take_year("")
    (2020, 2020, None)
    """
    found = re.fullmatch(r"([0-9]{4})?(?:-[0-9]{2}(?:-[0-9]{2})?)?", published.strip())
    if found is None:
        raise RecordError("invalid_value", f"publish_time: expected a date, found {published!r:.80}")
    return take_year(found[1])


def _add_new(own: list[Row], others: list[Row]) -> list[Row]:
    """All of the paper's identifiers, each once; the others are noted as left out."""
    both = {(row["scheme"], row["identifier"]): row for row in [*own, *others]}
    leave_out("identifiers", "repeated", len(own) + len(others) - len(both))
    return list(both.values())


def _list_identifiers(source_id: str, row: dict[str, str]) -> list[Row]:
    named = {scheme: row[column] for column, scheme in _SCHEMES.items() if row.get(column, "").strip()}
    hashes = (("pdf_sha1", part) for part in row.get("sha", "").split(";"))
    return list_identifiers(source_id, [*named.items(), *hashes])


LOADER: Final = Loader(
    name="trec-covid",
    summary="TREC-COVID: CORD-19's metadata.csv, topics and qrels",
    describe_corpus=describe_as(
        name="trec-covid", title="TREC-COVID on CORD-19", source="https://ir.nist.gov/trec-covid/"
    ),
    find_files=find_files,
    read_chunks=read_chunks,
    options={
        "columns": COLUMNS_HELP,
        "split": "split that the judgments belong to (test)",
        "unknown": "what becomes of papers that only qrels name: create (default) or reject",
    },
    creates_unknown=_creates_unknown,
    settle={"judgments": partial(settle_qrels, usual=TREC)},
    describes=lambda _role: frozenset({"title", "abstract", "year", "venue", "identifiers", "authorships"}),
    may_lack_text=True,
)
