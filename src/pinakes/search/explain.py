"""A paper's score for a text, or for a query of a benchmark, term by term."""

from dataclasses import dataclass, replace

import numpy as np

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.lexical import Ids
from pinakes.indexers.sparse_bm25.score_parts import DroppedWord, TermScore
from pinakes.queries.definition import require_task
from pinakes.queries.tasks import RANKING
from pinakes.search.papers import find_paper, unknown_paper
from pinakes.search.search import order_by_source_id
from pinakes.systems.base import (
    ExplainedScore,
    ScoreQuestion,
    System,
    SystemOptions,
    choose_options,
    note_stored,
)
from pinakes.systems.rankings import make_tie_order
from pinakes.systems.registry import find_system, require_ability
from pinakes.tasks.base import choose_corpus
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.readers import SEARCH
from pinakes.workload.scope import open_corpus
from pinakes.workload.templates import choose_templates, find_own_templates
from pinakes.workload.workload import Workload, read_workload


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Whose score is to be explained.

    Attributes:
        query: a text; with a benchmark, the id of one of its queries.
        paper: the source's own id of a paper.
        corpus: the paper's; with a benchmark that reads any corpus, which one.
        query_template: of a benchmark alone.
    """

    query: str
    paper: str
    corpus: str | None = None
    benchmark: str | None = None
    system: str = "sparse_bm25"
    options: SystemOptions | None = None
    query_template: str | None = None
    paper_template: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score and its parts.

    Attributes:
        query: as it was asked for: a text, or the id of a benchmark's query.
        text: what is searched with.
        source_id: of the paper.
        score: as the ranking has it, a 32-bit float.
        total: the sum of the parts, which are 64-bit floats: (terms + 1) / 2 ** 24 of it away at most.
        rank: 1 is the best; None: the paper is in no ranking of the query.
        ranked: how many papers are.
        tuning: where k1 and b are from.
        papers, average_length: of the collection that terms are counted in, and its mean length in terms.
        length: of the paper, in terms.
        terms: the query's, the greatest part first.
        dropped: words of the query that are no terms, with why.
    """

    query: str
    text: str
    benchmark: str | None
    corpus: str
    system: str
    source_id: str
    title: str | None
    score: float
    total: float
    rank: int | None
    ranked: int
    k1: float
    b: float
    tuning: str
    formula: str
    papers: int
    average_length: float
    length: int
    terms: tuple[TermScore, ...]
    dropped: tuple[DroppedWord, ...]


def explain(database: Database, request: ExplainRequest) -> Explanation:
    """The score that the system gives the paper, term by term.

    Raises:
        UnknownNameError: no such corpus, benchmark, system, template or query.
        BenchmarkError: the benchmark does not ask for rankings, or its corpus is not loaded.
        InputError: neither a corpus nor a benchmark is named, there is no such paper, the query has no text,
            or the system cannot explain a score.
        RunError: the index is missing or stale; the message has the command that makes it.
    """
    if request.benchmark is None:
        return _explain_text(database, request)
    return _explain_query(database, request, request.benchmark)


def _explain_text(database: Database, request: ExplainRequest) -> Explanation:
    if request.corpus is None:
        raise InputError("expected --corpus NAME, or --benchmark NAME with the id of one of its queries.")
    if request.query_template is not None:
        raise InputError("--query-template is of a benchmark; leave it out for a text.")
    _require_text(request.query, "the text to explain a score for is empty")
    options = replace(request.options or SystemOptions(find_index_folder(database)), own_format=SEARCH)
    system = _find_system(database, request, options)
    template = request.paper_template or find_own_templates(request.system, options.choice)[1]
    scope = open_corpus(database, request.corpus, template)
    paper_id, title = _find(database, scope.corpus, request.paper)
    ties = order_by_source_id(database, scope.corpus)
    question = ScoreQuestion(scope, request.query, paper_id, None, ties)
    return _describe(request, system.name, question, title, system.explain(database, question))


def _explain_query(database: Database, request: ExplainRequest, name: str) -> Explanation:
    opened = open_benchmark(database, name)
    require_task(opened, RANKING)
    benchmark = choose_corpus(database, opened, request.corpus)
    options = choose_options(benchmark, request.options or SystemOptions(find_index_folder(database)))
    system = _find_system(database, request, options)
    templates = choose_templates(
        benchmark, request.system, request.query_template, request.paper_template, options.format
    )
    workload = read_workload(database, benchmark, *templates)
    position = _find_query(workload, request.query)
    text = workload.query_texts[position]
    _require_text(text, f"the query {request.query} of {name} has no text")
    paper_id, title = _find(database, workload.scope.corpus, request.paper)
    ranked = _list_ranked(workload, position)
    is_candidate = bool(np.isin(paper_id, ranked))
    own_statistics = workload.groups is not None
    if own_statistics and not is_candidate:
        raise InputError(
            f"{request.paper} is no candidate of the query {request.query}, whose pool has its own "
            "statistics; expected a paper of its pool."
        )
    question = ScoreQuestion(
        workload.scope,
        text,
        paper_id,
        ranked,
        make_tie_order(workload),
        workload,
        own_statistics,
        workload.pools is not None,
    )
    return _describe(request, system.name, question, title, system.explain(database, question))


def _describe(
    request: ExplainRequest, system: str, question: ScoreQuestion, title: str | None, found: ExplainedScore
) -> Explanation:
    parts = found.parts
    return Explanation(
        query=request.query,
        text=question.text,
        benchmark=request.benchmark,
        corpus=question.scope.corpus,
        system=system,
        source_id=request.paper,
        title=title,
        score=parts.score,
        total=parts.total,
        rank=found.rank,
        ranked=found.ranked,
        k1=found.k1,
        b=found.b,
        tuning=found.tuning,
        formula=found.formula,
        papers=parts.papers,
        average_length=parts.average_length,
        length=parts.length,
        terms=parts.terms,
        dropped=parts.dropped,
    )


def _find_system(database: Database, request: ExplainRequest, options: SystemOptions) -> System:
    system = find_system(request.system, note_stored(database, options))
    require_ability(system, "explain")
    return system


def _find_query(workload: Workload, query_id: str) -> int:
    if query_id not in workload.query_ids:
        raise UnknownNameError(f"query of {workload.benchmark.name}:", query_id, workload.query_ids)
    return workload.query_ids.index(query_id)


def _list_ranked(workload: Workload, position: int) -> Ids:
    """The candidates of the query at a position, without its own paper where that is in no ranking of it."""
    rows = workload.pool_of(position)
    if workload.query_rows is not None:
        rows = rows[rows != workload.query_rows[position]]
    return workload.paper_ids[rows]


def _find(database: Database, corpus: str, source_id: str) -> tuple[int, str | None]:
    """paper_id and title of a paper of the corpus."""
    with database.read() as session:
        found = find_paper(session, corpus, source_id)
    if found is None:
        raise unknown_paper(corpus, source_id)
    return int(found["paper_id"]), found["title"]


def _require_text(text: str, told: str) -> None:
    if not text.strip():
        raise InputError(f"{told}; expected words.")
