"""What a benchmark's folder says: its description, its SQL and its published figures."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.exhibits import Baseline, Exhibit, read_baselines, read_exhibits
from pinakes.queries.folders import find_folders, hint_folders, list_own_views, read_file
from pinakes.queries.tasks import RANKING, TaskViews, resolve_task
from pinakes.records import Average

_POOLS: Final = ("shared", "per_query", "grouped")
_UNJUDGED: Final = ("left_out", "error")
_TEMPLATE: Final = "title_abstract"
FORMATS: Final = ("CLF", "RGN", "PRX", "SRCH")
"""classification, regression, proximity of papers, ad-hoc search, as SciRepEval writes them"""
MODES: Final = ("corrected", "published")
"""ours; and as the published code has it, with its faults. The two are never in one table."""


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """A figure that a paper reports: `value` on the scale of our scores, `printed` as it stands there."""

    system: str
    subset: str
    measure: str
    source: str
    value: float
    printed: str


@dataclass(frozen=True, slots=True)
class SuiteMember:
    """A benchmark's place in a suite.

    Attributes:
        name: the suite, a folder with a suite.toml.
        group: the group of the suite that it is averaged in.
        figures: what counts: each figure is the mean of some (subset, measure) pairs.
    """

    name: str
    group: str
    figures: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark, as its folder defines it.

    Attributes:
        task: what is asked of a system, a name of `pinakes.queries.tasks`.
        corpus: the corpus whose papers are the candidates; empty where a run or `pinakes sample` says.
        other_corpora: those that it reads where the corpus is not loaded, the first that is.
        pool: `shared` when all queries have the same candidates, `per_query` when each has its own, `grouped`
            when each names a pool of several (the column `pool` of both views).
        depth: papers that a run keeps for each query; None: the whole pool.
        query_template, paper_template: what a query and a candidate say to a system.
        group_by: columns of the queries view that reports break down by.
        fold_column, splits: for each split the sets of folds whose means are averaged.
        tuning_folds: folds that no run ranks and no score is of: `pinakes tune` alone reads them.
        repeat_column: the column that tells repeats of one subset apart, for their spread.
        averages: means over groups.
        candidate_types: whether scores are also computed for each `source` of the candidates view, over its
            candidates and those that are relevant.
        sampling: the defaults of `pinakes sample`; None where the benchmark is not sampled.
        sql: name -> body of the views of the task.
        own_views: name -> body of the further views of the folder `views`, which may read these.
        baselines: the systems that `pinakes reproduce` runs.
        exhibits: tables and figures of its reports besides those of runs.
        digest: sha256 over the folder's files.
        format: what kind of vector a paper is asked for: one of `FORMATS`; None: any.
        distance: how vectors are compared where a run does not say.
        probe: what a task that trains on examples is told; its own module says which keys.
        reloaded_as: the precision that the published code reads vectors back with, in the mode `published`.
        suite: the collection that it counts in, and as which figures.
        mode: how a run trains and scores: one of `MODES`; no folder says so.
        tuning: whether the queries of `tuning_folds` are asked, in place of the others; no folder says so.
        part: the one pool of a grouped benchmark that is ranked, as a shared one; no folder says so.
        unjudged: what a query without a judgment is: `left_out` of every score, or an `error`.
        told: the table of benchmark.toml that has the task's name; the task says which keys.
        asked_of: the corpus or selection that a run chose, where it may choose any; no folder says so.
        producers: those of the variants that are asked with; no folder says so.
    """

    name: str
    title: str
    citation: str
    licence: str
    corpus: str
    pool: Literal["shared", "per_query", "grouped"]
    headline_measure: str
    measures: tuple[str, ...]
    query_template: str
    paper_template: str
    depth: int | None
    grades: Mapping[str, str]
    group_by: tuple[str, ...]
    fold_column: str | None
    splits: Mapping[str, Sequence[frozenset[str]]]
    published: tuple[PublishedScore, ...]
    sql: Mapping[str, str]
    digest: str
    notes: Sequence[str] = field(default_factory=tuple)
    tuning_folds: frozenset[str] = frozenset()
    repeat_column: str | None = None
    averages: tuple[Average, ...] = ()
    candidate_types: bool = False
    sampling: Mapping[str, Any] | None = None
    own_views: Mapping[str, str] = field(default_factory=dict)
    baselines: tuple[Baseline, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    tuning: bool = False
    part: str | None = None
    task: str = RANKING
    other_corpora: tuple[str, ...] = ()
    format: str | None = None
    distance: str | None = None
    probe: Mapping[str, Any] = field(default_factory=dict)
    reloaded_as: str | None = None
    suite: SuiteMember | None = None
    mode: str = MODES[0]
    told: Mapping[str, Any] = field(default_factory=dict)
    asked_of: str | None = None
    unjudged: Literal["left_out", "error"] = "left_out"
    producers: tuple[str, ...] = ()


def require_task(benchmark: Benchmark, task: str) -> None:
    """Raise `BenchmarkError` unless the benchmark asks that: for commands that serve one task alone."""
    if benchmark.task != task:
        raise BenchmarkError(f"{benchmark.name} has the task {benchmark.task}; expected {task}.")


def list_benchmarks(folders: Sequence[Path] = ()) -> list[str]:
    """The names of all benchmarks: the bundled ones and those in the given folders."""
    return sorted(find_folders("benchmark.toml", folders))


def read_benchmark(name: str, folders: Sequence[Path] = ()) -> Benchmark:
    """The benchmark of that name, from the given folders or else the bundled ones.

    Raises:
        UnknownNameError: there is no such folder; the message lists the known ones.
        BenchmarkError: the folder is incomplete, or its benchmark.toml is not as it should be.
    """
    known = find_folders("benchmark.toml", folders)
    if name not in known:
        raise UnknownNameError("benchmark", name, list(known), hint_folders(folders))
    return _read_folder(name, known[name])


def read_benchmarks(folders: Sequence[Path] = ()) -> list[Benchmark]:
    """All benchmarks, bundled and in the given folders, by name; raises what `read_benchmark` does."""
    known = find_folders("benchmark.toml", folders)
    return [_read_folder(name, known[name]) for name in sorted(known)]


def _read_folder(name: str, folder: Any) -> Benchmark:
    toml = read_file(folder, "benchmark.toml")
    try:
        described = tomllib.loads(toml)
        task: TaskViews = resolve_task(described.get("task", RANKING))
        files_of = (*(f"{view}.sql" for view in task.views), *list_own_views(folder, task))
        contents = {"benchmark.toml": toml, **{file: read_file(folder, file) for file in files_of}}
        _check_description(described, task)
        return _build(name, described, contents, task)
    except KeyError as error:
        raise BenchmarkError(f"{name}/benchmark.toml lacks {error.args[0]}.") from error
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, ValueError) as error:
        raise BenchmarkError(f"{name}/benchmark.toml is not as it should be: {error}.") from error


