"""What a probe is asked: papers with a class, several labels or a number, to train on and to predict."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.workload import Ids

NUMBER: Final = "value"
"""the column of numbers; classes and labels are in the column `label`"""
SPLITS: Final = ("train", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The examples of a split, in the order in which folds are cut.

    Attributes:
        query_ids: the source's id of each paper (n,).
        paper_ids: our id of each (n,).
        codes: the place of each one's class in the names of the whole (n,); of several labels, and of
            numbers, empty.
        members: whether an example has a label (n, K); else (n, 0).
        values: the number of each (n,); else empty.
    """

    query_ids: list[str]
    paper_ids: Ids
    codes: NDArray[np.int64]
    members: NDArray[np.bool_]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.query_ids)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """All examples of a benchmark.

    Attributes:
        names: the classes or labels of both splits, ascending; empty where they are numbers.
        leaked: test papers that are training examples too.
        attributes: test paper -> grouping column -> value.
    """

    train: Split
    test: Split
    names: list[str]
    leaked: int
    attributes: dict[str, dict[str, str | None]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Examples(PaperTexts):
    """The papers of a benchmark's examples, with these."""

    labelled: Labelled

    @property
    def queries_expected(self) -> int:
        """How many papers are to be predicted."""
        return len(self.labelled.test)


def list_columns(benchmark: Benchmark, target: str) -> list[str]:
    """The columns of the view `examples`."""
    return ["query_id", "paper_id", "split", "position", target, *benchmark.group_by]


def read_examples(database: Database, benchmark: Benchmark, paper_template: str, target: str) -> Examples:
    """The examples of an installed benchmark, with the texts of their papers.

    `target` is the column of what is predicted. Raises `BenchmarkError` as `read_labelled` does.
    """
    view = _view(benchmark, target)
    with database.read() as session:
        rows = _read_rows(session, benchmark, target)
        requested = rows.select(["query_id", "split", target])
        return Examples.read(
            session,
            benchmark,
            paper_template,
            sa.select(view.c.paper_id),
            requested,
            labelled=_build(benchmark, rows, target),
        )


def read_labelled(database: Database, benchmark: Benchmark, target: str) -> Labelled:
    """The examples of an installed benchmark, without texts.

    Raises:
        BenchmarkError: a split is empty or has another name, a paper is twice in a split, or has two
            classes, no class, or no number.
    """
    with database.read() as session:
        return _build(benchmark, _read_rows(session, benchmark, target), target)


def select_labelled(benchmark: Benchmark, target: str) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """The target of each example as `query_id`, `item` (its split) and `value`; and their groups."""
    view = _view(benchmark, target)
    labelled = sa.select(view.c.query_id, view.c.split.label("item"), view.c[target].label("value"))
    return labelled, sa.select(view.c.query_id, view.c.split, *(view.c[name] for name in benchmark.group_by))


def _view(benchmark: Benchmark, target: str) -> sa.TableClause:
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in list_columns(benchmark, target)]
    return sa.table("examples", *columns, schema=benchmark.name)


def _read_rows(session: Session, benchmark: Benchmark, target: str) -> pa.Table:
    """The rows in order: by split, by position in the source, and by id and label, byte by byte."""
    view = _view(benchmark, target)
    number = sa.cast(view.c.position, sa.BigInteger).label("position")
    columns = [column for column in view.c if column.name != "position"]
    rows = session.fetch_arrow(sa.select(*columns, number))
    order = [(name, "ascending") for name in ("split", "position", "query_id", target)]
    return rows.sort_by(order)


def _build(benchmark: Benchmark, rows: pa.Table, target: str) -> Labelled:
    splits = rows["split"].to_pylist()
    unknown = sorted({str(split) for split in splits} - set(SPLITS))
    if unknown:
        raise BenchmarkError(
            f"{benchmark.name}.examples has the split {unknown[0]}; expected train and test."
        )
    missing = [split for split in SPLITS if split not in splits]
    if missing:
        raise BenchmarkError(
            f"{benchmark.name} has no {missing[0]} examples in this database; load its corpus "
            f"{benchmark.corpus} first, with `pinakes load`."
        )
    labels = [] if target == NUMBER else [name for name in rows[target].to_pylist() if name is not None]
    names = sorted(set(labels), key=str.encode)
    is_test = np.array([split == "test" for split in splits])
    train, test = (
        _build_split(benchmark, split, rows.filter(pa.array(chosen)), names, target)
        for split, chosen in zip(SPLITS, (~is_test, is_test), strict=True)
    )
    leaked = len(set(train.query_ids) & set(test.query_ids))
    return Labelled(train, test, names, leaked, _read_attributes(benchmark, rows.filter(pa.array(is_test))))


def _build_split(benchmark: Benchmark, split: str, rows: pa.Table, names: list[str], target: str) -> Split:
    query_ids = rows["query_id"].to_pylist()
    places = {query_id: place for place, query_id in enumerate(dict.fromkeys(query_ids))}
    example = np.array([places[query_id] for query_id in query_ids], dtype=np.int64)
    first = np.unique(example, return_index=True)[1]
    several = bool(benchmark.probe.get("multi_label"))
    if len(first) < len(example) and not several:
        again = query_ids[int(np.setdiff1d(np.arange(len(example)), first)[0])]
        raise BenchmarkError(
            f"{benchmark.name}.examples has {again} twice in the split {split}; expected each paper once, or "
            "`multi_label = true` under [probe]."
        )
    paper_ids = rows["paper_id"].to_numpy().astype(np.int64)[first]
    given = rows[target].to_pylist()
    if not several and None in given:
        raise BenchmarkError(
            f"{benchmark.name}.examples has no {target} for {query_ids[given.index(None)]} (split {split})."
        )
    codes, members = np.empty(0, dtype=np.int64), np.zeros((len(places), 0), dtype=bool)
    values = np.empty(0, dtype=np.float64)
    if target == NUMBER:
        values = _take_numbers(benchmark, query_ids, given)
    else:
        code_of = {name: code for code, name in enumerate(names)}
        code = np.array([-1 if name is None else code_of[name] for name in given], dtype=np.int64)
        if several:
            members = np.zeros((len(places), len(names)), dtype=bool)
            members[example[code >= 0], code[code >= 0]] = True
        else:
            codes = code
    return Split(list(places), paper_ids, codes, members, values)


def _take_numbers(benchmark: Benchmark, query_ids: list[str], given: list[Any]) -> NDArray[np.float64]:
    for query_id, value in zip(query_ids, given, strict=True):
        if isinstance(value, str):
            raise BenchmarkError(
                f"{benchmark.name}.examples has the text {value!r:.80} for {query_id}; expected a number."
            )
    values = np.array([float(value) for value in given], dtype=np.float64)
    if not np.isfinite(values).all():
        query_id = query_ids[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise BenchmarkError(f"{benchmark.name}.examples has no finite number for {query_id}.")
    return values


def _read_attributes(benchmark: Benchmark, rows: pa.Table) -> dict[str, dict[str, str | None]]:
    columns = [rows[name].to_pylist() for name in benchmark.group_by]
    grouped = zip(*columns, strict=True) if columns else (() for _ in range(rows.num_rows))
    return {
        query_id: dict(zip(benchmark.group_by, values, strict=True))
        for query_id, values in zip(rows["query_id"].to_pylist(), grouped, strict=False)
    }
