"""One example to be read side by side: the sentences that are relevant, and those each run ranks first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.queries.definition import Benchmark
from pinakes.report.asked_runs import AskedRun
from pinakes.report.summaries.data import Asked, Gap, ShownExample, ShownSentence
from pinakes.schema import cited_references, papers, scores, sections, sentence_scores
from pinakes.workload.summaries import AskedMode, relate

TOP: Final = 5
"""of each run's ranking that is marked"""
WHOLE: Final = 40
"""as many sentences of a document are shown whole"""
AROUND: Final = 1
"""neighbours of a marked sentence that are shown with it, on each side"""

Values = Mapping[str, Mapping[int, float]]


def read_example(
    database: Database,
    benchmark: Benchmark,
    mode: AskedMode,
    asked: Asked,
    runs: Sequence[AskedRun],
) -> ShownExample | None:
    """The test example of median average precision by the best run, of those that every run answered.

    Where some have both citing and added sentences, it is one of these. None where nothing was answered.

    Args:
        runs: those that asked the corpus with the producer's examples, best first.
    """
    with database.read() as session:
        values = _read_values(session, [run.run_id for run in runs])
        known = _count_labels(session, benchmark, mode, asked)
        query_id = choose_query(values, known, [run.run_id for run in runs])
        if query_id is None:
            return None
        return _read_example(session, benchmark, mode, asked, runs, query_id, values[query_id])


def _read_values(session: Session, run_ids: Sequence[int]) -> dict[str, dict[int, float]]:
    """Query id -> run id -> average precision."""
    query = sa.select(scores.c.query_id, scores.c.run_id, scores.c.value).where(
        scores.c.run_id.in_(run_ids),
        scores.c.measure == "AP",
        scores.c.subset == "all",
        scores.c.query_id.is_not(None),
    )
    found: dict[str, dict[int, float]] = {}
    for row in session.rows(query):
        found.setdefault(str(row["query_id"]), {})[int(row["run_id"])] = float(row["value"])
    return found


def _count_labels(
    session: Session, benchmark: Benchmark, mode: AskedMode, asked: Asked
) -> dict[str, tuple[int, int]]:
    """Query id -> its relevant sentences that cite, and those that were added."""
    view = relate(benchmark, "labels")
    added = sa.func.sum(sa.case((view.c.step.is_(None), 0), else_=1))
    query = sa.select(view.c.query_id, sa.func.count().label("labels"), added.label("added"))
    chosen = (view.c.corpus == asked[0], view.c.producer == asked[1], view.c.labeller == mode.labeller)
    rows = session.rows(query.where(*chosen).group_by(view.c.query_id))
    return {str(row["query_id"]): (int(row["labels"]) - int(row["added"]), int(row["added"])) for row in rows}


