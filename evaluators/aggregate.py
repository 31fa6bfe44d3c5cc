"""Scores of single queries in, scores of subsets out: all queries, groups, splits of both.

Sums are exactly rounded, so that no order of queries changes a digit. Leaves out: rounding, which the
report does.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.errors import EvaluationError
from pinakes.evaluators.registry import parse_measure
from pinakes.records import Score

Attributes = Mapping[str, Mapping[str, str | None]]
"""query id -> column -> value: the grouping columns of the benchmark's queries"""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Which subsets of the queries a benchmark reports.

    Attributes:
        group_by: columns; each value of each makes a subset `column=value`.
        fold_column: the column that says which fold a query belongs to.
        splits: name -> sets of folds. A split's value is the unweighted mean of the means over each set:
            CSFCube's test is `[["B"], ["A"]]`, its dev `[["A"]]`.
    """

    group_by: tuple[str, ...] = ()
    fold_column: str | None = None
    splits: Mapping[str, Sequence[Collection[str]]] = field(default_factory=dict)


def aggregate(
    scores: Iterable[Score], attributes: Attributes | None = None, aggregation: Aggregation | None = None
) -> list[Score]:
    """The scores of `all`, `column=value`, and of each split of these (`all/test`, `column=value/test`).

    The mean goes over every owed query; missing ones are in it as zeros. Counts (`NumRet`, `NumRel`) are
    sums instead, in a split over all of its queries. A query whose column is null is in no group of that
    column; a group without queries in some fold set of a split has no row for that split.

    Raises `EvaluationError` for a repeated score, a query without attributes or without a fold, and a
    split of `all` without queries.
    """
    rule = aggregation or Aggregation()
    if rule.splits and rule.fold_column is None:
        raise EvaluationError("splits are given without a fold column; name the column that holds the folds")
    return [
        _score_subset(measure, subset, by_query, parts)
        for measure, by_query in _gather(scores).items()
        for subset, parts in _list_subsets(by_query, attributes or {}, rule).items()
    ]


def _list_subsets(
    query_ids: Collection[str], attributes: Attributes, rule: Aggregation
) -> dict[str, list[set[str]]]:
    """Subset -> the sets of queries whose means it averages."""
    subsets: dict[str, list[set[str]]] = {}
    for group, members in {"all": set(query_ids), **_group_queries(query_ids, attributes, rule)}.items():
        subsets[group] = [members]
        for split, fold_sets in rule.splits.items():
            parts = _split_queries(members, attributes, rule.fold_column or "", fold_sets)
            if all(parts):
                subsets[f"{group}/{split}"] = parts
            elif group == "all":
                raise EvaluationError(
                    f"split {split!r} asks for folds {_write_folds(fold_sets)}, and one of these sets has no "
                    f"query; compare with the values of column {rule.fold_column!r}"
                )
    return subsets


def _gather(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    gathered: dict[str, dict[str, Score]] = {}
    for score in scores:
        if score.query_id is None:
            raise EvaluationError(
                f"a score of {score.measure} is of subset {score.subset!r}, not of a query; "
                "give the scores of single queries"
            )
        by_query = gathered.setdefault(score.measure, {})
        if score.query_id in by_query:
            raise EvaluationError(
                f"{score.measure} has two scores for query {score.query_id!r}; "
                "give the scores of one run at a time"
            )
        by_query[score.query_id] = score
    return gathered


def _group_queries(
    query_ids: Iterable[str], attributes: Attributes, rule: Aggregation
) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for query_id in query_ids:
        for column in rule.group_by:
            value = _look_up(attributes, query_id, column)
            if value is not None:
                groups.setdefault(f"{column}={value}", set()).add(query_id)
    return dict(sorted(groups.items()))


def _split_queries(
    query_ids: Iterable[str], attributes: Attributes, fold_column: str, fold_sets: Sequence[Collection[str]]
) -> list[set[str]]:
    folds: dict[str, str] = {}
    for query_id in query_ids:
        fold = _look_up(attributes, query_id, fold_column)
        if fold is None:
            raise EvaluationError(
                f"query {query_id!r} has no {fold_column}; give it one, or ask for no splits"
            )
        folds[query_id] = fold
    return [{query_id for query_id, fold in folds.items() if fold in fold_set} for fold_set in fold_sets]


def _look_up(attributes: Attributes, query_id: str, column: str) -> str | None:
    if query_id not in attributes or column not in attributes[query_id]:
        raise EvaluationError(
            f"query {query_id!r} has no column {column!r}; the benchmark's queries must give it, or null"
        )
    return attributes[query_id][column]


def _score_subset(
    measure: str, subset: str, by_query: Mapping[str, Score], parts: Sequence[Collection[str]]
) -> Score:
    members = [by_query[query_id] for query_id in set().union(*parts)]
    if parse_measure(measure).family.is_count:
        value = math.fsum(score.value for score in members)
    else:
        value = _mean([_mean([by_query[query_id].value for query_id in part]) for part in parts])
    return Score(
        measure=measure,
        subset=subset,
        query_id=None,
        value=value,
        queries_owed=sum(score.queries_owed for score in members),
        queries_answered=sum(score.queries_answered for score in members),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _write_folds(fold_sets: Sequence[Collection[str]]) -> str:
    return ", ".join("{" + ", ".join(sorted(fold_set)) + "}" for fold_set in fold_sets)
