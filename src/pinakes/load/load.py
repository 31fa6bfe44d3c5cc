"""Files into tables: chunk by chunk, each one transaction, going on where a killed load stopped."""

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from typing import Any, Final

import sqlalchemy as sa

from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.errors import InputError, LoadError, OtherContentError, PinakesError
from pinakes.load.batches import (
    FilePlan,
    build_left_out,
    build_rejected,
    identify_file,
    plan_files,
    refuse_second_loader,
)
from pinakes.load.chunks import limit_chunks, mark_last
from pinakes.load.corpus import LoadRequest, choose_loader, register_corpus
from pinakes.load.corrections import correct_rows
from pinakes.load.late_indexes import build_late
from pinakes.load.resolve import resolve_in_parts
from pinakes.load.shared import Reading, States, can_share, look_at, name_staging, read_on_cluster
from pinakes.load.summary import FileSummary, Loaded, LoadSummary, Rejections, store_report, summarise_load
from pinakes.load.unread import Owner, check_archives, find_files, find_handed_in, forget_unread, keep_unread
from pinakes.loaders import staging
from pinakes.loaders.base import InputFile, Loader
from pinakes.loaders.merge import MergeContext, encode_chunk, find_known, merge_chunk
from pinakes.loaders.reading.finding import explain_other
from pinakes.loaders.reading.parallel import read_ahead, read_in_thread
from pinakes.loaders.staging import Chunk, Rejected, show_raw
from pinakes.memory import Budget, plan_load
from pinakes.progress import Progress, Silent, say_nothing
from pinakes.schema import (
    cited_references,
    left_out_items,
    load_batches,
    next_id,
    papers,
    rejected_rows,
)
from pinakes.schema.integrity import list_filled_tables

__all__ = ["FileSummary", "LoadRequest", "LoadSummary", "choose_loader", "load"]

MANY_RECORDS: Final = 1_000
"""records of a load after which Postgres' tables are tidied: few are done by the server in its own time"""
_DIGESTS_AT_ONCE: Final = 2
"""files read at a time for their digests"""


def load(
    database: Database,
    request: LoadRequest,
    *,
    progress: Progress | None = None,
    clock: Clock = utc_now,
    tell: Callable[[str], None] = say_nothing,
) -> LoadSummary:
    """Bring the files of a source into the tables and say what became of every record.

    Started again after a kill, it goes on with the first record that is not in; started again after the
    end, it changes nothing. At its end, citations and papers that came in any order are joined. `tell` takes
    lines for the user.

    Raises:
        UnknownNameError: no such loader or option.
        InputError: the source is not what the loader reads.
        LoadError: a file breaks off, or a record is not accepted and `request.on_error` says to stop; the
            chunks read before that are in. On a cluster also: its workers fail.
        PinakesError: the cluster cannot be reached.
    """
    budget = plan_load(request.memory)
    with database.limit_memory(budget.database):
        if request.dry_run:
            with database.rehearse() as rehearsal:
                summary = _load(rehearsal, request, budget, progress or Silent(), clock, tell)
                return replace(summary, is_dry=True)
        return _load(database, request, budget, progress or Silent(), clock, tell)


def _load(
    database: Database,
    request: LoadRequest,
    budget: Budget,
    progress: Progress,
    clock: Clock,
    tell: Callable[[str], None],
) -> LoadSummary:
    started = time.monotonic()
    _check(request)
    loader = choose_loader(request)
    files = find_files(loader, request.source, request.options)
    found = find_handed_in(request.source, files)
    with database.begin() as session:
        corpus_id, corpus = register_corpus(session, loader, request)
        owner = (corpus_id, loader.name, _name_source(request))
        forget_unread(session, owner, {file.name for file in files})
        keep_unread(session, owner, found.unread)
    task = _Task(database, loader, request, budget, corpus_id, owner, progress, clock, tell)
    states = {} if request.on is None else {file.name: look_at(file) for file in files}
    plans = _plan(task, files)
    # A rehearsal is one transaction: it would keep out who reads the tables.
    with nullcontext() if request.dry_run else build_late(database, budget.database):
        summaries = _load_files(task, plans, states)
        check_archives(files)
        corrections = correct_rows(database, plans, request)
        has_many = not request.dry_run and sum(one.rows_loaded for one in summaries) >= MANY_RECORDS
        if has_many:  # else Postgres takes them to be few when it joins them
            database.tidy([papers.name, cited_references.name])
        resolved = resolve_in_parts(database, corpus_id)
    if has_many:  # before all is counted: of rows that nothing has tidied Postgres reads every page again
        _tidy(database)
    identities = [plan.identity for plan in plans]
    read = found.count_read(without=task.of_other_content)
    loaded = Loaded(owner, identities, summaries, read, task.rejections)
    summary = summarise_load(database, corpus, loaded, resolved, corrections)
    with database.begin() as session:
        store_report(session, loaded, summary)
    return replace(summary, elapsed_s=time.monotonic() - started)


