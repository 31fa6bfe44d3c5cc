"""The CSFCube release (Mysore et al. 2021): abstracts with facets, queries with folds, judgments, pools.

Read are `abstracts-csfcube-preds.jsonl`, `queries-release.csv` with `evaluation_splits.json`,
`test-pid2anns-csfcube-<facet>.json` (every annotator's grade and the adjudicated one) and
`test-pid2pool-csfcube.json` (which method put a candidate into a paper's pool), plain or compressed.
Leaves out: `relevance_min` and `relevance_max`, the lowest and the highest of the annotators'
grades (a row where they are not is rejected), and the sample rankings (`pinakes import-run`).

The pools name papers that the abstracts lack; those become papers without a text.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import keep_distinct, leave_fields, leave_inner_fields
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json, read_json_lines, show_json
from pinakes.loaders.reading.rows import make_judgment
from pinakes.loaders.reading.streams import digest_files, find_file
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import clean_text, take_id
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

FACETS: Final = {
    "background_label": "background",
    "objective_label": "background",
    "method_label": "method",
    "result_label": "result",
    "other_label": "other",
}
"""The release's labels -> facets; the paper merges objective into background (section 3)."""

_PAPER: Final = frozenset({"paper_id", "title", "abstract", "pred_labels", "metadata"})
_QUERY: Final = frozenset({"pid", "facet", "paper type"})
_POOL: Final = frozenset({"cands", "cand_source"})
"""What is read of a paper, a query and a pool; the rest is left out."""
_QUERY_FACETS: Final = ("background", "method", "result")
_FOLDS: Final = {"fold1_dev": "A", "fold1_test": "B"}


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """All files of the release, in the order that they build on each other."""
    if source is None or not source.is_dir():
        raise InputError(f"{source} is not a folder; expected the files of the CSFCube release.")
    abstracts = find_file(source, "abstracts-csfcube-preds.jsonl")
    queries = find_file(source, "queries-release.csv")
    splits = find_file(source, "evaluation_splits.json")
    pools = find_file(source, "test-pid2pool-csfcube.json")
    annotations = [find_file(source, f"test-pid2anns-csfcube-{facet}.json") for facet in _QUERY_FACETS]
    return [
        InputFile(abstracts, abstracts.name, "papers"),
        InputFile(queries, queries.name, "queries", digest=digest_files(queries, splits), beside=(splits,)),
        *(InputFile(path, path.name, "judgments") for path in annotations),
        InputFile(pools, pools.name, "pool_sources", digest=digest_files(pools, queries)),
    ]


def _parse_paper(record: dict[str, Any]) -> Rows:
    source_id = take_id(record, "paper_id")
    texts, labels = _take_texts(record, "abstract"), _take_texts(record, "pred_labels")
    if len(texts) != len(labels):
        raise RecordError("invalid_value", f"{len(texts)} sentences, but {len(labels)} facet labels")
    unknown = sorted(set(labels) - set(FACETS))
    if unknown:
        raise RecordError("invalid_value", f"unknown facet labels {unknown}")
    sentences = [
        {
            "source_id": source_id,
            "section_number": 0,
            "position": position,
            "text": text,
            "facet": FACETS[label],
            "source_label": label,
        }
        for position, (text, label) in enumerate(zip(texts, labels, strict=True), start=1)
    ]
    leave_fields(record, _PAPER)
    leave_inner_fields(record, "metadata", {"year"})
    metadata = record.get("metadata")
    paper = {
        "source_id": source_id,
        "title": clean_text(record.get("title")),
        "abstract": clean_text(" ".join(texts)),
        "year": metadata.get("year") if isinstance(metadata, dict) else None,
    }
    return {"papers": [paper], "sentences": sentences}


def _take_texts(record: dict[str, Any], name: str) -> list[str]:
    texts = record.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RecordError("invalid_value", f"{name} is not a list of texts")
    return texts


def _read_queries(file: InputFile) -> Iterator[Accepted | Rejected]:
    folds = _read_folds(_find_sibling(file, "evaluation_splits.json"))
    return _read_query_table(file, partial(_parse_query, folds))


def _parse_query(folds: dict[str, str], row: dict[str, str]) -> Rows:
    query_id = f"{row['pid']}_{row['facet']}"
    if row["facet"] not in _QUERY_FACETS or query_id not in folds:
        raise RecordError("invalid_value", f"{query_id} is in no fold of evaluation_splits.json")
    leave_fields(row, _QUERY)
    query = {
        "query_id": query_id,
        "paper_source_id": row["pid"],
        "facet": row["facet"],
        "description": clean_text(row["paper type"]),
        "fold": folds[query_id],
    }
    return {"queries": [query]}


def _read_query_table(
    file: InputFile, parse: Callable[[dict[str, str]], Rows]
) -> Iterator[Accepted | Rejected]:
    return read_table(file, parse, delimiter=",", quoted=True, required=sorted(_QUERY))


