"""SciRepEval's tasks in their published layouts, tiny and made up: Parquet and CSV, JSON Lines, qrels.

A folder a task, with the texts (`evaluation…`, `meta.jsonl`) and the labels or the grades beside them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tests.writing import write_file, write_lines

Labels = dict[str, list[tuple[str, Any]]]
"""split -> papers with their labels, in the order of the file"""

CLASSES: Final[dict[str, Labels]] = {
    "mesh_descriptors": {
        "train": [("m1", "Brain"), ("m2", "Lung"), ("m3", "Brain")],
        "test": [("m4", "Lung"), ("m5", "Brain")],
    },
    # d1 is trained on and tested: a leak.
    "drsm": {"train": [("d2", 1), ("d1", 0)], "test": [("d3", 2), ("d1", 0)]},
    "biomimicry": {"train": [("b2", 1), ("b1", 0)], "test": [("b3", 1)]},
    "scidocs_mag": {"train": [("s1", "Art"), ("s2", "History")], "test": [("s3", "Art")]},
    "scidocs_mesh": {"train": [("s2", "Asthma")], "test": [("s1", "Diabetes"), ("s3", "Asthma")]},
}
FIELDS: Final[Labels] = {
    "train": [("f1", [1, 0, 0] + [0] * 8), ("f2", [0, 0, 1] + [0] * 7 + [1]), ("f3", [0] * 11)],
    "test": [("f4", [0] * 10 + [1]), ("f5", [0] * 11)],
}
"""one number a field, as the published evaluator reads them; f3 and f5 have none"""
NUMBERS: Final[dict[str, Labels]] = {
    "cite_count": {"train": [("c2", 0.5), ("c1", 2.25)], "test": [("c3", 1.0)]},
    "pub_year": {"train": [("y1", 0.25), ("y2", 1.5)], "test": [("y3", 0.0)]},
    "peer_review_score": {"train": [("r1", 5.25), ("r2", 3)], "test": [("r3", 8.0)]},
    "hIndex": {"train": [("r1", 0.5), ("r3", 1.0)], "test": [("r2", 0)]},
    "tweet_mentions": {"train": [("t1", 0.125)], "test": [("t2", 0.0), ("t3", 2)]},
}
GRADES: Final[dict[str, dict[str, dict[str, int]]]] = {
    "same_author": {"1": {"2": 1, "3": 0}, "2": {"1": 1, "4": 0}},
    "high_influence_cite": {"1": {"2": 1, "3": 0}},
    "relish": {"1": {"2": 2, "3": 0, "4": 1}},
    "feeds_1": {"1": {"2": 1, "3": 0}},
    "feeds_m": {"1": {"2": 1, "3": 0}, "3": {"2": 0, "4": 1}},
    "scidocs_cite": {"1": {"2": 1, "3": 0}},
    "scidocs_cocite": {"1": {"2": 0, "3": 1}},
    "scidocs_view": {"2": {"1": 1, "3": 0}},
    "scidocs_read": {"3": {"1": 1, "2": 0}},
    "search": {"q1": {"2": 3, "3": 0}, "q2": {"3": 1, "2": 0}},
    "nfcorpus": {"q1": {"2": 2, "3": 0}},
    "trec_covid": {"q1": {"2": 2, "3": -1, "4": 1}},
    "feeds_title": {"q1": {"2": 1, "3": 0}},
}
"""task -> query -> candidate -> grade; queries called q1, q2 are texts, others papers"""
SIMPLE: Final = frozenset({"scidocs_cite", "scidocs_cocite", "scidocs_view", "scidocs_read"})
"""tasks whose papers are published as a list, not as queries with candidates"""


def write_release(folder: Path) -> dict[str, Path]:
    """A folder for each task -> where it is."""
    for task, labels in {**CLASSES, **NUMBERS, "fos": FIELDS}.items():
        write_labelled(folder / task, labels, as_csv=task in ("biomimicry", "pub_year"))
    for task, grades in GRADES.items():
        write_graded(folder / task, grades, simple=task in SIMPLE)
    write_lines(folder / "cite_prediction" / "validation.jsonl", *_list_triplets())
    return {path.name: path for path in sorted(folder.iterdir())}


def make_paper(name: str) -> dict[str, Any]:
    """A paper of the metadata."""
    return {"doc_id": name, "title": f"Title of {name}", "abstract": f"About {name}."}


def write_labelled(folder: Path, labels: Labels, *, as_csv: bool = False) -> None:
    """A task with labels: as Parquet, or as the CSV and JSON Lines of the bucket."""
    names = dict.fromkeys(name for rows in labels.values() for name, _ in rows)
    papers = [make_paper(name) for name in names]
    if as_csv:
        write_lines(folder / "meta.jsonl", *papers)
        for split, rows in labels.items():
            lines = "".join(f"{name},{label}\n" for name, label in rows)
            write_file(folder / f"{split}.csv", f"paper_id,label\n{lines}")
        return
    _write_parquet(folder / "evaluation-00000-of-00001.parquet", papers)
    for split, rows in labels.items():
        _write_parquet(
            folder / split / "0000.parquet", [{"paper_id": name, "label": label} for name, label in rows]
        )


def write_graded(folder: Path, grades: dict[str, dict[str, int]], *, simple: bool) -> None:
    """A task of queries with candidates, and its qrels."""
    candidates = {query: [make_paper(name) for name in pool] for query, pool in grades.items()}
    if simple:
        names = sorted({*grades, *(name for pool in grades.values() for name in pool)})
        linked = {"authors": ["7"], "references": ["2"], "cited_by": []}
        write_lines(folder / "evaluation.jsonl", *({**make_paper(name), **linked} for name in names))
    else:
        records = [
            {"query": f"words of {query}", "doc_id": query, "candidates": pool}
            if query.startswith("q")
            else {"query": make_paper(query), "candidates": pool}
            for query, pool in candidates.items()
        ]
        _write_parquet(folder / "evaluation-00000-of-00001.parquet", records)
    pairs = [
        {"query_id": query, "cand_id": name, "score": grade}
        for query, pool in grades.items()
        for name, grade in pool.items()
    ]
    write_lines(folder / "test_qrel.jsonl", *pairs)


def _list_triplets() -> Sequence[dict[str, Any]]:
    named = [("1", "2", "3"), ("1", "4", "5"), ("2", "4", "1")]
    return [
        {"query": make_paper(query), "pos": make_paper(cited), "neg": make_paper(other)}
        for query, cited, other in named
    ]


def _write_parquet(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(records), path)
