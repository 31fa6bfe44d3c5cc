"""RELISH (Brown et al. 2019): judgments of authors on PubMed papers like theirs, and the papers' texts.

Read are the judgments, a JSON array of {uid, pmid, response: {relevant, partial, irrelevant}}, graded 2, 1
and 0, and tab-separated texts (PMID, title, abstract). A query is a paper, called by its PMID; several
assessors, called by their uid, may have judged for it. No split is published: it is `all`. Most papers have
no text here. Leaves out, and counts: each assessor's experience and anonymity.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from pinakes.loaders.base import InputFile, Loader, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_array
from pinakes.loaders.reading.rows import Row, describe_paper, list_identifiers, make_judgment
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import take_id, take_list
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

_GRADES: Final = {"relevant": 2, "partial": 1, "irrelevant": 0}


def _parse_paper(row: dict[str, str]) -> Rows:
    source_id = take_id(row, "PMID")
    leave_fields(row, {"PMID", "title", "abstract", "year", "venue"})
    identifiers = list_identifiers(source_id, [("pubmed", source_id)])
    return {"papers": [describe_paper(source_id, row)], "identifiers": identifiers}


def _read_answers(file: InputFile) -> Iterator[Accepted | Rejected]:
    return read_json_array(file, partial(_parse_answer, set()))


def _parse_answer(requested: set[str], record: dict[str, Any]) -> Rows:
    query_id, assessor = take_id(record, "pmid"), take_id(record, "uid")
    leave_fields(record, {"pmid", "uid", "response"})
    response = record.get("response")
    if not isinstance(response, dict) or not response.keys() <= _GRADES.keys():
        raise RecordError("invalid_value", f"response: expected lists of {', '.join(_GRADES)}")
    graded = [
        (take_id({answer: paper}, answer), _GRADES[answer])
        for answer in response
        for paper in take_list(response, answer)
    ]
    if len({paper for paper, _ in graded}) < len(graded):
        raise RecordError("invalid_value", "response: a paper stands twice")
    rows: dict[str, list[Row]] = {
        "judgments": [
            make_judgment(query_id, paper, grade, "all", assessor=assessor) for paper, grade in graded
        ]
    }
    if query_id not in requested:
        requested.add(query_id)
        rows["queries"] = [{"query_id": query_id, "paper_source_id": query_id}]
    return rows


LOADER: Final = Loader(
    name="relish",
    summary="RELISH: judgments by PMID and assessor, and texts",
    describe_corpus=describe_as(name="relish", title="RELISH", source="https://relishdb.ict.griffith.edu.au"),
    find_files=find_by_name(
        "RELISH_v1.json and a table of PMID, title and abstract", papers=r"\.tsv$", judgments=r"\.json$"
    ),
    read_chunks=gather_by_role(
        papers=partial(read_table, parse=_parse_paper, required=("PMID", "title", "abstract")),
        judgments=_read_answers,
    ),
    creates_unknown=lambda _options: True,
    describes=lambda _role: frozenset({"title", "abstract", "identifiers"}),
    may_lack_text=True,
)
