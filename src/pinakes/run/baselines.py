"""Which of a benchmark's baselines a stored run is."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pinakes.queries.definition import Benchmark
from pinakes.queries.exhibits import Baseline
from pinakes.systems.registry import expand_name
from pinakes.workload.templates import choose_templates


def find_baseline(benchmark: Benchmark, run: Mapping[str, Any]) -> Baseline | None:
    """The baseline that a row of `runs` is; of several the one that says most of its settings.

    A run is a baseline if system, text templates, distance and options are as the baseline gives them, or,
    where it gives none, as the system and the benchmark have them. What the run does not tell (an imported
    one tells no templates) does not speak against it.
    """
    fitting = [one for one in benchmark.baselines if _fits(benchmark, one, run)]
    return max(fitting, key=_count_settings, default=None)


def is_baseline_system(benchmark: Benchmark, system: str) -> bool:
    """Whether some baseline is of that system, so that a run which is none of them is another thing."""
    return any(expand_name(baseline.system) == system for baseline in benchmark.baselines)


def _fits(benchmark: Benchmark, baseline: Baseline, run: Mapping[str, Any]) -> bool:
    if expand_name(baseline.system) != run["system"]:
        return False
    expected = choose_templates(benchmark, baseline.system, baseline.query_template, baseline.paper_template)
    found = (run["query_template"], run["paper_template"])
    parameters = orjson.loads(run["parameters"])
    settings = {**(baseline.options or {}), "distance": baseline.distance}
    return all(has in (None, wants) for has, wants in zip(found, expected, strict=True)) and all(
        wanted is None or name not in parameters or _write(parameters[name]) == wanted
        for name, wanted in settings.items()
    )


def _write(value: Any) -> str:
    """A parameter as an option writes it.

    >>> _write("l2"), _write(20), _write(True)
    ('l2', '20', 'true')
    """
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _count_settings(baseline: Baseline) -> int:
    given: Sequence[object] = (baseline.query_template, baseline.paper_template, baseline.distance)
    return sum(one is not None for one in given) + len(baseline.options or {})
