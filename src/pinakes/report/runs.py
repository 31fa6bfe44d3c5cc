"""Which runs a report is about, and what they are called in it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.queries.definition import MODES, Benchmark
from pinakes.queries.exhibits import Baseline
from pinakes.report.data import RunRow
from pinakes.report.tables.runs import list_parameters, write_parameter
from pinakes.run.stored_runs import find_runs, select_newest
from pinakes.schema import encoders
from pinakes.systems.registry import expand_name
from pinakes.workload.templates import choose_templates

_SETTINGS: Final = (
    "corpus",
    "precision",
    "paper_template",
    "query_template",
    "depth",
    "encoder_revision",
    "variants",
)
"""what distinguishes runs of one system, in the order in which a label names it"""


def choose_runs(
    database: Database,
    benchmark: Benchmark,
    run_ids: Sequence[int],
    *,
    all_runs: bool,
    mode: str | None = None,
) -> tuple[list[RunRow], int]:
    """The runs of a report, all of one mode, oldest first, and how many older ones are left out.

    Raises:
        EvaluationError: there is none, or not one of those that were named, or these are of two modes.
    """
    found = choose_mode(benchmark, find_runs(database, benchmark.name, run_ids), mode, bool(run_ids))
    chosen = found if run_ids or all_runs else select_newest(found)
    return describe_runs(database, benchmark, chosen), len(found) - len(chosen)


def describe_runs(
    database: Database, benchmark: Benchmark, chosen: Sequence[Mapping[str, Any]]
) -> list[RunRow]:
    """Rows of `runs` as a report shows them, each with a label that no other one has."""
    baselines = {row["run_id"]: find_baseline(benchmark, row) for row in chosen}
    labels = _label_runs(chosen, baselines)
    with database.read() as session:
        rows = session.rows(sa.select(encoders.c.encoder_id, encoders.c.name))
    names = {row["encoder_id"]: row["name"] for row in rows}
    ours = {"label", "encoder", "is_current", "published_as"}
    columns = [field.name for field in fields(RunRow) if field.name not in ours]
    return [
        RunRow(
            label=labels[row["run_id"]],
            encoder=names.get(row["encoder_id"]),
            is_current=row["view_digest"] == benchmark.digest,
            published_as=_name_published(benchmark, row["system"], baselines[row["run_id"]]),
            **{name: row[name] for name in columns},
        )
        for row in chosen
    ]


def choose_mode(
    benchmark: Benchmark, found: list[dict[str, Any]], mode: str | None, are_named: bool
) -> list[dict[str, Any]]:
    """The runs of a mode: of the one that is asked for, or that all have, else of the first of `MODES`."""
    modes = [one for one in MODES if any(row["mode"] == one for row in found)]
    if mode is not None and mode not in MODES:
        raise UnknownNameError("mode", mode, list(MODES))
    if mode is None and are_named and len(modes) > 1:
        raise EvaluationError(
            f"these runs of {benchmark.name} are of the modes {' and '.join(modes)}, which are never in one "
            "table; name runs of one mode."
        )
    chosen = [row for row in found if row["mode"] == (mode or modes[0])]
    if not chosen:
        raise EvaluationError(f"{benchmark.name} has no run of the mode {mode}.")
    return chosen


def _name_published(benchmark: Benchmark, system: str, baseline: Baseline | None) -> str | None:
    """The published system that a run is; "" where it is none for sure, None where nothing says."""
    if baseline is not None:
        return baseline.published
    return "" if is_baseline_system(benchmark, system) else None


def _label_runs(
    rows: Sequence[Mapping[str, Any]], baselines: Mapping[int, Baseline | None]
) -> dict[int, str]:
    """Run id -> the baseline's label, or the system with what distinguishes it from its namesakes.

    Where several would be called alike, the parameters in which they differ stand behind, at last the run's
    number.
    """
    labels = {}
    for row in rows:
        baseline = baselines[row["run_id"]]
        if baseline is not None and baseline.label:
            labels[row["run_id"]] = baseline.label
            continue
        namesakes = [other for other in rows if other["system"] == row["system"]]
        distinct = [name for name in _SETTINGS if len({other[name] for other in namesakes}) > 1]
        labels[row["run_id"]] = ", ".join([row["system"], *(_say(name, row[name]) for name in distinct)])
    labels = _add_parameters(labels, rows)
    given = list(labels.values())
    return {run: label if given.count(label) == 1 else f"{label}, run {run}" for run, label in labels.items()}


def _add_parameters(labels: Mapping[int, str], rows: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The labels; those of several runs with the parameters, digests apart, that are not the same in all."""
    parameters = {
        row["run_id"]: {
            name: value for name, value in list_parameters(row["parameters"]) if not name.endswith("digest")
        }
        for row in rows
    }
    longer = {}
    for run, label in labels.items():
        alike = [parameters[other] for other, name in labels.items() if name == label]
        names = sorted({name for found in alike for name in found})
        distinct = [name for name in names if len({found.get(name) for found in alike}) > 1]
        own = parameters[run]
        longer[run] = ", ".join([label, *(f"{name} {own[name]}" for name in distinct if name in own)])
    return longer


def _say(name: str, value: object) -> str:
    """A setting in a label.

    >>> _say("precision", "bf16"), _say("depth", None), _say("query_template", None)
    ('bf16', 'whole pool', 'no query template')
    """
    if name == "depth":
        return "whole pool" if value is None else f"depth {value}"
    if value is None:
        return f"no {name.replace('_', ' ')}"
    if name == "variants":
        return ", ".join(str(value).splitlines())
    return str(value)[:12] if name == "encoder_revision" else str(value)


def find_baseline(benchmark: Benchmark, run: Mapping[str, Any]) -> Baseline | None:
    """The baseline that a row of `runs` is; of several the one that says most of its settings.

    A run is a baseline if system, text templates, distance and options are as the baseline gives them, or,
    where it gives none, as the system and the benchmark have them. What the run does not say (an imported
    one names no templates) does not speak against it.
    """
    fitting = [one for one in benchmark.baselines if _fits(benchmark, one, run)]

    def count_settings(one: Baseline) -> int:
        given: Sequence[object] = (one.query_template, one.paper_template, one.distance)
        return sum(setting is not None for setting in given) + len(one.options or {})

    return max(fitting, key=count_settings, default=None)


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
        wanted is None or name not in parameters or write_parameter(parameters[name]) == wanted
        for name, wanted in settings.items()
    )