def _tidy(database: Database) -> None:
    """Prepare what many records have filled for who reads it, and for Postgres' query planner."""
    with database.read() as session:
        filled = list_filled_tables(session) - {papers.name}
    database.tidy(sorted(filled))


def _name_source(request: LoadRequest) -> str:
    return "" if request.source is None else show_raw(os.fsencode(request.source.resolve().name))


def _check(request: LoadRequest) -> None:
    for name, value in (("limit", request.limit), ("jobs", request.jobs)):
        if value is not None and value < 1:
            raise InputError(f"--{name} is {value}; expected a whole number from 1.")


@dataclass(frozen=True, slots=True)
class _Task:
    database: Database
    loader: Loader
    request: LoadRequest
    budget: Budget
    corpus_id: int
    owner: Owner
    progress: Progress
    clock: Clock
    tell: Callable[[str], None]
    rejections: Rejections = field(default_factory=Rejections)
    skipped: Counter[str] = field(default_factory=Counter)  # file -> records without a row
    of_other_content: set[str] = field(default_factory=set)  # files


def _plan(task: _Task, files: list[InputFile]) -> list[FilePlan]:
    identify = partial(identify_file, task.corpus_id, task.loader.name, task.request.options)
    with ThreadPoolExecutor(_DIGESTS_AT_ONCE) as pool:
        identities = list(pool.map(identify, files))
    return plan_files(task.database, files, identities)


def _open_files(task: _Task, wanted: list[FilePlan], states: States) -> Generator[Reading, None, None]:
    """The chunks of every file, one file after the other."""
    free = [plan for plan in wanted if _is_free(task, plan)]
    with _read_elsewhere(task, wanted, free, states) as files:
        for plans in _group(task, wanted):
            if files is not None and _is_free(task, plans[0]):
                yield from islice(files, len(plans))
            else:
                chunks = [_begin_file(task, plan) for plan in plans]
                with closing(read_in_thread(chunks, task.budget.ahead)) as here:
                    yield from map(Reading, here)


def _is_free(task: _Task, plan: FilePlan) -> bool:
    """Whether the file needs nothing of the corpus, and so may be read at any time."""
    return plan.file.role not in task.loader.settle


def _group(task: _Task, wanted: list[FilePlan]) -> Iterator[list[FilePlan]]:
    """The files in their order, those together of which the next may be read while one is merged."""
    for is_free, plans in groupby(wanted, key=partial(_is_free, task)):
        if is_free and task.request.limit is None:
            yield list(plans)
        else:
            yield from ([plan] for plan in plans)


def _begin_file(task: _Task, plan: FilePlan) -> Iterator[Chunk]:
    """Its chunks; a file that cannot be settled fails when they are asked for, as one that cannot be read."""
    try:
        return _read_chunks(task, _settle(task, plan), plan.first_row)
    except PinakesError as error:
        return _fail(error)


def _read_chunks(task: _Task, file: InputFile, first_row: int) -> Iterator[Chunk]:
    yield from map(encode_chunk, task.loader.read_chunks(file, task.request.options, first_row))


def _fail(error: PinakesError) -> Iterator[Chunk]:
    yield from ()
    raise error


@contextmanager
def _read_elsewhere(
    task: _Task, wanted: list[FilePlan], free: list[FilePlan], states: States
) -> Iterator[Iterator[Reading] | None]:
    """The files that others read, in their order: a cluster, or processes; None where nobody else does."""
    request = task.request
    jobs = 1 if request.limit else min(request.jobs, len(free))
    if request.on is not None and wanted and can_share(task.loader, request, free, task.tell):
        folder = name_staging(task.database, task.owner, request)
        with (
            ExitStack() as held,  # left after the workers are told to stop: the thread may wait for them
            read_on_cluster(
                request.on, folder, task.loader, request.options, free, states, task.tell
            ) as read,
        ):
            readings = list(read)
            here = read_in_thread([one.chunks for one in readings], task.budget.ahead)
            held.enter_context(closing(here))
            yield map(lambda one, chunks: replace(one, chunks=chunks), readings, here)
    elif jobs > 1:
        starts = [(plan.file, plan.first_row) for plan in free]
        with closing(read_ahead(task.loader.name, request.options, starts, jobs)) as files:
            yield map(Reading, files)
    else:
        yield None


def _settle(task: _Task, plan: FilePlan) -> InputFile:
    settle = task.loader.settle.get(plan.file.role)
    if settle is None:
        return plan.file
    with task.database.begin() as session:
        return settle(plan.file, task.request.options, partial(find_known, session, task.corpus_id))


def _load_files(task: _Task, plans: list[FilePlan], states: States) -> list[FileSummary]:
    summaries = []
    wanted = [plan for plan in plans if not _is_done(plan, task.request.limit)]
    with closing(_open_files(task, wanted, states)) as opened:  # an error in hand would keep it open
        for plan in plans:
            try:
                summaries.append(_load_file(task, plan, opened))
            except OtherContentError as error:
                _set_aside(task, plan, plans, error)
        next(opened, None)  # to its end: closed before it, it keeps what a cluster has staged
    return summaries


