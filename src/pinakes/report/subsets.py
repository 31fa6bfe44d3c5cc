"""Which subsets a report shows, and in which order: the names in `scores.subset`, taken apart.

`all`, `field=Art` and `mean(field)` are shown with what follows them (`all/test`); `pool_size=200000` and
`type=graph` have tables of their own; of `field=Art/repeat=1` and `64-shot/3`, a draw,
only the spread is shown, and `type=graph/field=Art` is for those who ask the database.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from statistics import stdev
from typing import Final

from pinakes.report.data import Spread, SubsetScore

TYPE: Final = "type="
_SIZE: Final = re.compile(r"pool_size=(\d+)")
SPREAD: Final = "± is the standard deviation over repeats: pools, or few examples, drawn again."
_REPEAT: Final = re.compile(r"(.+)/repeat=[^/]+|(\d+-shot)/\d+")


def is_shown(subset: str) -> bool:
    """Whether a report shows a subset by its own name.

    >>> [is_shown(name) for name in ("all", "all/test", "type=graph", "pool_size=20")]
    [True, True, True, True]
    >>> [is_shown(name) for name in ("all/repeat=1", "64-shot/3", "type=graph/field=Art")]
    [False, False, False]
    """
    return not _REPEAT.fullmatch(subset) and not (subset.startswith(TYPE) and "/" in subset)


def order_sizes(subsets: Iterable[str]) -> tuple[str, ...]:
    """The subsets that are of one pool size, smallest first.

    >>> order_sizes(["all", "pool_size=1000000", "pool_size=200000"])
    ('pool_size=200000', 'pool_size=1000000')
    """
    return tuple(sorted((name for name in set(subsets) if _SIZE.fullmatch(name)), key=read_size))


def read_size(subset: str) -> int:
    """The papers of a pool, from the name of its subset.

    >>> read_size("pool_size=200000")
    200000
    """
    return int(subset.partition("=")[2])


def order_types(subsets: Iterable[str]) -> tuple[str, ...]:
    """The subsets that are of one candidate type, by name; random candidates, the yardstick, come last.

    >>> order_types(["type=random", "all", "type=bm25", "type=specter"])
    ('type=bm25', 'type=specter', 'type=random')
    """
    found = {name for name in subsets if name.startswith(TYPE)}
    return tuple(sorted(found, key=lambda name: (name == f"{TYPE}random", name)))


def order_groups(subsets: Collection[str], splits: Sequence[str]) -> tuple[str, ...]:
    """The other subsets: split after split in the given order, in each all queries, averages, then groups.

    >>> order_groups(["field=Art", "mean(field)", "all/test", "all", "type=graph"], ["", "test"])
    ('all', 'mean(field)', 'field=Art', 'all/test')
    """

    def key(subset: str) -> tuple[int, bool, bool, str]:
        group, _, split = subset.partition("/")
        place = splits.index(split) if split in splits else len(splits)
        return (place, group != "all", not group.startswith("mean("), group)

    apart = {name for name in subsets if name.startswith(TYPE) or _SIZE.fullmatch(name)}
    return tuple(sorted(set(subsets) - apart, key=key))


def measure_spreads(scores: Iterable[SubsetScore]) -> list[Spread]:
    """The spread of each subset over its repeats, in the order of run, subset and measure.

    Repeats of different numbers of queries, as where some fields have fewer pools, have no deviation: it
    would be that of the queries.

    >>> scores = [SubsetScore(1, f"all/repeat={n}", "AP", value, 4, 4) for n, value in ((1, 0.2), (2, 0.4))]
    >>> [(spread.subset, spread.repeats, round(spread.deviation, 4)) for spread in measure_spreads(scores)]
    [('all', 2, 0.1414)]
    """
    repeats = sorted(
        (score.run_id, found[1] or found[2], score.measure, score.value, score.queries_expected)
        for score in scores
        if (found := _REPEAT.fullmatch(score.subset))
    )
    spreads = []
    for (run_id, subset, measure), rows in groupby(repeats, key=lambda row: row[:3]):
        values, expected = zip(*(row[3:] for row in rows), strict=True)
        deviation = stdev(values) if len(values) > 1 and len(set(expected)) == 1 else None
        spreads.append(Spread(run_id, subset, measure, len(values), deviation))
    return spreads
