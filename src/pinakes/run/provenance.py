"""Where a stored run is from: its files, its encoder, what it read and what of that is still as it was.

Everything is read from what is stored. The dataset digest of now alone is computed, from the texts as the
benchmark gives them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError, PinakesError
from pinakes.queries.definition import Benchmark
from pinakes.run.made_with import read_made_with
from pinakes.schema import (
    check_schema,
    corpora,
    encoders,
    evaluation_scores,
    evaluations,
    load_batches,
    paper_removals,
    papers,
    runs,
    side_indexes,
    suite_runs,
)
from pinakes.tasks.base import choose_corpus, find_task
from pinakes.workload.benchmark import open_benchmark

State = Literal["as it was", "changed", "gone", "not checked", "not recorded"]


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file that a corpus was loaded from.

    Attributes:
        last_at: when its last batch began.
        after_run: whether a batch of it was loaded after the run had begun.
    """

    corpus: str
    loader: str
    role: str
    file: str
    file_digest: str
    batches: int
    rows_loaded: int
    first_at: datetime
    last_at: datetime
    after_run: bool


@dataclass(frozen=True, slots=True)
class CorpusRead:
    """A corpus that the run read.

    Attributes:
        version: as its source says.
        is_there: whether it is loaded now.
        papers_removed: papers that were removed from it since it was loaded.
    """

    name: str
    is_there: bool
    version: str | None = None
    licence: str | None = None
    source: str | None = None
    papers_removed: int = 0
    files: Sequence[LoadedFile] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """What decided the answers: the digest or revision then and now; `why` says what is not as it was."""

    what: str
    then: str | None
    now: str | None
    state: State
    why: str = ""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation of the run: when, by which code, and the headline over all queries as it was then.

    Attributes:
        headline: None where the evaluation was by other measures.
    """

    evaluation_id: int
    evaluated_at: datetime
    code_version: str
    judgments: int
    judgments_digest: str
    headline: float | None


@dataclass(frozen=True, slots=True)
class Provenance:
    """All that is known of a run.

    Attributes:
        run: its row of `runs`, with the parameters and `made_with` as objects.
        title, citation: of the benchmark.
        encoders: the rows of `encoders` that its system names.
        suites: which suites asked for it, by which name of the system.
        headline_measure: the measure that reports lead with; empty where the benchmark is not there.
    """

    run: dict[str, Any]
    title: str
    citation: str
    licence: str
    encoders: Sequence[Mapping[str, Any]]
    corpora: Sequence[CorpusRead]
    checks: Sequence[Check]
    evaluations: Sequence[Evaluated]
    suites: Sequence[str]
    headline_measure: str


def find_stored(database: Database, run_id: int) -> dict[str, Any]:
    """The row of `runs`; `EvaluationError`, with those that there are, where there is none."""
    check_schema(database)
    with database.read() as session:
        row = session.first(sa.select(runs).where(runs.c.run_id == run_id))
        if row is not None:
            return row
        known = [str(one["run_id"]) for one in session.rows(sa.select(runs.c.run_id).order_by(runs.c.run_id))]
        query = sa.select(evaluations.c.benchmark).where(evaluations.c.run_id == run_id)
        removed = session.scalar(query.limit(1))
    listed = ", ".join(known[-20:]) or "none"
    more = f" (the last 20 of {len(known)})" if len(known) > 20 else ""
    was = " It was removed." if removed else ""
    raise EvaluationError(f"there is no run {run_id}; the runs are: {listed}{more}.{was}")


def open_as_run(database: Database, row: Mapping[str, Any]) -> Benchmark:
    """The benchmark of a run as it stands now, asked as the run asked it: mode, corpus, variants, depth.

    Raises:
        UnknownNameError, BenchmarkError, InputError: it is not there, or cannot be asked so.
    """
    benchmark = replace(open_benchmark(database, row["benchmark"]), mode=row["mode"])
    if row["corpus"] is not None:
        # several producers: those that every variant has, as where none was named
        producers = (row["variants"] or "").splitlines()
        producer = producers[0] if len(producers) == 1 else None
        benchmark = choose_corpus(database, benchmark, row["corpus"], producer)
    return replace(benchmark, depth=row["depth"])


def gather_provenance(database: Database, run_id: int, *, check: bool = True) -> Provenance:
    """Where a run is from.

    Args:
        check: whether the dataset digest of now is computed, which reads every text that the run read.

    Raises:
        EvaluationError: there is no such run.
    """
    row = find_stored(database, run_id)
    parameters = orjson.loads(row["parameters"])
    benchmark, why = _open(database, row)
    measure = "" if benchmark is None else find_task(benchmark).name_measure(benchmark.headline_measure)
    with database.read() as session:
        used = _find_encoders(session, row, parameters)
        names = _list_corpora(session, row, benchmark, parameters)
        read = [_read_corpus(session, name, row["started_at"]) for name in names]
        checks = [
            *_check_encoders(row, used),
            *_check_indexes(session, row, parameters, names),
        ]
        evaluated = _list_evaluations(session, row, measure)
        suites = _list_suites(session, run_id)
    return Provenance(
        run={**_name(row), "parameters": parameters, "made_with": read_made_with(row["made_with"])},
        title="" if benchmark is None else benchmark.title,
        citation="" if benchmark is None else benchmark.citation,
        licence="" if benchmark is None else benchmark.licence,
        encoders=used,
        corpora=read,
        checks=[_check_views(row, benchmark, why), _check_data(database, row, benchmark, check), *checks],
        evaluations=evaluated,
        suites=suites,
        headline_measure=measure,
    )


def _open(database: Database, row: Mapping[str, Any]) -> tuple[Benchmark | None, str]:
    """The benchmark as the run asked it; where that cannot be, as it stands, or none, and why."""
    try:
        return open_as_run(database, row), ""
    except PinakesError as error:
        why = str(error)
    try:
        return open_benchmark(database, row["benchmark"]), why
    except PinakesError:
        return None, why


def _check_views(row: Mapping[str, Any], benchmark: Benchmark | None, why: str) -> Check:
    then = row["view_digest"]
    if benchmark is None:
        return Check("definition", then, None, "gone", why)
    state: State = "as it was" if benchmark.digest == then else "changed"
    return Check("definition", then, benchmark.digest, state, why)


def _check_data(
    database: Database, row: Mapping[str, Any], benchmark: Benchmark | None, check: bool
) -> Check:
    what, then = "dataset", row["dataset_digest"]
    if not check:
        return Check(what, then, None, "not checked")
    if benchmark is None:
        return Check(what, then, None, "gone", "the benchmark is not there")
    try:
        now = read_questions(database, benchmark, row).digest
    except PinakesError as error:
        return Check(what, then, None, "gone", str(error))
    return Check(what, then, now, "as it was" if now == then else "changed")


def read_questions(database: Database, benchmark: Benchmark, row: Mapping[str, Any]) -> Any:
    """The questions of a run as they are now, read with its templates.

    An imported run names no templates: the benchmark's, as when it was imported.
    """
    templates = (
        row["query_template"] or benchmark.query_template,
        row["paper_template"] or benchmark.paper_template,
    )
    return find_task(benchmark).read(database, benchmark, *templates)


def _find_encoders(
    session: Session, row: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The rows of `encoders` that the run's row and parameters name, by name."""
    by_id = encoders.c.encoder_id == row["encoder_id"]
    query = sa.select(encoders).where(sa.or_(by_id, encoders.c.name.in_(list_encoder_names(parameters))))
    return sorted(map(_name, session.rows(query)), key=lambda one: str(one["name"]))