def _set_aside(task: _Task, plan: FilePlan, plans: list[FilePlan], error: OtherContentError) -> None:
    """Name the file as not read; the error stands where the load has no other file of its role."""
    task.of_other_content.add(plan.file.name)
    same = {other.file.name for other in plans if other.file.role == plan.file.role}
    if same <= task.of_other_content:
        raise error
    with task.database.begin() as session:
        keep_unread(session, task.owner, [explain_other(plan.file, error)])


def _is_done(plan: FilePlan, limit: int | None) -> bool:
    return plan.is_complete or (limit is not None and plan.first_row > limit)


def _load_file(task: _Task, plan: FilePlan, opened: Iterator[Reading]) -> FileSummary:
    summary = FileSummary(plan.file.name, plan.file.role, plan.is_complete).after(plan.known)
    if _is_done(plan, task.request.limit):
        return summary
    reading = next(opened)
    task.progress.start(f"load {plan.file.name}", None)
    marked = mark_last(limit_chunks(reading.chunks, task.request.limit), plan.first_row)
    first_row: int | None = plan.first_row
    try:
        while first_row is not None:
            batches, broken = _load_some(task, plan, marked, first_row)
            for batch in batches:
                summary = summary.plus(batch)
            if batches:
                reading.stored(batches[-1]["last_row"])
            if broken is not None:
                raise broken
            first_row = batches[-1]["last_row"] + 1 if batches and not batches[-1]["is_last"] else None
    finally:
        task.progress.finish()
    return replace(summary, rows_skipped=task.skipped[plan.file.name])


def _load_some(
    task: _Task, plan: FilePlan, marked: Iterator[tuple[Chunk, bool]], first_row: int
) -> tuple[list[dict[str, Any]], LoadError | None]:
    """Load chunks in one transaction until it is large; their batches, and the error that broke the file off.

    Small transactions cost DuckDB a second writing of every row, in its log.
    """
    batches: list[dict[str, Any]] = []
    rows = size = 0
    with task.database.begin() as session:
        while rows < staging.TRANSACTION_ROWS and size < staging.TRANSACTION_BYTES:
            try:
                item = next(marked, None)
            except LoadError as error:
                return batches, error
            if item is None:
                break
            chunk, is_last = item
            batches.append(_load_chunk(session, task, plan, chunk, first_row, is_last=is_last))
            first_row = chunk.last_row + 1
            rows, size = rows + chunk.rows_in, size + chunk.nbytes
            task.progress.advance(chunk.rows_in)
    return batches, None


def _load_chunk(
    session: Session, task: _Task, plan: FilePlan, chunk: Chunk, first_row: int, *, is_last: bool
) -> dict[str, Any]:
    started_at, started = task.clock(), time.monotonic()
    loader = task.loader
    refuse_second_loader(session, plan, first_row)
    batch_id = next_id(session, load_batches.c.batch_id)
    creates_unknown = loader.creates_unknown(task.request.options)
    describes = loader.describes(plan.file.role)
    context = MergeContext(
        task.corpus_id,
        batch_id,
        plan.identity,
        creates_unknown,
        describes,
        loader.gaps_say_nothing,
        loader.may_lack_text,
        plan.file.name,
        plan.older,
    )
    counts = merge_chunk(session, chunk, context)
    _stop_at_rejected(task, plan, counts.rejected)
    batch = {
        **plan.identity,
        "batch_id": batch_id,
        "file": plan.file.name,
        "first_row": first_row,
        "last_row": chunk.last_row,
        "first_byte": chunk.first_byte,
        "end_byte": chunk.end_byte,
        "is_last": is_last,
        "rows_in": chunk.rows_in,
        "rows_loaded": counts.loaded,
        "rows_updated": counts.updated,
        "rows_unchanged": counts.unchanged,
        "rows_rejected": len(counts.rejected),
        "citations": counts.citations,
        "started_at": started_at,
        "elapsed_s": time.monotonic() - started,
    }
    session.execute(sa.insert(load_batches).values(**batch))
    session.insert(rejected_rows, build_rejected(batch_id, counts.rejected))
    session.insert(left_out_items, build_left_out(batch_id, counts.left_out))
    keep_unread(session, task.owner, chunk.unread, batch_id)
    task.rejections.add(plan.file.name, counts.rejected)
    task.skipped[plan.file.name] += chunk.skipped
    return batch


def _stop_at_rejected(task: _Task, plan: FilePlan, rejected: list[Rejected]) -> None:
    if rejected and task.request.on_error == "stop":
        first = rejected[0]
        raise LoadError(
            f"{plan.file.name}, {first.location}: {first.reason}: {first.message}. The load stops before the "
            "batch that holds this record; mend the file, or load with --on-error reject to set it aside."
        )
