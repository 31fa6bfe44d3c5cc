"""Which of our runs, and which system, a published figure is of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from pinakes.indexers.encoder.presets import list_presets
from pinakes.queries.definition import Benchmark
from pinakes.report.runs import find_baseline
from pinakes.report.self_retrieval.names import split_published
from pinakes.report.summaries.names import find_variation, is_as_published
from pinakes.report.tables.published import simplify
from pinakes.report.tables.runs import read_parameters
from pinakes.systems.names import list_systems

_ASKED: Final = ("self_retrieval", "sentence_extraction")
"""tasks whose published subsets begin with a corpus that a run asked"""


@dataclass(frozen=True, slots=True)
class Target:
    """How a published system is run here.

    Attributes:
        command: what runs it.
        system: as `--system` takes it.
    """

    command: str
    system: str


def split_subset(benchmark: Benchmark, subset: str) -> tuple[str, str]:
    """The corpus that a published figure is of, where the task asks several, and the subset of scores."""
    return split_published(subset) if benchmark.task in _ASKED else ("", subset)


def find_target(benchmark: Benchmark, system: str, ours: Mapping[str, Sequence[str]]) -> Target | None:
    """How a published system is run here; None where no system here is known to be it.

    Args:
        ours: published system -> what runs of it are called, as the benchmark's suite says.
    """
    for baseline in benchmark.baselines:
        if baseline.published == system:
            only = baseline.name if " " not in baseline.name else f"'{baseline.name}'"
            return Target(f"pinakes reproduce {benchmark.name} --only {only}", baseline.system)
    if benchmark.task == "sentence_extraction":
        found = (one for one in list_extractors() if _name_extractor(*one) == system)
        extractor = next(found, None)
        return None if extractor is None else _run_extractor(benchmark, *extractor)
    name, code = _split_code(system)
    known = find_own_name(name, ours)
    if known is None:
        return None
    options = f" --format {code}" if code else ""
    return Target(f"pinakes run {benchmark.name} --system {known}{options}", known)


def list_extractors() -> Iterator[tuple[str, dict[str, str]]]:
    """Our systems that extract sentences as published ones do, with what they are told."""
    yield "sentence_bm25", {}
    for analysis in ("words", "chars"):
        yield "sentence_tfidf", {"analysis": analysis}
        for kind in ("mlp", "lstm", "transformer"):
            yield f"sentence_{kind}:tfidf", {"analysis": analysis}
    for encoder in ("minilm", "specter"):
        for kind in ("similarity", "logistic", "mlp", "lstm", "transformer"):
            yield f"sentence_{kind}:{encoder}", {}
        yield f"sentence_similarity:{encoder}", {"distance": "l2"}


def _name_extractor(system: str, told: Mapping[str, str]) -> str | None:
    variation = find_variation(system, orjson.dumps(told).decode())
    return None if variation is None else variation.published


def _run_extractor(benchmark: Benchmark, system: str, told: Mapping[str, str]) -> Target:
    words = [
        f"--distance {value}" if name == "distance" else f"--option {name}={value}"
        for name, value in told.items()
    ]
    return Target(" ".join([f"pinakes run {benchmark.name} --system {system}", *words]), system)


def find_own_name(system: str, ours: Mapping[str, Sequence[str]]) -> str | None:
    """Our system that is the published one: as the suite says, or of the same name or model."""
    if system in ours:
        return ours[system][0]
    wanted = simplify(system)
    for name in list_systems():
        if ":" not in name and simplify(name) == wanted:
            return name
    for name, preset in list_presets().items():
        if simplify(preset.hub_id.rpartition("/")[2]) == wanted:
            return name
    return None


def _split_code(system: str) -> tuple[str, str]:
    """A published system and the code that it was forced to.

    >>> _split_code("SciNCL + MTL CTRL, [CLF]"), _split_code("SciNCL")
    (('SciNCL + MTL CTRL', 'CLF'), ('SciNCL', ''))
    """
    name, mark, code = system.partition(", [")
    return (name, code.removesuffix("]")) if mark else (system, "")


def names_run(
    benchmark: Benchmark,
    system: str,
    corpus: str,
    run: Mapping[str, Any],
    ours: Mapping[str, Sequence[str]],
) -> bool:
    """Whether a row of `runs` is of the published system and corpus."""
    if benchmark.task in _ASKED and simplify(run["corpus"] or "") != simplify(corpus):
        return False
    if benchmark.task == "sentence_extraction":
        variation = find_variation(run["system"], run["parameters"])
        is_it = variation is not None and variation.published == system
        return is_it and is_as_published(variation, read_parameters(run["parameters"]))
    baseline = find_baseline(benchmark, run)
    if baseline is not None:
        return baseline.published == system
    if any(one.published == system for one in benchmark.baselines):
        # a baseline of that row says how it is run; an imported ranking says so by its name alone
        return run["imported_from"] is not None and simplify(run["system"]) == simplify(system)
    name, code = _split_code(system)
    suffix = f"[{code}]" if code else ""
    known = find_own_name(name, ours)
    called = {name, *ours.get(name, ()), *([known] if known else [])}
    return simplify(run["system"]) in {simplify(f"{one}{suffix}") for one in called}