def _check_description(described: Mapping[str, Any], task: TaskViews) -> None:
    for key in task.settings:
        described[key]  # a KeyError names what is missing
    pool = described.get("pool", _POOLS[0])
    if pool not in _POOLS:
        raise ValueError(f"pool is {pool!r}; expected one of {', '.join(_POOLS)}")
    measures = described["measures"]
    if not isinstance(measures, list) or described["headline_measure"] not in measures:
        raise ValueError(
            f"headline_measure {described['headline_measure']!r} is not one of measures, a list: {measures!r}"
        )
    aggregation = described.get("aggregation", {})
    groups = aggregation.get("group_by", ())
    for name, average in aggregation.get("averages", {}).items():
        if average["column"] not in groups:
            raise ValueError(f"the average {name!r} is of {average['column']!r}, which group_by lacks")
    if aggregation.get("tuning_folds") and "fold_column" not in aggregation:
        raise ValueError("tuning_folds are given without a fold_column")
    if described.get("format") not in (None, *FORMATS):
        raise ValueError(f"format is {described['format']!r}; expected one of {', '.join(FORMATS)}")
    unjudged = described.get("unjudged", _UNJUDGED[0])
    if unjudged not in _UNJUDGED:
        raise ValueError(f"unjudged is {unjudged!r}; expected one of {', '.join(_UNJUDGED)}")
    depth = described.get("depth")
    if depth is not None and (type(depth) is not int or depth < 1):
        raise ValueError(f"depth is {depth!r}; expected 1 or more, or none for the whole pool")


