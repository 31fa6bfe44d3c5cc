"""A stored run made again and held against what is stored, or what of it is no longer there.

Nothing is stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from pinakes.database import Database
from pinakes.errors import EvaluationError, PinakesError
from pinakes.indexers.encoder.presets import explain_absent_weights
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import Benchmark
from pinakes.run.compare_answers import TOLERANCES, Compared, compare_answers
from pinakes.run.made_with import list_loaded, read_made_with
from pinakes.run.provenance import find_stored, open_as_run, read_corpora, read_questions
from pinakes.run.run import describe_run, take_answers
from pinakes.systems.base import SystemOptions, choose_options, note_stored
from pinakes.systems.registry import find_system, require_one
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import find_index_folder

_DECIDING: Final = {
    "system": "system",
    "encoder_revision": "encoder revision",
    "precision": "precision",
    "query_template": "query template",
    "paper_template": "paper template",
    "dataset_digest": "queries, candidates and texts",
    "view_digest": "benchmark definition",
    "code_version": "Pinakes",
}
"""columns of `runs` that decide answers, in words"""
_HARMLESS: Final = frozenset(("view_digest", "code_version", "library"))
"""what may be another without the answers being of another question: it is told, and the run is made again"""


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """Which run is made again.

    Attributes:
        system: what to run in place of the name as it was typed: a model's folder that is elsewhere now.
        device: cpu, cuda; None: CUDA where there is one.
        parameters: the system's own options, of a run that was made before they were recorded.
    """

    run_id: int
    system: str | None = None
    device: str | None = None
    parameters: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What is another than when the run was made; None: it is not there, or there was none."""

    what: str
    then: str | None
    now: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rerun:
    """What became of it.

    Attributes:
        outcome: `equal`, to the last bit; `within tolerance`; `different`; `not possible`.
        missing: what the same answers would need and is not there, or is another; then nothing was run.
        changes: what else is another.
        tables: what was compared, a table a row.
    """

    run_id: int
    benchmark: str
    system: str
    outcome: str
    missing: Sequence[Change] = ()
    changes: Sequence[Change] = ()
    tables: Sequence[Compared] = field(default_factory=tuple)
    tolerance: float = 0.0


def rerun(database: Database, request: RerunRequest, *, progress: Progress | None = None) -> Rerun:
    """Have the system answer again, and compare with the stored answers.

    Raises:
        EvaluationError: there is no such run, or it was imported: others made it.
    """
    row = find_stored(database, request.run_id)
    if row["imported_from"] is not None:
        raise EvaluationError(
            f"run {row['run_id']} was imported from {row['imported_from']} (sha256 {row['import_digest']}): "
            "others made it, and it cannot be made again here. `pinakes import-run` finds it by the file."
        )
    named = (row["run_id"], row["benchmark"], row["system"])
    try:
        prepared = _prepare(database, row, request)
    except PinakesError as error:
        missing = [*_explain_corpora(database, row), Change(_name_failure(error), None, None, str(error))]
        return Rerun(*named, "not possible", missing)
    benchmark, system, questions, found = prepared
    changes = list(_list_changes(row, found))
    missing = [change for key, change in changes if key not in _HARMLESS]
    others = [change for key, change in changes if key in _HARMLESS]
    if row["made_with"] is None and any(one.what.startswith("parameter ") for one in missing):
        missing.append(Change("options", None, None, "they were not recorded then: give them with --option"))
    if missing:
        return Rerun(*named, "not possible", [*missing, *_explain_corpora(database, row)], others)
    task = find_task(benchmark)
    tolerance = TOLERANCES[row["precision"]]
    try:
        with ExitStack() as stack:
            files = take_answers(stack, task, task.answer(database, system, questions, progress or Silent()))
            compared = [
                compare_answers(database, table, row["run_id"], file.read(), tolerance)
                for table, file in files.items()
            ]
    except PinakesError as error:
        return Rerun(*named, "not possible", [Change(_name_failure(error), None, None, str(error))], others)
    return Rerun(*named, _judge(compared), (), [*others, *_list_library_changes(row)], compared, tolerance)


def _judge(compared: Sequence[Compared]) -> str:
    if all(one.rows_different == 0 for one in compared):
        is_equal = all(one.largest_difference == 0 and one.rows_at_cut == 0 for one in compared)
        return "equal" if is_equal else "within tolerance"
    return "different"


def _prepare(
    database: Database, row: Mapping[str, Any], request: RerunRequest
) -> tuple[Benchmark, Any, Any, dict[str, Any]]:
    """The benchmark, the system, what it is asked, and the columns of `runs` that it would have now."""
    benchmark = open_as_run(database, row)
    asked = read_made_with(row["made_with"]).get("asked", {})
    parameters = orjson.loads(row["parameters"])
    name = request.system or asked.get("system", row["system"])
    absent = explain_absent_weights(name)
    if absent:
        raise PinakesError(absent)
    distance = asked.get("distance") if asked else parameters.get("distance")
    options = SystemOptions(
        find_index_folder(database),
        row["precision"] or "auto",
        distance,
        request.device,
        request.parameters or asked.get("options", {}),
        format=asked.get("format"),
    )
    system = find_system(name, note_stored(database, choose_options(benchmark, options)))
    require_one(system, find_task(benchmark).needs)
    questions = read_questions(database, benchmark, row)
    described = describe_run(questions, system.name, system.describe(database, questions))
    return benchmark, system, questions, described


def _name_failure(error: PinakesError) -> str:
    return {"RunError": "index", "IndexingError": "encoder", "BenchmarkError": "benchmark"}.get(
        type(error).__name__, "system"
    )


def _list_changes(row: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Change]]:
    """What decides the answers and is another: its column, or the parameter's name."""
    for name, words in _DECIDING.items():
        if row[name] != now[name]:
            yield name, Change(words, row[name], now[name])
    before, after = orjson.loads(row["parameters"]), orjson.loads(now["parameters"])
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            then, new = _write(before.get(name)), _write(after.get(name))
            known = {"content_digest": "side index", "runs_digest": "runs that are fused"}
            yield name, Change(known.get(name, f"parameter {name}"), then, new)


def _write(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _explain_corpora(database: Database, row: Mapping[str, Any]) -> list[Change]:
    """What happened to the corpora that the run read, since it was made."""
    found = []
    for corpus in read_corpora(database, row):
        if not corpus.is_there:
            found.append(Change(f"corpus {corpus.name}", "loaded", None, "it is not in the database"))
            continue
        since = [file for file in corpus.files if file.after_run]
        if since:
            names = ", ".join(dict.fromkeys(file.file for file in since[:3]))
            more = f" and {len(since) - 3} more" if len(since) > 3 else ""
            why = f"loaded since the run: {names}{more}"
            found.append(Change(f"corpus {corpus.name}", None, corpus.version, why))
        if corpus.papers_removed:
            why = f"{corpus.papers_removed} papers were removed from it at some time"
            found.append(Change(f"corpus {corpus.name}", None, corpus.version, why))
    return found


def _list_library_changes(row: Mapping[str, Any]) -> list[Change]:
    """Libraries whose version is another than the one that made the run, of those that are loaded now."""
    before = read_made_with(row["made_with"]).get("libraries", {})
    now = list_loaded()
    return [
        Change(name, before[name], now[name])
        for name in sorted({*before} & {*now})
        if before[name] != now[name]
    ]
