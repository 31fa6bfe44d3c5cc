"""Which systems are of one method: trained encoders that differ in their seed alone, and averages of them."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError
from pinakes.evaluators.significance import compare_all
from pinakes.indexers.encoder.presets import find_preset
from pinakes.indexers.encoder.trained import TrainingRecord, read_record
from pinakes.queries.definition import FORMATS, Benchmark
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.readers import list_parts

IN_TRAIN: Final = "in-train"
OUT_OF_TRAIN: Final = "out-of-train"


@dataclass(frozen=True, slots=True)
class Method:
    """Systems that differ in the seed of their training alone; a single one that was not trained here.

    Attributes:
        name: the method of the training, with what tells it from others of that method.
        systems: as the request names them, by seed.
        seeds: of their trainings, ascending; of an average of encoders those of its members, joined by +
            where they differ; empty: it was not trained here.
    """

    name: str
    systems: tuple[str, ...]
    seeds: tuple[str, ...]


def read_trainings(system: str) -> list[TrainingRecord]:
    """What the folders of a system's encoders say; none where one of them was not trained here."""
    members = list_parts(system)
    folders = [preset.folder for preset in map(find_preset, members) if preset is not None]
    records = [read_record(folder) for folder in folders if folder is not None]
    return records if len(records) == len(members) else []


def open_formatted(database: Database, names: Sequence[str], in_train: Sequence[str] = ()) -> list[Benchmark]:
    """The benchmarks of these names, each with a format.

    Raises:
        InputError: an in-train benchmark is none of them.
        BenchmarkError: one has no format.
    """
    if unknown := [name for name in in_train if name not in names]:
        raise InputError(f"{unknown[0]} is in-train, but none of the benchmarks; expected one of them.")
    benchmarks = [open_benchmark(database, name) for name in names]
    for benchmark in benchmarks:
        if benchmark.format is None:
            raise BenchmarkError(
                f"{benchmark.name} has no format; expected `format` in its benchmark.toml, one of "
                f"{', '.join(FORMATS)}."
            )
    return benchmarks


def group_systems(trained: Mapping[str, Sequence[TrainingRecord]]) -> list[Method]:
    """Systems by what their trainings have in common, in the order in which they come.

    Raises `InputError` where two are of the same training and seed.
    """
    groups: dict[tuple[Any, ...], dict[str, str]] = {}
    for system, records in trained.items():
        key = tuple(_describe_shared(one) for one in records) or (system,)
        seed = "+".join(dict.fromkeys(str(one.seed) for one in records))
        of_group = groups.setdefault(key, {})
        if seed in of_group:
            raise InputError(
                f"{system} and {of_group[seed]} are of the same training with the same seed {seed}; expected "
                "one of them."
            )
        of_group[seed] = system
    first = [next(iter(systems.values())) for systems in groups.values()]
    names = _name_methods([trained[system] for system in first], first)
    found = []
    for name, systems in zip(names, groups.values(), strict=True):
        ordered = sorted(systems, key=lambda seed: [int(part) for part in seed.split("+") if part])
        found.append(Method(name, tuple(systems[seed] for seed in ordered), tuple(ordered)))
    return found


def average_seeds(values: Mapping[str, Sequence[float]]) -> tuple[float, float | None, float | None]:
    """The mean over seeds of each one's mean, and its t interval at 95 %; none of a single seed."""
    means = [math.fsum(listed) / len(listed) for listed in values.values()]
    low, high = None, None
    if len(means) > 1:
        [found] = compare_all([np.array(means)], seed=0)
        low, high = found.interval
    return math.fsum(means) / len(means), low, high


def _describe_shared(record: TrainingRecord) -> str:
    shared = {name: value for name, value in record.settings.items() if name != "seed"}
    return json.dumps([record.base, sorted(record.tasks), bool(record.groups), shared], sort_keys=True)


def _name_methods(groups: Sequence[Sequence[TrainingRecord]], systems: Sequence[str]) -> list[str]:
    """The methods of each group, with the settings, tasks or base by which it differs from its like."""
    plain = [
        " + ".join(one.method for one in records) or system
        for records, system in zip(groups, systems, strict=True)
    ]
    names = []
    for records, name in zip(groups, plain, strict=True):
        like = [others for others, other in zip(groups, plain, strict=True) if other == name]
        said = [_tell_apart(one, [others[place] for others in like]) for place, one in enumerate(records)]
        names.append(name + "".join(f" ({one})" for one in said if one))
    total, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} #{seen[name]}" if total[name] > 1 else name)
    return numbered


def _tell_apart(record: TrainingRecord, like: Sequence[TrainingRecord]) -> str:
    """In words, what of a training is not the same in all of its like."""
    said = [
        f"{name} {value}"
        for name, value in sorted(record.settings.items())
        if name != "seed" and any(other.settings.get(name) != value for other in like)
    ]
    if any(bool(other.groups) != bool(record.groups) for other in like):
        said.append("random groups" if record.groups else "groups by format")
    if any(set(other.tasks) != set(record.tasks) for other in like):
        said.append(f"{len(record.tasks)} tasks")
    if any(other.base != record.base for other in like):
        said.append(f"from {record.base_folder}")
    return ", ".join(said)
