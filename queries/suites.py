"""What the folder of a suite says: a collection of benchmarks, whose figures are averaged by group.

A suite is a folder with a suite.toml; it is no benchmark. A benchmark says in its own table `[suite]` that it
is in one, in which group, and as which figures.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.definition import (
    Benchmark,
    PublishedScore,
    list_benchmarks,
    read_benchmarks,
)
from pinakes.queries.folders import find_folders, hint_folders, read_file

AVERAGE: Final = "Average"
"""the mean over all figures of the suite's groups: not of groups, nor of benchmarks"""


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite, as its folder defines it.

    Attributes:
        groups: whose figures are averaged, in the order of its tables.
        beside: benchmarks whose figures are shown and count in no average.
        published: averages that were published: `subset` is a group or `AVERAGE`, `measure` is `AVERAGE`, or
            with the one format that it is over, as `Average(PRX)`.
        ours: published system -> what it is called in runs.
        digest: sha256 over suite.toml.
    """

    name: str
    title: str
    citation: str
    licence: str
    groups: tuple[str, ...]
    beside: frozenset[str]
    published: tuple[PublishedScore, ...]
    ours: Mapping[str, tuple[str, ...]]
    digest: str
    notes: Sequence[str] = ()


def list_suites(folders: Sequence[Path] = ()) -> list[str]:
    """The names of all suites: the bundled ones and those in the given folders."""
    return sorted(find_folders("suite.toml", folders))


def read_suite(name: str, folders: Sequence[Path] = ()) -> Suite:
    """The suite of that name, from the given folders or else the bundled ones.

    Raises:
        UnknownNameError: there is no such folder; the message lists the known ones.
        BenchmarkError: its suite.toml is not as it should be, or there is a benchmark of its name.
    """
    known = find_folders("suite.toml", folders)
    if name not in known:
        raise UnknownNameError("suite", name, list(known), hint_folders(folders))
    if name in list_benchmarks(folders):
        raise BenchmarkError(f"{name} names a suite and a benchmark; expected two names.")
    text = read_file(known[name], "suite.toml")
    try:
        return _build(name, tomllib.loads(text), hashlib.sha256(text.encode()).hexdigest())
    except KeyError as error:
        raise BenchmarkError(f"{name}/suite.toml lacks {error.args[0]}.") from error
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, ValueError) as error:
        raise BenchmarkError(f"{name}/suite.toml is not as it should be: {error}.") from error


def list_members(suite: Suite, folders: Sequence[Path] = ()) -> list[Benchmark]:
    """The benchmarks of a suite, by group and name.

    Raises `BenchmarkError` where one of them is in a group that the suite lacks.
    """
    return choose_members(suite, read_benchmarks(folders))


def choose_members(suite: Suite, found: Sequence[Benchmark]) -> list[Benchmark]:
    """Those of the benchmarks that are of the suite; order and errors are those of `list_members`."""
    members = {one.name: one for one in found if one.suite is not None and one.suite.name == suite.name}
    groups = {name: one.suite.group for name, one in members.items() if one.suite is not None}
    for name, group in groups.items():
        if group not in suite.groups:
            listed = ", ".join(suite.groups)
            raise BenchmarkError(f"{name} is in the group {group!r} of {suite.name}; its groups: {listed}.")
    order = sorted(members, key=lambda name: (suite.groups.index(groups[name]), name))
    return [members[name] for name in order]


def _build(name: str, described: Mapping[str, Any], digest: str) -> Suite:
    groups = tuple(described["groups"])
    if not groups or len(set(groups)) < len(groups) or AVERAGE in groups:
        raise ValueError(f"groups is {list(groups)}; expected names, each once, none of them {AVERAGE}")
    published = tuple(
        score for table in described.get("published", ()) for score in _read_averages(table, groups)
    )
    ours = {system: tuple(names) for system, names in described.get("ours", {}).items()}
    unpublished = sorted(ours.keys() - {score.system for score in published})
    if unpublished:
        raise ValueError(f"ours names {unpublished[0]!r}, of which nothing is published")
    return Suite(
        name,
        described["title"],
        described["citation"],
        described["licence"],
        groups,
        frozenset(described.get("beside", ())),
        published,
        ours,
        digest,
        tuple(described.get("notes", ())),
    )


def _read_averages(table: Mapping[str, Any], groups: Sequence[str]) -> list[PublishedScore]:
    """The figures of one `[[published]]` table: a row for each system, a column for each group."""
    columns = table["columns"]
    strange = [column for column in columns if column not in (*groups, AVERAGE)]
    if strange:
        raise ValueError(f"a published table has the column {strange[0]!r}, which is no group")
    measure = f"{AVERAGE}({table['format']})" if "format" in table else AVERAGE
    return [
        PublishedScore(system, column, measure, table["source"], float(printed) / table["scale"], printed)
        for system, figures in table["rows"].items()
        for column, printed in zip(columns, figures, strict=True)
    ]
