"""MDCR, multi-domain citation recommendation (Medić and Šnajder 2022): pools and texts.

Read are `mdcr_val.json` and `mdcr_test.json`, {MAG field: {query: {candidate type: [papers]}}}, and
`mdcr_val_data.jsonl` and `mdcr_test_data.jsonl`, a paper a line. A type says what put a candidate into the
pool; `true`, the papers that the query cites, is called `cited` here. A candidate of several types is graded
1 if it is cited and else 0, as `evaluate.py` does. A query paper that stands under several fields is a query
of each, named `<paper>_<field>` then. Scores (`*scores*.json`) are for `pinakes import-run`.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from pinakes.loaders.base import InputFile, Loader, describe_as
from pinakes.loaders.left_out import keep_distinct, leave_fields
from pinakes.loaders.reading.finding import find_by_name, name_split
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json, read_json_lines, show_json
from pinakes.loaders.reading.rows import Row, describe_paper, make_judgment
from pinakes.loaders.reading.values import take_id
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_CITED: Final = "true"
_PAPER: Final = frozenset({"paper_id", "title", "abstract", "year", "venue"})
"""What is read of a paper; the rest is left out."""


def _parse_paper(record: dict[str, Any]) -> Rows:
    leave_fields(record, _PAPER)
    return {"papers": [describe_paper(take_id(record, "paper_id"), record)]}


def _read_pools(file: InputFile) -> Iterator[Accepted | Rejected]:
    document = read_json(file)
    split = name_split(file.name, "test")
    requested = Counter(paper for pools in document.values() if isinstance(pools, dict) for paper in pools)
    number = 0
    for field, pools in document.items():
        entries = pools.items() if isinstance(pools, dict) else [("", pools)]
        for paper, types in entries:
            number += 1
            query_id = paper if requested[paper] == 1 else f"{paper}_{field}"
            query = {"query_id": query_id, "paper_source_id": paper, "field": field, "fold": split}
            parse = partial(_parse_pool, query, types)
            yield take_record(number, f".{field}.{paper}", show_json(types), parse)


def _parse_pool(query: Row, types: object) -> Rows:
    if not isinstance(types, dict) or not query["paper_source_id"]:
        raise RecordError("not_an_object", "expected an object of candidate types for each query")
    if _CITED not in types:
        raise RecordError("missing_field", "no candidates of the type true: what the query cites")
    pool = {type_: _take_candidates(type_, candidates) for type_, candidates in types.items()}
    cited = set(pool[_CITED])
    candidates = dict.fromkeys(candidate for members in pool.values() for candidate in members)
    query_id, split = query["query_id"], query["fold"]
    sources = [
        {"query_id": query_id, "source_id": candidate, "source": "cited" if type_ == _CITED else type_}
        for type_, members in pool.items()
        for candidate in members
    ]
    grades = [make_judgment(query_id, candidate, int(candidate in cited), split) for candidate in candidates]
    return {"queries": [query], "judgments": grades, "pool_sources": sources}


def _take_candidates(type_: str, candidates: object) -> list[str]:
    if not isinstance(candidates, list):
        raise RecordError("invalid_value", f"{type_}: expected a list of papers, found {candidates!r:.80}")
    return keep_distinct("pool_sources", (take_id({type_: candidate}, type_) for candidate in candidates))


LOADER: Final = Loader(
    name="mdcr",
    summary="MDCR: candidate pools by field of study, and the papers' texts",
    describe_corpus=describe_as(
        name="mdcr",
        title="MDCR: multi-domain citation recommendation",
        source="https://github.com/zoranmedic/mdcr",
    ),
    find_files=find_by_name(
        "mdcr_test_data.jsonl and mdcr_test.json", papers=r"\.jsonl$", queries=r"^(?!.*scores).*\.json$"
    ),
    read_chunks=gather_by_role(papers=partial(read_json_lines, parse=_parse_paper), queries=_read_pools),
    creates_unknown=lambda _options: True,
    describes=lambda _role: frozenset({"title", "abstract", "year", "venue"}),
    may_lack_text=True,
)
