"""The DRSM corpus (Chan Zuckerberg Initiative): states of research on rare diseases, labelled by curators.

Read are the tab-separated files, distinguished by their columns: version 1's gold standard (papers with their
categories) and raw data (a curator's word on a paper a row), and version 2's labels of quality of life.
Papers are called by their PMID. Tasks are `primary_category`, `secondary_category` and `disease`; of the raw
data `primary_category:<curator>` and so on, and `relevance:<curator>` where it says IRRELEVANT; and
`quality_of_life`; `gold_standard`, always `yes`, says which papers the gold file lists and in which order.
An empty category is no label. No split is published: it is `all`. `TRIMMED_ABSTRACT`,
title and abstract cut for a model, is the variant `drsm_trimmed`. Raw data and version 2 have no texts.

Leaves out, and counts: comments, times, `word_count`; of version 2 agreement, vectors and predictions of a
model.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.errors import OtherContentError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import find_by_name, take_of_format
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.rows import Row, describe_paper, list_identifiers, list_labels, make_label
from pinakes.loaders.reading.streams import read_lines
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import take_id, take_text
from pinakes.loaders.staging import RecordError, Rows

_CATEGORIES: Final = {"PRIMARY_CATEGORY": "primary_category", "SECONDARY_CATEGORY": "secondary_category"}


_find_tables: Final = find_by_name("the .tsv files of the DRSM corpus", table=r"\.tsv$")


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The tab-separated files below the source, gold before raw."""
    found = _find_tables(source, options)
    files = take_of_format(found, lambda file: replace(file, role=_find_role(file)))
    return sorted(files, key=lambda file: (list(_LAYOUTS).index(file.role), file.name))


def _find_role(file: InputFile) -> str:
    first = next(read_lines(file), (0, b""))[1]
    columns = set(first.decode("utf-8", "replace").split("\t"))
    for role, (required, _) in _LAYOUTS.items():
        if columns.issuperset(required):
            return role
    raise OtherContentError(
        f"{file.name} has the columns of no file of the DRSM corpus: {', '.join(columns)[:200]}."
    )


def _parse_gold(row: dict[str, str]) -> Rows:
    source_id = take_id(row, "ID_PAPER")
    leave_fields(row, {*_LAYOUTS["gold"][0], "TRIMMED_ABSTRACT"})
    trimmed = take_text(row, "TRIMMED_ABSTRACT")
    return {
        "papers": [describe_paper(source_id, {"title": row["TITLE"], "abstract": row["ABSTRACT"]})],
        "identifiers": list_identifiers(source_id, [("pubmed", source_id)]),
        "variants": [
            {"source_id": source_id, "code": "drsm_trimmed", "abstract": trimmed}
            for _ in range(bool(trimmed))
        ],
        "labels": [
            make_label("gold_standard", source_id, "all", "yes"),
            *_list_labels(source_id, row, ""),
        ],
    }


def _list_labels(source_id: str, row: dict[str, str], suffix: str) -> list[Row]:
    named = {f"{task}{suffix}": take_text(row, column) for column, task in _CATEGORIES.items()}
    named["disease"] = take_text(row, "DISEASE_NAME")
    return list_labels(source_id, named)


def _parse_raw(row: dict[str, str]) -> Rows:
    source_id = take_id(row, "ID_PAPER")
    suffix = f":{take_id(row, 'CURATOR')}"
    leave_fields(row, _LAYOUTS["raw"][0])
    irrelevant = row["IRRELEVANT"].strip()
    if irrelevant not in ("", "True", "False"):
        raise RecordError("invalid_value", f"IRRELEVANT: expected True or nothing, found {irrelevant!r:.80}")
    labels = _list_labels(source_id, row, suffix)
    if irrelevant == "True":
        labels.append(make_label(f"relevance{suffix}", source_id, "all", "IRRELEVANT"))
    return _mention(source_id) | {"labels": labels}


def _parse_quality_of_life(row: dict[str, str]) -> Rows:
    source_id = take_id(row, "PMID")
    leave_fields(row, _LAYOUTS["quality_of_life"][0])
    label = take_id(row, "Correct_Label").removeprefix("'").removesuffix("'")
    quality = "gold" if row["Labeling_State"].strip() == "Gold Standard" else "silver"
    return _mention(source_id) | {
        "labels": [make_label("quality_of_life", source_id, "all", label, quality=quality)]
    }


def _mention(source_id: str) -> dict[str, list[Row]]:
    identifiers = list_identifiers(source_id, [("pubmed", source_id)])
    return {"mentioned_papers": [{"source_id": source_id}], "identifiers": identifiers}


_LAYOUTS: Final[dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], Rows]]]] = {
    "gold": (("ID_PAPER", "TITLE", "ABSTRACT", "DISEASE_NAME", *_CATEGORIES), _parse_gold),
    "raw": (("ID_PAPER", "IRRELEVANT", "CURATOR", "DISEASE_NAME", *_CATEGORIES), _parse_raw),
    "quality_of_life": (("PMID", "Labeling_State", "Correct_Label"), _parse_quality_of_life),
}
"""role -> the columns that its file must have, and what makes rows of a row"""

LOADER: Final = Loader(
    name="drsm",
    summary="DRSM corpus: categories of research on rare diseases, gold and raw",
    describe_corpus=describe_as(
        name="drsm",
        title="DRSM corpus",
        licence="CC0 1.0",
        source="https://github.com/chanzuckerberg/DRSM-corpus",
    ),
    find_files=find_files,
    read_chunks=gather_by_role(
        **{
            role: partial(read_table, parse=parse, quoted=True, required=required)
            for role, (required, parse) in _LAYOUTS.items()
        }
    ),
    describes=lambda _role: frozenset({"title", "abstract", "identifiers", "variants"}),
)
