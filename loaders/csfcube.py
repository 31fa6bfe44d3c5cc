"""The CSFCube release (Mysore et al. 2021): abstracts with facets, queries with folds, judgments, pools.

Read are `abstracts-csfcube-preds.jsonl`, `queries-release.csv` with `evaluation_splits.json`,
`test-pid2anns-csfcube-<facet>.json` (every annotator's grade and the adjudicated one) and
`test-pid2pool-csfcube.json` (which method put a candidate into a paper's pool), plain or gzipped.
Left out: `relevance_min` and `relevance_max`, which are the least and the greatest of the annotators'
grades (a row where they are not is rejected), and the sample rankings (`pinakes import-run`).

The pools name papers that the abstracts lack; those become papers without a text.
"""

import csv
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading import (
    clean_text,
    digest_file,
    find_file,
    read_json,
    read_json_lines,
    read_text,
    reject_line,
)
from pinakes.loaders.staging import Accepted, Chunk, Rejected, gather_chunks

FACETS: Final = {
    "background_label": "background",
    "objective_label": "background",
    "method_label": "method",
    "result_label": "result",
    "other_label": "other",
}
"""The release's labels -> facets; the paper merges objective into background (section 3)."""

_QUERY_FACETS: Final = ("background", "method", "result")
_FOLDS: Final = {"fold1_dev": "A", "fold1_test": "B"}


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus csfcube."""
    return CorpusDescription(
        name="csfcube",
        title="CSFCube: Computer Science Research Articles for Faceted Query by Example",
        version="1.1",
        licence="CC BY-NC 4.0",
        source="https://github.com/iesl/CSFCube",
    )


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
        InputFile(queries, queries.name, "queries", digest=_digest_files(queries, splits)),
        *(InputFile(path, path.name, "judgments") for path in annotations),
        InputFile(pools, pools.name, "pool_sources", digest=_digest_files(pools, queries)),
    ]


def _digest_files(*paths: Path) -> str:
    joined = ":".join(digest_file(path) for path in paths)
    return hashlib.sha256(joined.encode()).hexdigest()


def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
    """The records of one file of the release."""
    return gather_chunks(_READERS[file.role](file), first_row=first_row)


def _read_papers(file: InputFile) -> Iterator[Accepted | Rejected]:
    for line in read_json_lines(file):
        yield line if isinstance(line, Rejected) else _parse_paper(*line)


def _parse_paper(number: int, record: dict[str, Any]) -> Accepted | Rejected:
    source_id = clean_text(record.get("paper_id"))
    texts, labels = record.get("abstract"), record.get("pred_labels")
    if source_id is None:
        return reject_line(number, "missing_field", "no paper_id", str(record))
    if not isinstance(texts, list) or not isinstance(labels, list) or len(texts) != len(labels):
        message = "abstract and pred_labels are not two lists of one length"
        return reject_line(number, "invalid_value", message, str(record))
    unknown = sorted(set(labels) - set(FACETS))
    if unknown:
        return reject_line(number, "invalid_value", f"unknown facet labels {unknown}", str(record))
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
    paper = {
        "source_id": source_id,
        "title": clean_text(record.get("title")),
        "abstract": clean_text(" ".join(texts)),
        "year": (record.get("metadata") or {}).get("year"),
    }
    return Accepted(number, {"papers": [paper], "sentences": sentences})


def _read_queries(file: InputFile) -> Iterator[Accepted | Rejected]:
    folds = _read_folds(file)
    for number, row in enumerate(_read_query_rows(file), start=1):
        query_id = f"{row['pid']}_{row['facet']}"
        if row["facet"] not in _QUERY_FACETS or query_id not in folds:
            message = f"{query_id} is in no fold of evaluation_splits.json"
            yield Rejected(number, f"line {number + 1}", "invalid_value", message, str(row))
            continue
        query = {
            "query_id": query_id,
            "paper_source_id": row["pid"],
            "facet": row["facet"],
            "description": clean_text(row["paper type"]),
            "fold": folds[query_id],
        }
        yield Accepted(number, {"queries": [query]})


def _read_query_rows(file: InputFile) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(read_text(file))))
    expected = {"pid", "facet", "paper type"}
    if not rows or not expected <= rows[0].keys():
        raise InputError(f"{file.name} has not the columns {', '.join(sorted(expected))}.")
    return rows


def _read_folds(file: InputFile) -> dict[str, str]:
    splits = read_json(_find_sibling(file, "evaluation_splits.json"))
    return {
        query_id: fold
        for facet in _QUERY_FACETS
        for part, fold in _FOLDS.items()
        for query_id in splits[facet][part]
    }


def _find_sibling(file: InputFile, name: str) -> InputFile:
    if file.path is None:
        raise InputError(f"{file.name} is not a file on disk.")
    path = find_file(file.path.parent, name)
    return InputFile(path, path.name, "")


def _read_judgments(file: InputFile) -> Iterator[Accepted | Rejected]:
    facet = file.name.removesuffix(".gz").removesuffix(".json").rsplit("-", 1)[1]
    number = 0
    for paper, entry in read_json(file).items():
        for index in range(len(entry["cands"])):
            number += 1
            yield _parse_judgment(number, f"{paper}_{facet}", entry, index)


def _parse_judgment(
    number: int, query_id: str, entry: dict[str, list[Any]], index: int
) -> Accepted | Rejected:
    location = f"{query_id.split('_')[0]}.cands[{index}]"
    grades = {
        name.removeprefix("relevance_"): values[index]
        for name, values in entry.items()
        if name.startswith("relevance_") and index < len(values)
    }
    raw = str({"cand": entry["cands"][index], **grades})
    if not {"adju", "min", "max"} <= grades.keys():
        return Rejected(number, location, "missing_field", "a relevance list is shorter than cands", raw)
    least, greatest = grades.pop("min"), grades.pop("max")
    adjudicated = grades.pop("adju")
    if not grades or (min(grades.values()), max(grades.values())) != (least, greatest):
        message = "relevance_min or relevance_max is not that of the annotators"
        return Rejected(number, location, "invalid_value", message, raw)
    rows = [
        {
            "query_id": query_id,
            "source_id": entry["cands"][index],
            "assessor": assessor,
            "split": "test",
            "grade": grade,
        }
        for assessor, grade in {"adjudicated": adjudicated, **grades}.items()
    ]
    return Accepted(number, {"judgments": rows})


def _read_pools(file: InputFile) -> Iterator[Accepted | Rejected]:
    query_ids: dict[str, list[str]] = {}
    for row in _read_query_rows(_find_sibling(file, "queries-release.csv")):
        query_ids.setdefault(row["pid"], []).append(f"{row['pid']}_{row['facet']}")
    number = 0
    for paper, entry in read_json(file).items():
        for index, (candidate, sources) in enumerate(zip(entry["cands"], entry["cand_source"], strict=True)):
            number += 1
            rows = [
                {"query_id": query_id, "source_id": candidate, "source": source}
                for query_id in query_ids.get(paper, [])
                for source in sources
            ]
            if rows:
                yield Accepted(number, {"pool_sources": rows})
            else:
                location = f"{paper}.cands[{index}]"
                message = "the paper is no query, or the candidate has no source"
                yield Rejected(number, location, "unknown_query", message, f"{candidate} {sources}")


_READERS: Final = {
    "papers": _read_papers,
    "queries": _read_queries,
    "judgments": _read_judgments,
    "pool_sources": _read_pools,
}

LOADER: Final = Loader(
    name="csfcube",
    summary="the files of the CSFCube release",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    creates_unknown=lambda _options: True,
)