def _name(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with plain texts for names, as JSON needs them."""
    return {str(name): value for name, value in row.items()}


def list_encoder_names(parameters: Mapping[str, Any]) -> list[str]:
    """What the parameters of a run call its encoders.

    >>> list_encoder_names({"mean_of": ["a", "b"], "query_encoder": "c", "distance": "l2"})
    ['a', 'b', 'c']
    """
    found: list[str] = []
    for key, value in parameters.items():
        if key.endswith(("encoder", "mean_of")):
            found += [value] if isinstance(value, str) else [str(one) for one in value]
    return sorted(set(found))


def _check_encoders(row: Mapping[str, Any], used: Sequence[Mapping[str, Any]]) -> list[Check]:
    revision = row["encoder_revision"]
    if revision is None:
        return []
    now = ", ".join(sorted(str(one["revision"]) for one in used))
    if not used:
        return [Check("encoder", revision, None, "gone", "the database has no vectors of it")]
    same = now == ", ".join(sorted(revision.split(", ")))
    return [Check("encoder", revision, now, "as it was" if same else "changed")]


def _check_indexes(
    session: Session, row: Mapping[str, Any], parameters: Mapping[str, Any], names: Sequence[str]
) -> list[Check]:
    """The digests that the run's parameters record, of side indexes and of the runs that were fused."""
    checks = []
    for key, value in sorted(parameters.items()):
        if key == "content_digest":
            checks.append(_check_index(session, row, str(value), names))
        elif key == "runs_digest":
            checks += [_check_run(session, str(one)) for one in value]
    return checks


def _check_index(session: Session, row: Mapping[str, Any], then: str, names: Sequence[str]) -> Check:
    table = side_indexes.c
    found = session.rows(sa.select(table.kind, table.scope, table.content_digest, table.built_at))
    same = [one for one in found if one["content_digest"] == then]
    if same:
        return Check("side index", then, then, "as it was", f"{same[0]['kind']} of {same[0]['scope']}")
    kind = str(row["system"]).partition(":")[0]
    scopes = {f"corpus:{name}" for name in names}
    near = [one for one in found if one["kind"] == kind and one["scope"] in scopes]
    if near:
        return Check("side index", then, str(near[0]["content_digest"]), "changed", str(near[0]["scope"]))
    return Check("side index", then, None, "gone", "no such index is registered")


def _check_run(session: Session, then: str) -> Check:
    run_id = session.scalar(sa.select(runs.c.run_id).where(runs.c.run_digest == then))
    if run_id is None:
        return Check("fused run", then, None, "gone", "it was removed")
    return Check("fused run", then, then, "as it was", f"run {run_id}")


def _list_corpora(
    session: Session, row: Mapping[str, Any], benchmark: Benchmark | None, parameters: Mapping[str, Any]
) -> list[str]:
    """The corpora that the run read: of its answers, of its benchmark, asked for, trained on."""
    named = [
        row["corpus"] if benchmark is None or not benchmark.asked_of else None,
        benchmark.corpus if benchmark is not None else None,
        parameters.get("trained_on"),
    ]
    table = None if benchmark is None else find_task(benchmark).answers
    if table is not None and "paper_id" in table.c:
        ranked = sa.select(table.c.paper_id).where(table.c.run_id == row["run_id"])
        query = sa.select(corpora.c.name).where(
            corpora.c.corpus_id.in_(sa.select(papers.c.corpus_id).where(papers.c.paper_id.in_(ranked)))
        )
        named += sorted(str(one["name"]) for one in session.rows(query))
    return [name for name in dict.fromkeys(named) if name]


def read_corpora(database: Database, row: Mapping[str, Any]) -> list[CorpusRead]:
    """The corpora that a run read, with the files that they were loaded from."""
    benchmark, _why = _open(database, row)
    with database.read() as session:
        names = _list_corpora(session, row, benchmark, orjson.loads(row["parameters"]))
        return [_read_corpus(session, name, row["started_at"]) for name in names]


def _read_corpus(session: Session, name: str, started_at: datetime) -> CorpusRead:
    row = session.first(sa.select(corpora).where(corpora.c.name == name))
    if row is None:
        return CorpusRead(name, is_there=False)
    removed = session.scalar(
        sa.select(sa.func.coalesce(sa.func.sum(paper_removals.c.papers), 0)).where(
            paper_removals.c.corpus_id == row["corpus_id"]
        )
    )
    table = load_batches.c
    keys = (table.loader, table.role, table.file, table.file_digest)
    query = (
        sa.select(
            *keys,
            sa.func.count().label("batches"),
            sa.func.sum(table.rows_loaded).label("rows_loaded"),
            sa.func.min(table.started_at).label("first_at"),
            sa.func.max(table.started_at).label("last_at"),
            sa.func.min(table.batch_id).label("first_batch"),
        )
        .where(table.corpus_id == row["corpus_id"])
        .group_by(*keys)
    )
    found = sorted(session.rows(query), key=lambda one: int(one["first_batch"]))
    files = [
        LoadedFile(
            corpus=name,
            batches=int(one["batches"]),
            rows_loaded=int(one["rows_loaded"]),
            after_run=one["last_at"] > started_at,
            **{key: one[key] for key in ("loader", "role", "file", "file_digest", "first_at", "last_at")},
        )
        for one in found
    ]
    said = {key: row[key] for key in ("version", "licence", "source")}
    return CorpusRead(name, is_there=True, papers_removed=int(removed), files=files, **said)


def _list_evaluations(session: Session, row: Mapping[str, Any], measure: str) -> list[Evaluated]:
    """Those of the run, oldest first; a value that an evaluation did not change is that of the one before."""
    names = ("evaluation_id", "evaluated_at", "code_version", "judgments", "judgments_digest")
    values = evaluation_scores.c
    on = sa.and_(
        values.evaluation_id == evaluations.c.evaluation_id,
        values.measure == measure,
        values.subset == "all",
    )
    query = (
        sa.select(*(evaluations.c[name] for name in names), values.value)
        .select_from(evaluations.outerjoin(evaluation_scores, on))
        .where(evaluations.c.run_id == row["run_id"], evaluations.c.run_digest == row["run_digest"])
        .order_by(evaluations.c.evaluation_id)
    )
    found, last = [], None
    for one in session.rows(query):
        last = one["value"] if one["value"] is not None else last
        found.append(Evaluated(headline=last, **{name: one[name] for name in names}))
    return found


def _list_suites(session: Session, run_id: int) -> list[str]:
    query = sa.select(suite_runs.c.suite, suite_runs.c.system).where(suite_runs.c.run_id == run_id)
    return sorted(f"{row['suite']} as {row['system']}" for row in session.rows(query))