def choose_query(values: Values, labels: Mapping[str, tuple[int, int]], run_ids: Sequence[int]) -> str | None:
    """The example in the middle by the first run's value, the query ids deciding between equal ones.

    >>> values = {"a": {1: 0.1}, "b": {1: 0.9}, "c": {1: 0.5}, "d": {1: 0.6}}
    >>> choose_query(values, {"a": (1, 1), "c": (1, 2), "d": (1, 1)}, [1])
    'c'
    """
    answered = [name for name, found in values.items() if all(run in found for run in run_ids)]
    both = [name for name in answered if min(labels.get(name, (0, 0))) > 0]
    chosen = sorted(both or answered, key=lambda name: (values[name][run_ids[0]], name))
    return chosen[len(chosen) // 2] if chosen else None


def _read_example(
    session: Session,
    benchmark: Benchmark,
    mode: AskedMode,
    asked: Asked,
    runs: Sequence[AskedRun],
    query_id: str,
    values: Mapping[int, float],
) -> ShownExample:
    example = _find_example(session, benchmark, asked, query_id)
    places = _read_document(session, benchmark, mode, asked, example)
    labels = _read_labels(session, benchmark, mode, asked, query_id)
    ranks = {run.run_id: _read_ranks(session, run.run_id, query_id, places) for run in runs}
    lines = [
        ShownSentence(
            number,
            row["title"],
            row["text"],
            labels.get(place, 0) is None,
            labels.get(place),
            {run_id: found[place] for run_id, found in ranks.items() if place in found},
        )
        for number, (place, row) in enumerate(places.items(), start=1)
    ]
    return ShownExample(
        query_id=query_id,
        paper=example["source_id"],
        title=example["title"],
        reference=example["reference"] or example["reference_key"],
        query=example["query"],
        contexts=[line for line in example["cited"].split("\n") if line],
        lines=keep_marked(lines),
        runs=runs,
        values=values,
        sentences=len(lines),
        relevant=sum(place in labels for place in places),
    )


def _find_example(session: Session, benchmark: Benchmark, asked: Asked, query_id: str) -> dict[str, Any]:
    view = relate(benchmark, "examples")
    held = papers.alias("held")
    joined = (
        view.join(papers, view.c.paper_id == papers.c.paper_id)
        .join(cited_references, view.c.reference_id == cited_references.c.reference_id)
        .outerjoin(held, cited_references.c.paper_id == held.c.paper_id)
    )
    columns = ("paper_id", "splitter", "source_id", "reference_key", "query", "cited")
    cited = sa.func.coalesce(cited_references.c.title, held.c.title)
    said = (papers.c.title, cited.label("reference"))
    query = sa.select(*(view.c[name] for name in columns), *said).select_from(joined)
    chosen = (view.c.corpus == asked[0], view.c.producer == asked[1], view.c.query_id == query_id)
    (row,) = session.rows(query.where(*chosen))
    return dict(row)


Place = tuple[int, int]
"""section number and position"""


def _read_document(
    session: Session, benchmark: Benchmark, mode: AskedMode, asked: Asked, example: Mapping[str, Any]
) -> dict[Place, dict[str, Any]]:
    """Place -> the sentence with its section's title, in the document's order."""
    view = relate(benchmark, "document_sentences")
    same = ("paper_id", "section_number")
    joined = view.outerjoin(sections, sa.and_(*(view.c[name] == sections.c[name] for name in same)))
    query = sa.select(view.c.section_number, view.c.position, view.c.text, sections.c.title)
    chosen = [
        view.c.corpus == asked[0],
        view.c.paper_id == example["paper_id"],
        view.c.splitter == example["splitter"],
    ]
    if mode.first_sentences is not None:
        chosen.append(view.c.place <= mode.first_sentences)
    ordered = query.select_from(joined).where(*chosen).order_by(view.c.place)
    return {(int(row["section_number"]), int(row["position"])): dict(row) for row in session.rows(ordered)}


def _read_labels(
    session: Session, benchmark: Benchmark, mode: AskedMode, asked: Asked, query_id: str
) -> dict[Place, int | None]:
    """Place -> the step in which it was added, None of a citing sentence; the others are not relevant."""
    view = relate(benchmark, "labels")
    query = sa.select(view.c.section_number, view.c.position, view.c.step).where(
        view.c.corpus == asked[0],
        view.c.producer == asked[1],
        view.c.query_id == query_id,
        view.c.labeller == mode.labeller,
    )
    return {(int(row["section_number"]), int(row["position"])): row["step"] for row in session.rows(query)}


def _read_ranks(session: Session, run_id: int, query_id: str, places: Iterable[Place]) -> dict[Place, int]:
    """Place -> rank, of the run's first; of equal scores the sentence that comes first."""
    table = sentence_scores.c
    query = sa.select(table.section_number, table.position, table.score).where(
        table.run_id == run_id, table.query_id == query_id
    )
    held = set(places)
    rows = [
        (-float(row["score"]), (int(row["section_number"]), int(row["position"])))
        for row in session.rows(query)
    ]
    first = sorted(row for row in rows if row[1] in held)[:TOP]
    return {place: rank for rank, (_score, place) in enumerate(first, start=1)}


def keep_marked(lines: Sequence[ShownSentence]) -> list[ShownSentence | Gap]:
    """All sentences of a short document; of a long one those that are marked, with their neighbours."""
    if len(lines) <= WHOLE:
        return list(lines)
    marked = [place for place, line in enumerate(lines) if line.is_marked]
    near = {place + offset for place in marked for offset in range(-AROUND, AROUND + 1)}
    kept: list[ShownSentence | Gap] = []
    skipped = 0
    for place, line in enumerate(lines):
        if place not in near:
            skipped += 1
            continue
        if skipped:
            kept.append(Gap(skipped))
            skipped = 0
        kept.append(line)
    return [*kept, Gap(skipped)] if skipped else kept
