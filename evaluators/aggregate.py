"""Scores of single queries in, scores of subsets out: all, groups, splits and repeats of both, averages.

Sums are exactly rounded, so that no order of queries changes a digit.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.errors import EvaluationError
from pinakes.evaluators.registry import is_count
from pinakes.records import Average, Score

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
        repeat_column: the column that tells repeats apart; each makes a subset of all and of each group.
        averages: means over groups.
    """

    group_by: tuple[str, ...] = ()
    fold_column: str | None = None
    splits: Mapping[str, Sequence[Collection[str]]] = field(default_factory=dict)
    repeat_column: str | None = None
    averages: tuple[Average, ...] = ()


@dataclass(frozen=True, slots=True)
class _Subset:
    """The sets of queries whose means are averaged, and the decimals that these are rounded to."""

    parts: Sequence[Collection[str]]
    decimals: int | None = None


def aggregate(
    scores: Iterable[Score],
    attributes: Attributes | None = None,
    aggregation: Aggregation | None = None,
    adds_up: Callable[[str], bool] = is_count,
) -> list[Score]:
    """The scores of `all`, `column=value`, of splits and repeats of these, and of averages.

    Splits are `all/test`, `column=value/test`; repeats `all/repeat=1`, `column=value/repeat=1`. Scores of
    single queries whose subset is not `all` but, say, `type=graph`, give `type=graph` for `all` and
    `type=graph/column=value` and so on for the others.

    The mean goes over every expected query; missing ones are in it as zeros. Measures of which `adds_up` is
    true (counts, as `NumRet`) are sums instead, in a split or an average over all of its queries. A query
    whose column is null is in no group of that column; a group without queries in some fold set of a split
    has no row for that split.

    Raises `EvaluationError` for a repeated score, a query without attributes or without a fold, and a
    split of `all` without queries.
    """
    rule = aggregation or Aggregation()
    if rule.splits and rule.fold_column is None:
        raise EvaluationError("splits are given without a fold column; name the column that holds the folds")
    listed: dict[tuple[str, ...], dict[str, _Subset]] = {}  # most measures are of the same queries
    found = []
    for (measure, within), by_query in _gather(scores).items():
        query_ids = tuple(by_query)
        if query_ids not in listed:
            listed[query_ids] = _list_subsets(query_ids, attributes or {}, rule)
        is_sum = adds_up(measure)
        for name, subset in listed[query_ids].items():
            value, members = _summarise(by_query, subset, is_sum=is_sum)
            expected = sum(score.queries_expected for score in members)
            answered = sum(score.queries_answered for score in members)
            found.append(Score(measure, _write_name(within, name), None, value, expected, answered))
    return found


def _write_name(within: str, name: str) -> str:
    """The name of a subset of the rankings that `within` names.

    >>> [_write_name("type=bm25", name) for name in ("all", "all/test", "field=Art")]
    ['type=bm25', 'type=bm25/test', 'type=bm25/field=Art']
    """
    if within == "all":
        return name
    return within if name == "all" else f"{within}/{name.removeprefix('all/')}"


def _list_subsets(
    query_ids: Collection[str], attributes: Attributes, rule: Aggregation
) -> dict[str, _Subset]:
    subsets: dict[str, _Subset] = {}
    groups = {column: _group_queries(query_ids, attributes, column) for column in rule.group_by}
    named = {f"{column}={value}": group for column in groups for value, group in groups[column].items()}
    for group, members in {"all": set(query_ids), **dict(sorted(named.items()))}.items():
        subsets[group] = _Subset([members])
        subsets |= _list_splits(group, members, attributes, rule)
        if rule.repeat_column is not None:
            repeats = _group_queries(members, attributes, rule.repeat_column)
            subsets |= {f"{group}/repeat={value}": _Subset([repeats[value]]) for value in sorted(repeats)}
    for average in rule.averages:
        averaged = groups.get(average.column) or _group_queries(query_ids, attributes, average.column)
        if averaged:
            subsets[average.name] = _Subset(list(averaged.values()), average.decimals)
    return subsets


def _list_splits(
    group: str, members: Collection[str], attributes: Attributes, rule: Aggregation
) -> dict[str, _Subset]:
    subsets = {}
    for split, fold_sets in rule.splits.items():
        parts = _split_queries(members, attributes, rule.fold_column or "", fold_sets)
        if all(parts):
            subsets[f"{group}/{split}"] = _Subset(parts)
        elif group == "all":
            folds = ", ".join("{" + ", ".join(sorted(fold_set)) + "}" for fold_set in fold_sets)
            raise EvaluationError(
                f"split {split!r} asks for folds {folds}, and one of these sets has no query; compare with "
                f"the values of column {rule.fold_column!r}"
            )
    return subsets


def _gather(scores: Iterable[Score]) -> dict[tuple[str, str], dict[str, Score]]:
    """Measure and subset -> query -> its score."""
    gathered: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        if score.query_id is None:
            raise EvaluationError(
                f"a score of {score.measure} is of subset {score.subset!r}, not of a query; "
                "give the scores of single queries"
            )
        by_query = gathered.setdefault((score.measure, score.subset), {})
        if score.query_id in by_query:
            raise EvaluationError(
                f"{score.measure} has two scores for query {score.query_id!r}; "
                "give the scores of one run at a time"
            )
        by_query[score.query_id] = score
    return gathered


def _group_queries(query_ids: Iterable[str], attributes: Attributes, column: str) -> dict[str, set[str]]:
    """Value of the column -> its queries."""
    groups: dict[str, set[str]] = {}
    for query_id in query_ids:
        value = _look_up(attributes, query_id, column)
        if value is not None:
            groups.setdefault(value, set()).add(query_id)
    return groups


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


def _summarise(by_query: Mapping[str, Score], subset: _Subset, *, is_sum: bool) -> tuple[float, list[Score]]:
    """A subset's value, and the scores of its queries."""
    members = [by_query[query_id] for query_id in set().union(*subset.parts)]
    if is_sum:
        return math.fsum(score.value for score in members), members
    means = [_mean([by_query[query_id].value for query_id in part]) for part in subset.parts]
    if subset.decimals is None:
        return _mean(means), members
    percents = [round(100 * mean, subset.decimals - 2) for mean in means]
    return round(_mean(percents), subset.decimals - 2) / 100, members


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