def _list_query_ids(file: InputFile) -> dict[str, list[str]]:
    """The ids of each paper's queries."""
    query_ids: dict[str, list[str]] = {}

    def take(row: dict[str, str]) -> Rows:
        query_ids.setdefault(row["pid"], []).append(f"{row['pid']}_{row['facet']}")
        return {}

    for _ in _read_query_table(file, take):
        pass
    return query_ids


def _read_folds(file: InputFile) -> dict[str, str]:
    splits = read_json(file)
    try:
        return {
            query_id: fold
            for facet in _QUERY_FACETS
            for part, fold in _FOLDS.items()
            for query_id in splits[facet][part]
        }
    except (KeyError, TypeError) as error:
        expected = f"{' and '.join(_FOLDS)} for each of {', '.join(_QUERY_FACETS)}"
        raise InputError(f"{file.name} has not the folds; expected {expected}.") from error


def _find_sibling(file: InputFile, name: str) -> InputFile:
    path = find_file(file.expect_path().parent, name)
    return InputFile(path, path.name, "")


def _read_candidates(file: InputFile) -> Iterator[tuple[int, str, int, dict[str, list[Any]]]]:
    """Each candidate: its number in the file, its query paper, its index in the paper's lists, the lists."""
    number = 0
    for paper, entry in read_json(file).items():
        candidates = entry.get("cands") if isinstance(entry, dict) else None
        if not isinstance(candidates, list) or not all(isinstance(values, list) for values in entry.values()):
            raise InputError(f"{file.name}: the entry {paper!r} is not an object of lists with cands.")
        for index in range(len(candidates)):
            number += 1
            yield number, paper, index, entry


def _show_candidate(entry: dict[str, list[Any]], index: int) -> bytes:
    return show_json({name: values[index] for name, values in entry.items() if index < len(values)})


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    facet = strip_compression(file.name).removesuffix(".json").rsplit("-", 1)[1]
    for number, paper, index, entry in _read_candidates(file):
        parse = partial(_parse_judgment, f"{paper}_{facet}", entry, index)
        yield take_record(number, f"{paper}.cands[{index}]", _show_candidate(entry, index), parse)


def _parse_judgment(query_id: str, entry: dict[str, list[Any]], index: int) -> Rows:
    lists = {name.removeprefix("relevance_"): values for name, values in entry.items() if name != "cands"}
    if not {"adju", "min", "max"} < lists.keys():
        raise RecordError("missing_field", "no list of adjudicated, lowest, highest or annotators' grades")
    if any(len(values) != len(entry["cands"]) for values in lists.values()):
        raise RecordError("invalid_value", "cands and the lists of grades differ in length")
    grades = {name: values[index] for name, values in lists.items()}
    if not all(type(grade) is int for grade in grades.values()):
        raise RecordError("invalid_value", f"a grade is no whole number: {grades}")
    adjudicated, low, high = grades.pop("adju"), grades.pop("min"), grades.pop("max")
    if (min(grades.values()), max(grades.values())) != (low, high):
        raise RecordError("invalid_value", "relevance_min or relevance_max is not that of the annotators")
    graded = {"adjudicated": adjudicated, **grades}.items()
    paper = entry["cands"][index]
    return {
        "judgments": [make_judgment(query_id, paper, grade, "test", assessor=name) for name, grade in graded]
    }


def _read_pools(file: InputFile) -> Iterator[Accepted | Rejected]:
    query_ids = _list_query_ids(_find_sibling(file, "queries-release.csv"))
    for number, paper, index, entry in _read_candidates(file):
        parse = partial(_parse_candidate, query_ids.get(paper, []), entry, index)
        yield take_record(number, f"{paper}.cands[{index}]", _show_candidate(entry, index), parse)


def _parse_candidate(query_ids: list[str], entry: dict[str, list[Any]], index: int) -> Rows:
    sources = entry.get("cand_source", [])
    if len(sources) != len(entry["cands"]):
        raise RecordError("invalid_value", "cands and cand_source differ in length")
    if not query_ids:
        raise RecordError("unknown_query", "the paper is no query")
    if not isinstance(sources[index], list) or not sources[index]:
        raise RecordError("missing_field", "the candidate has no source")
    if not all(isinstance(source, str) for source in sources[index]):
        raise RecordError("invalid_value", "a source of the candidate is no text")
    leave_fields({name: values[index] for name, values in entry.items() if index < len(values)}, _POOL)
    given = keep_distinct("pool_sources", sources[index])
    rows = [
        {"query_id": query_id, "source_id": entry["cands"][index], "source": source}
        for query_id in query_ids
        for source in given
    ]
    return {"pool_sources": rows}


LOADER: Final = Loader(
    name="csfcube",
    summary="the files of the CSFCube release",
    describe_corpus=describe_as(
        name="csfcube",
        title="CSFCube: Computer Science Research Articles for Faceted Query by Example",
        version="1.1",
        licence="CC BY-NC 4.0",
        source="https://github.com/iesl/CSFCube",
    ),
    find_files=find_files,
    read_chunks=gather_by_role(
        papers=partial(read_json_lines, parse=_parse_paper),
        queries=_read_queries,
        judgments=_read_judgments,
        pool_sources=_read_pools,
    ),
    creates_unknown=lambda _options: True,
)
