"""What the task of clustering asks: signatures of authors in blocks, to be grouped by person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.indexers.disambiguation.signatures import Signature, SignedPaper
from pinakes.indexers.disambiguation.split import SPLITS, Split, split_blocks
from pinakes.queries.definition import Benchmark
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.signed_papers import read_signed_papers

VIEWS: Final[Mapping[str, str]] = {
    "signatures": "an author's name on a paper, in a block of like names.",
    "clusters": "the person that a signature is of, where it is known.",
}
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "signatures": (
        "query_id",
        "paper_id",
        "dataset",
        "number",
        "block",
        "split",
        "position",
        "first_name",
        "middle_name",
        "last_name",
        "email",
        "affiliations",
    ),
    "clusters": ("query_id", "cluster"),
}
"""view -> the columns that it has, besides the grouping columns of the signatures"""
SEED: Final = 1
"""what blocks are split with and trees are trained with, where benchmark.toml does not say"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SignedTexts(PaperTexts):
    """Signatures by dataset and number; `PaperTexts` are the papers that they stand on.

    Attributes:
        rows: the columns of the view `signatures`, every split said, and `person`: the signature's cluster
            where it is known, of train and dev blocks.
        splits: dataset -> block -> its split, in the order in which `s2and` goes through the blocks.
        signatures: the rows as classifiers read them.
        papers: first the papers of `paper_ids`, in that order, then others that they cite.
    """

    rows: Mapping[str, list[Any]]
    splits: Mapping[str, Mapping[str, Split]]
    signatures: list[Signature]
    papers: list[SignedPaper]

    @property
    def queries_expected(self) -> int:
        """How many signatures are in test blocks."""
        return self.rows["split"].count(SPLITS[2])


def list_columns(benchmark: Benchmark, view: str) -> tuple[str, ...]:
    """The columns that a view of a benchmark must have."""
    return tuple(dict.fromkeys(COLUMNS[view] + (benchmark.group_by if view == "signatures" else ())))


def read_signatures(
    database: Database, benchmark: Benchmark, _query_template: str, paper_template: str
) -> SignedTexts:
    """The signatures of an installed benchmark.

    Raises `BenchmarkError` where there are none, an id is not once, or a split is none; `IndexingError` where
    blocks are too few to be split.
    """
    view = _relate(benchmark, "signatures")
    with database.read() as session:
        rows, splits = read_rows(session, benchmark)
        persons = read_persons(session, benchmark)
        rows["person"] = [
            persons.get(query_id) if split != SPLITS[2] else None
            for query_id, split in zip(rows["query_id"], rows["split"], strict=True)
        ]
        owners, place = np.unique(np.array(rows["paper_id"], dtype=np.int64), return_inverse=True)
        papers = read_signed_papers(session, owners)
        signatures = [_make_signature(rows, number, int(place[number])) for number in range(len(place))]
        return SignedTexts.read(
            session,
            benchmark,
            paper_template,
            sa.select(view.c.paper_id),
            _list_requested(rows, signatures, papers),
            rows=rows,
            splits=splits,
            signatures=signatures,
            papers=papers,
        )


def read_rows(
    session: Session, benchmark: Benchmark
) -> tuple[dict[str, list[Any]], dict[str, dict[str, Split]]]:
    """The columns of the view `signatures`, by dataset and number; and the split of every block of a dataset.

    A block whose split the view does not give has the one that `s2and` draws: of the dataset's blocks in the
    order of their first signature, by the seed that the table `[probe]` of benchmark.toml names.
    """
    view = _relate(benchmark, "signatures")
    found = session.fetch_arrow(sa.select(*view.c))
    found = found.sort_by([(name, "ascending") for name in ("dataset", "number", "query_id")])
    rows: dict[str, list[Any]] = {name: found[name].to_pylist() for name in found.column_names}
    _require_rows(benchmark, rows)
    blocks = list(zip(rows["dataset"], rows["block"], strict=True))
    splits = _find_splits(benchmark, blocks, rows["split"])
    return {**rows, "split": [splits[dataset][block] for dataset, block in blocks]}, splits