def _build(
    name: str, described: Mapping[str, Any], contents: Mapping[str, str], task: TaskViews
) -> Benchmark:
    digest = hashlib.sha256()
    for file, text in contents.items():
        digest.update(f"{file}\0{text}\0".encode())
    own_views = {
        file.removeprefix("views/").removesuffix(".sql"): text
        for file, text in contents.items()
        if file.startswith("views/")
    }
    return Benchmark(
        name=name,
        title=described["title"],
        citation=described["citation"],
        licence=described["licence"],
        corpus=described["corpus"] if "sampling" not in described else described.get("corpus", ""),
        task=described.get("task", RANKING),
        pool=described.get("pool", _POOLS[0]),
        headline_measure=described["headline_measure"],
        measures=tuple(described["measures"]),
        query_template=described.get("query_template", _TEMPLATE),
        paper_template=described.get("paper_template", _TEMPLATE),
        depth=described.get("depth"),
        grades=described.get("grades", {}),
        published=tuple(
            score for table in described.get("published", ()) for score in _read_published(table)
        ),
        sql={view: contents[f"{view}.sql"] for view in task.views},
        digest=digest.hexdigest(),
        notes=tuple(described.get("notes", ())),
        sampling=described.get("sampling"),
        own_views=own_views,
        baselines=read_baselines(described.get("baselines", ())),
        exhibits=read_exhibits(described.get("exhibits", ()), list(own_views)),
        other_corpora=tuple(described.get("other_corpora", ())),
        format=described.get("format"),
        distance=described.get("distance"),
        probe=described.get("probe", {}),
        reloaded_as=described.get("reloaded_as"),
        suite=_read_suite(described.get("suite")),
        unjudged=described.get("unjudged", _UNJUDGED[0]),
        told=described.get(described.get("task", RANKING), {}),
        **_read_aggregation(described.get("aggregation", {})),
    )


def _read_suite(described: Mapping[str, Any] | None) -> SuiteMember | None:
    """The table `[suite]`: `figures` is a list of figures, each a list of `[subset, measure]` pairs."""
    if described is None:
        return None
    figures = tuple(
        tuple((str(subset), str(measure)) for subset, measure in figure) for figure in described["figures"]
    )
    if not figures or not all(figures):
        raise ValueError("the suite's figures are empty; expected lists of [subset, measure] pairs")
    return SuiteMember(described["name"], described["group"], figures)


def _read_aggregation(aggregation: Mapping[str, Any]) -> dict[str, Any]:
    """The members of `Benchmark` that the table `[aggregation]` gives."""
    return {
        "group_by": tuple(aggregation.get("group_by", ())),
        "fold_column": aggregation.get("fold_column"),
        "splits": {
            split: tuple(frozenset(folds) for folds in parts)
            for split, parts in aggregation.get("splits", {}).items()
        },
        "tuning_folds": frozenset(aggregation.get("tuning_folds", ())),
        "repeat_column": aggregation.get("repeat_column"),
        "averages": tuple(
            Average(name, average["column"], average.get("decimals"))
            for name, average in aggregation.get("averages", {}).items()
        ),
        "candidate_types": aggregation.get("candidate_types", False),
    }


def _read_published(table: Mapping[str, Any]) -> list[PublishedScore]:
    """The figures of one `[[published]]` table: rows by subset and system, a column for each measure."""
    return [
        PublishedScore(system, subset, measure, table["source"], float(printed) / table["scale"], printed)
        for subset, systems in table["rows"].items()
        for system, figures in systems.items()
        for measure, printed in zip(table["measures"], figures, strict=True)
    ]
