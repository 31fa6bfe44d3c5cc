"""A benchmark's questions answered by a system, stored under the digest of all that decided the answers."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.clock import Clock, utc_now
from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import MODES
from pinakes.run.made_with import describe_made_with, describe_request
from pinakes.run.stored_runs import RunSummary, find_run, store_run, summarise
from pinakes.schema import hits
from pinakes.systems.base import SystemDescription, SystemOptions, choose_options, note_stored, tell_alone
from pinakes.systems.registry import find_system, require_one
from pinakes.tasks.base import (
    Answers,
    Questions,
    Task,
    check_distance,
    check_judged,
    choose_corpus,
    find_task,
)
from pinakes.version import VERSION
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.templates import choose_templates
from pinakes.writing.table_file import TableFile, open_table_file


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Which benchmark is asked of which system; `depth`: how many papers to keep for each query.

    `mode` is one of `queries.definition.MODES`. `corpus` is what is asked, of a benchmark that reads any, and
    `producer` whose variants of its papers ask; None: there is one alone.
    """

    benchmark: str
    system: str
    options: SystemOptions | None = None
    depth: int | None = None
    query_template: str | None = None
    paper_template: str | None = None
    again: bool = False
    mode: str = MODES[0]
    corpus: str | None = None
    producer: str | None = None


def run(
    database: Database, request: RunRequest, *, progress: Progress | None = None, clock: Clock = utc_now
) -> RunSummary:
    """Have the system answer the benchmark's questions and store the answers; or give the existing run.

    Raises:
        UnknownNameError: no such benchmark, system or template.
        BenchmarkError: the benchmark's corpus is not loaded.
        InputError: the system cannot do what the task needs, a depth is asked of what ranks nothing, or a
            corpus is named, or not, where it must not.
        RunError: an index is missing or stale; the message has the command that makes it.
        EvaluationError: queries without a judgment are errors of the benchmark.
    """
    if request.mode not in MODES:
        raise UnknownNameError("mode", request.mode, list(MODES))
    benchmark = replace(open_benchmark(database, request.benchmark), mode=request.mode)
    benchmark = choose_corpus(database, benchmark, request.corpus, request.producer)
    if request.depth is not None:
        benchmark = replace(benchmark, depth=request.depth)
    task = find_task(benchmark)
    options = choose_options(benchmark, request.options or SystemOptions(find_index_folder(database)))
    check_distance(benchmark, options.distance)
    system = find_system(request.system, note_stored(database, options))
    require_one(system, task.needs, f", which the task {task.name} needs")
    if request.depth is not None and task.answers is not hits:
        raise InputError(f"a depth is of rankings; {benchmark.name} has the task {task.name}.")
    templates = choose_templates(
        benchmark, request.system, request.query_template, request.paper_template, options.format
    )
    check_judged(database, benchmark)
    questions: Any = task.read(database, benchmark, *templates)  # of the form that the task's systems take
    row = describe_run(questions, system.name, system.describe(database, questions))
    existing = find_run(database, row["run_digest"])
    if existing is not None and not request.again:
        return summarise(existing, existing=True)
    tell_alone(system, options)
    answers = task.answer(database, system, questions, progress or Silent())
    asked = describe_request(request.system, request.options)
    return _store(database, task, row, answers, asked, clock)


def describe_run(questions: Questions, system: str, description: SystemDescription) -> dict[str, Any]:
    """The columns of `runs` that say what was run, with the digest of those that decide the answers."""
    row = {
        "benchmark": questions.benchmark.name,
        "system": system,
        "parameters": orjson.dumps(description.parameters, option=orjson.OPT_SORT_KEYS).decode(),
        "encoder_revision": description.encoder_revision,
        "precision": description.precision,
        "query_template": questions.query_template,
        "paper_template": questions.paper_template,
        "code_version": VERSION,
        "dataset_digest": questions.digest,
        "view_digest": questions.benchmark.digest,
        "depth": questions.benchmark.depth,
    }
    mode = questions.benchmark.mode
    decided = row if mode == MODES[0] else {**row, "mode": mode}
    digest = hashlib.sha256(orjson.dumps(decided, option=orjson.OPT_SORT_KEYS)).hexdigest()
    # Neither the device nor our id of the encoder decides an answer: the search is exact, the order total.
    counts = {
        "queries_expected": questions.queries_expected,
        "candidates_expected": questions.candidates_expected,
        "candidates_without_text": questions.candidates_without_text,
    }
    unlisted = {"device": description.device, "encoder_id": description.encoder_id, "run_digest": digest}
    producers = "\n".join(questions.benchmark.producers) or None
    asked = {"corpus": questions.benchmark.asked_of, "variants": producers}
    return {**row, "mode": mode, **asked, **unlisted, **counts}


def _store(
    database: Database,
    task: Task,
    row: dict[str, Any],
    answers: Answers,
    asked: dict[str, Any],
    clock: Clock,
) -> RunSummary:
    """Take the answers, which a system gives as they are asked for, and store them as a run."""
    started_at, started = clock(), time.monotonic()
    # No transaction stays open while a system works, and millions of answers need no memory.
    with ExitStack() as stack:
        files = take_answers(stack, task, answers)
        taken = {"started_at": started_at, "elapsed_s": time.monotonic() - started}
        with database.begin() as session:
            made = {"made_with": describe_made_with(session, asked)}
            row = {**row, **taken, **made, "queries_answered": len(files[task.answers].query_ids)}
            stored = store_run(session, row, {table: file.read() for table, file in files.items()})
    return summarise(stored, existing=False)


def take_answers(stack: ExitStack, task: Task, answers: Answers) -> dict[sa.Table, "AnswerFile"]:
    """The answers, and what is known beside them, table by table in files that the stack closes."""
    files = {}
    for table in (task.answers, *task.facts):
        files[table] = AnswerFile(stack.enter_context(open_table_file()))
    for table, rows in answers:
        files[table].write(rows)
    return files


class AnswerFile:
    """Answers in an open binary file, in tables of one schema.

    Attributes:
        query_ids: the queries that it has answers of; a row whose rank is null is none.
    """

    def __init__(self, file: "IO[bytes] | SpooledTemporaryFile[bytes]") -> None:
        self.query_ids: set[str] = set()
        self._tables = TableFile(file)

    def write(self, rows: pa.Table) -> None:
        """Add rows of the one schema."""
        self._tables.write(rows)
        if "query_id" in rows.column_names:
            answered = rows.filter(pc.is_valid(rows["rank"])) if "rank" in rows.column_names else rows
            self.query_ids.update(pc.unique(answered["query_id"]).to_pylist())

    def read(self) -> Iterator[pa.Table]:
        """The tables that were written, with plain columns in place of dictionaries."""
        for rows in self._tables.read():
            yield rows.cast(pa.schema([(field.name, _plain(field.type)) for field in rows.schema]))


def _plain(given: pa.DataType) -> pa.DataType:
    return given.value_type if pa.types.is_dictionary(given) else given