def read_persons(session: Session, benchmark: Benchmark) -> dict[str, str]:
    """Signature -> its cluster, of those whose cluster is known. Raises `BenchmarkError` for two of one."""
    view = _relate(benchmark, "clusters")
    persons: dict[str, str] = {}
    for query_id, cluster in session.stream_rows(sa.select(view.c.query_id, view.c.cluster)):
        if cluster is not None and persons.setdefault(query_id, str(cluster)) != str(cluster):
            raise BenchmarkError(f"{benchmark.name}.clusters gives two clusters of the signature {query_id}.")
    return persons


def select_persons(benchmark: Benchmark) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """The cluster of each signature as `query_id`, `item` and `value`; and what decides its test block."""
    clusters, view = _relate(benchmark, "clusters"), _relate(benchmark, "signatures")
    known = sa.select(clusters.c.query_id, sa.literal("").label("item"), clusters.c.cluster.label("value"))
    names = dict.fromkeys(("query_id", "dataset", "number", "block", "split", *benchmark.group_by))
    return known.where(clusters.c.cluster.is_not(None)), sa.select(*(view.c[name] for name in names))


def find_seed(benchmark: Benchmark) -> int:
    """The seed of a benchmark."""
    return int(benchmark.probe.get("seed", SEED))


def _relate(benchmark: Benchmark, view: str) -> sa.TableClause:
    return sa.table(view, *map(sa.column, list_columns(benchmark, view)), schema=benchmark.name)


def _require_rows(benchmark: Benchmark, rows: Mapping[str, list[Any]]) -> None:
    query_ids = rows["query_id"]
    if not query_ids:
        raise BenchmarkError(
            f"the benchmark {benchmark.name} has no signatures in this database; load its corpus "
            f"{benchmark.corpus} first, with `pinakes load`."
        )
    if len(set(query_ids)) < len(query_ids):
        raise BenchmarkError(
            f"the view {benchmark.name}.signatures gives a query_id twice; expected each once."
        )
    unknown = sorted({str(split) for split in rows["split"]} - {*SPLITS, "None"})
    if unknown:
        raise BenchmarkError(
            f"{benchmark.name}.signatures has the split {unknown[0]!r}; expected {', '.join(SPLITS)} or null."
        )


def _find_splits(
    benchmark: Benchmark, blocks: list[tuple[str, str]], given: list[Split | None]
) -> dict[str, dict[str, Split]]:
    splits: dict[str, dict[str, Split]] = {dataset: {} for dataset, _ in blocks}
    for (dataset, block), split in zip(blocks, given, strict=True):
        if split is not None:
            splits[dataset][block] = split
    unsplit: dict[str, list[str]] = {}
    for dataset, block in dict.fromkeys(blocks):
        if block not in splits[dataset]:
            unsplit.setdefault(dataset, []).append(block)
    for dataset, names in unsplit.items():
        splits[dataset] |= split_blocks(names, find_seed(benchmark))
    return splits


def _make_signature(rows: Mapping[str, list[Any]], number: int, place: int) -> Signature:
    return Signature(
        paper=place,
        position=rows["position"][number],
        first=rows["first_name"][number],
        middle=rows["middle_name"][number],
        last=rows["last_name"][number],
        email=rows["email"][number],
        affiliations=tuple((rows["affiliations"][number] or "").splitlines()),
    )


def _list_requested(
    rows: Mapping[str, list[Any]], signatures: list[Signature], papers: list[SignedPaper]
) -> pa.Table:
    """What decides the answers besides the texts, by the source's ids, as one text a signature or paper."""
    told = ("query_id", "dataset", "block", "split", "person")
    said = [
        repr((*(rows[name][number] for name in told), one.position, papers[one.paper].key))
        + repr((one.first, one.middle, one.last, one.email, one.affiliations))
        for number, one in enumerate(signatures)
    ]
    known = [
        repr((one.key, one.title, one.has_abstract, one.year, one.venue, one.authors, one.references))
        + repr(sorted(str(papers[number].key) for number in one.cited))
        for one in papers
    ]
    return pa.table({"row": [*said, *sorted(known)]})
