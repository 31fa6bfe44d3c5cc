"""How far the assessors of a benchmark's corpus agree: for each query, and the medians over the queries.

Two stages, as CSFCube reports them (Mysore et al. 2021, section 4): `before` holds the annotators against
each other, `after` each annotator against the `adjudicated` grade.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, Final, Literal

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.query_groups import read_groups
from pinakes.evaluators.agreement import cohen_kappa, krippendorff_alpha, percent_agreement, spearman
from pinakes.queries.definition import Benchmark, require_task
from pinakes.queries.relations import relation
from pinakes.queries.tasks import RANKING
from pinakes.schema import corpora, judgments
from pinakes.workload.benchmark import open_benchmark

ADJUDICATED: Final = "adjudicated"
ALL: Final = "all"
NEGATIVE: Final = ("zero", "missing")
"""what a negative grade can stand for"""

Stage = Literal["before", "after"]

_Item = tuple[int, str]  # paper and split, in which a source may judge it more than once
_Graded = Mapping[str, Mapping[_Item, int]]  # assessor -> item -> grade

MEASURES: Final[Mapping[str, Callable[[Sequence[int], Sequence[int]], float | None]]] = {
    "rho": spearman,
    "alpha": lambda a, b: krippendorff_alpha([a, b], "ordinal"),
    "kappa": cohen_kappa,
    "percent": percent_agreement,
}
"""a row's column -> what it holds: Spearman's rho, ordinal alpha, unweighted kappa, per cent from 0 to 100"""


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """The agreement on one query: the means over its pairs of assessors.

    Attributes:
        group: its value of the grouping column; None where it has none.
        pairs: the pairs of assessors that graded a paper in common; without one every value is None.
        items: the papers that such a pair graded, summed over the pairs.
        rho, alpha, kappa, percent: None where the value of some pair is undefined.
    """

    query_id: str
    group: str | None
    stage: Stage
    pairs: int
    items: int
    rho: float | None
    alpha: float | None
    kappa: float | None
    percent: float | None


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The agreement on a group of queries: the medians over those that have a value.

    Attributes:
        group: a value of the grouping column, or `all`.
        queries: the judged queries of the group.
        undefined: measure -> how many of these have no value and are not in the median.
        rho, alpha, kappa, percent: None where no query has a value.
    """

    group: str
    stage: Stage
    queries: int
    undefined: Mapping[str, int]
    rho: float | None
    alpha: float | None
    kappa: float | None
    percent: float | None


def measure_agreement(
    database: Database, benchmark_name: str, column: str | None = None, *, negative: str = "zero"
) -> list[AgreementRow]:
    """The medians over the queries of each group and over all: the stage `before`, then `after`.

    A query has several pairs of annotators: their mean. A query whose value is undefined (a pair in which
    somebody gave one grade to all) is counted in `undefined`. Every judged paper counts, a query's own too
    where it is in its pool: that is what the annotators graded, whatever the benchmark leaves out. Without
    adjudicated grades there is no stage `after`.

    The judgments are those of the benchmark's corpus. `negative` says what a negative grade stands for: grade
    0, as every measure takes it and as CSFCube's Table 2 was computed, or a paper that was not judged.

    Raises:
        UnknownNameError: the benchmark does not group by that column.
        EvaluationError: no query has papers that two assessors graded.
        InputError: `negative` is neither `zero` nor `missing`.
    """
    found = measure_query_agreement(database, benchmark_name, column, negative=negative)
    groups = sorted({one.group for one in found if one.group is not None})
    return [
        _summarise(group, stage, [one for one in found if one.stage == stage and group in (ALL, one.group)])
        for stage in dict.fromkeys(one.stage for one in found)
        for group in (*groups, ALL)
    ]


def measure_query_agreement(
    database: Database, benchmark_name: str, column: str | None = None, *, negative: str = "zero"
) -> list[QueryAgreement]:
    """The agreement on each judged query: the stage `before` by query id, then `after`.

    As `measure_agreement` says, whose arguments and errors it has.
    """
    if negative not in NEGATIVE:
        known = " or ".join(NEGATIVE)
        raise InputError(f"a negative grade cannot stand for {negative!r}; expected {known}.")
    benchmark = open_benchmark(database, benchmark_name)
    require_task(benchmark, RANKING)
    groups = read_groups(database, benchmark, column) if column is not None else {}
    graded = _read_grades(database, benchmark, negative)
    is_adjudicated = any(ADJUDICATED in of_query for of_query in graded.values())
    stages: list[Stage] = ["before", "after"] if is_adjudicated else ["before"]
    found = [
        _measure(query_id, groups.get(query_id), stage, of_query)
        for stage in stages
        for query_id, of_query in graded.items()
    ]
    if not any(one.pairs for one in found):
        raise EvaluationError(
            f"no query of {benchmark_name} has papers that two assessors graded; there is nothing to compare."
        )
    return found


def _read_grades(database: Database, benchmark: Benchmark, negative: str) -> dict[str, _Graded]:
    """Query -> assessor -> item -> grade, of the benchmark's queries that are judged, by id."""
    requested = relation(benchmark, "queries")
    names = (judgments.c.query_id, judgments.c.assessor, judgments.c.paper_id, judgments.c.split)
    query = (
        sa.select(*names, judgments.c.grade)
        .join(corpora, judgments.c.corpus_id == corpora.c.corpus_id)
        .where(corpora.c.name == benchmark.corpus, judgments.c.query_id.in_(sa.select(requested.c.query_id)))
        .order_by(*names)
    )
    with database.read() as session:
        rows = session.stream_rows(query)
        found: dict[str, dict[str, dict[_Item, int]]] = {}
        for query_id, assessor, paper_id, split, grade in rows:
            of_assessor = found.setdefault(query_id, {}).setdefault(assessor, {})
            if grade >= 0 or negative == "zero":
                of_assessor[paper_id, split] = max(grade, 0)
    return dict(found)


def _measure(query_id: str, group: str | None, stage: Stage, graded: _Graded) -> QueryAgreement:
    annotators = [assessor for assessor in graded if assessor != ADJUDICATED]
    pairs: Iterable[tuple[str, str]] = combinations(annotators, 2)
    if stage == "after":
        pairs = [(ADJUDICATED, one) for one in annotators if ADJUDICATED in graded]
    paired = [both for a, b in pairs if (both := _pair_grades(graded[a], graded[b]))]
    values: dict[str, Any] = {name: _average(name, paired) for name in MEASURES}
    return QueryAgreement(query_id, group, stage, len(paired), sum(map(len, paired)), **values)


def _pair_grades(a: Mapping[_Item, int], b: Mapping[_Item, int]) -> list[tuple[int, int]]:
    """Both grades of each item that both graded."""
    return [(grade, b[item]) for item, grade in a.items() if item in b]


def _average(name: str, paired: Sequence[Sequence[tuple[int, int]]]) -> float | None:
    values = [MEASURES[name]([a for a, _ in both], [b for _, b in both]) for both in paired]
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(values) if values and len(defined) == len(values) else None


def _summarise(group: str, stage: Stage, found: Sequence[QueryAgreement]) -> AgreementRow:
    values = {name: [getattr(one, name) for one in found] for name in MEASURES}
    defined = {name: [value for value in values[name] if value is not None] for name in MEASURES}
    medians: dict[str, Any] = {name: median(defined[name]) if defined[name] else None for name in MEASURES}
    undefined = {name: len(found) - len(defined[name]) for name in MEASURES}
    return AgreementRow(group, stage, len(found), undefined, **medians)
