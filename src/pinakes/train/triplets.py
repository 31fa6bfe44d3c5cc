"""Triplets of a query, a nearer and a further paper, drawn of graded papers or of linked ones."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.errors import BenchmarkError
from pinakes.indexers.training.tasks import Instances, TrainingTask
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import read_template, relation, select_paper_texts
from pinakes.schema import benchmark_queries, corpora, judgments, papers
from pinakes.train.asked import AskedTask
from pinakes.train.blocks import Blocks
from pinakes.train.candidates import TABLE, make_papers, tell_side
from pinakes.train.data import TRAIN, DrawnTask, DrawOptions
from pinakes.train.instances import SIDES, list_instances
from pinakes.workload.scope import PAPER_TEMPLATE

_ASKED: Final[dict[str, Any]] = {
    "query_key": sa.Text(collation="C"),
    "corpus_id": sa.Integer,
    "query_id": sa.Text,
    "paper_id": sa.BigInteger,
    "text": sa.Text,
    "text_digest": sa.Uuid,
    "side": sa.Text,
    "reason": sa.Text,
}
_DRAWN: Final = sa.table(
    "drawing_drawn",
    sa.column("paper_id"),
    sa.column("positive"),
    sa.column("negative"),
    sa.column("query_id"),
)
_DISTINCT: Final = sa.table("distinct_papers", sa.column("paper_id"), sa.column("corpus_id"))


def draw_triplets(blocks: Blocks, asked: AskedTask, corpus_id: int, options: DrawOptions) -> DrawnTask:
    """The task's triplets to train on and to validate by; `corpus_id` is that of its papers or queries.

    Raises:
        BenchmarkError: no query of the benchmark is judged in a split for training.
    """
    template = PAPER_TEMPLATE if asked.benchmark is None else asked.benchmark.paper_template
    if asked.benchmark is None:
        of_corpus = sa.select(_DISTINCT.c.paper_id).where(_DISTINCT.c.corpus_id == corpus_id)
        make_papers(blocks, of_corpus, template, options)
        blocks.make(*(asked.kind.made if asked.kind else ()), "askers", "asked")
    else:
        _make_asked(blocks, asked.benchmark, corpus_id, template, options)
    left_out = _count_asked(blocks, asked)
    blocks.make("queries")
    left_out["queries beyond the greatest number"] = int(blocks.rows("count_unasked")[0]["items"])
    shared = asked.benchmark is not None and asked.benchmark.pool == "shared"
    if asked.kind is not None and asked.kind.drawing == "linked":
        _draw_linked(blocks, left_out)
    else:
        _draw_graded(blocks, left_out, shared=shared)
    blocks.make("drawn")
    drawn = _build(blocks, asked, template, left_out)
    return replace(drawn, unjudged=int(blocks.rows("count_unjudged")[0]["items"])) if shared else drawn


def _draw_linked(blocks: Blocks, left_out: Counter[str]) -> None:
    blocks.make("linked", "related", "positives", "near", "pool", "refused", "dealt", "negatives")
    blocks.make("triplets", block="linked_triplets")
    _add(left_out, blocks.rows("count_linked_without"))
    # Not left out, but fewer than one expects.
    left_out["hard negatives: queries with fewer than asked for"] = int(blocks.rows("count_hard")[0]["items"])


def _draw_graded(blocks: Blocks, left_out: Counter[str], *, shared: bool) -> None:
    blocks.make("graded")
    _add(left_out, blocks.rows("count_graded"))
    if shared:
        blocks.make("related", "pool", "refused", "dealt")
        blocks.run("add_dealt")
    blocks.make("candidates")
    blocks.make("triplets", block="graded_triplets")
    _add(left_out, blocks.rows("count_graded_without"))


def _count_asked(blocks: Blocks, asked: AskedTask) -> Counter[str]:
    counted = {row["reason"]: int(row["items"]) for row in blocks.rows("count_asked")}
    if not counted and asked.benchmark is not None:
        raise BenchmarkError(
            f"{asked.name} has no split for training in this database: none of its queries in "
            f"{asked.benchmark.corpus} is judged in the split train. Load its training data, or leave it out."
        )
    counted.pop(None, None)
    return Counter(counted)


def _add(left_out: Counter[str], rows: list[dict[str, Any]]) -> None:
    for row in rows:
        left_out[row["reason"]] += int(row["items"])


def _make_asked(
    blocks: Blocks, benchmark: Benchmark, corpus_id: int, template: str, options: DrawOptions
) -> None:
    """Make `drawing_papers` and `drawing_asked` of the benchmark's queries that are judged for training."""
    judged = (judgments.c.corpus_id == corpus_id, judgments.c.split == TRAIN)
    listed = sa.select(judgments.c.query_id).where(*judged)
    queries = benchmark_queries.alias("queries")
    is_asked = (
        queries.c.corpus_id == corpus_id,
        queries.c.query_id.in_(listed),
        *_choose_fields(benchmark, queries),
    )
    own = sa.select(queries.c.paper_id).where(*is_asked, queries.c.paper_id.is_not(None))
    chosen, pool = sa.union_all(sa.select(judgments.c.paper_id).where(*judged), own), None
    if benchmark.pool == "shared":
        pool = sa.select(relation(benchmark, "candidates").c.paper_id)
        chosen = sa.union_all(*chosen.selects, pool)
    make_papers(blocks, sa.select(chosen.subquery("chosen").c.paper_id), template, options, pool)
    blocks.make_as("asked", _ASKED, _select_asked(benchmark, queries, is_asked, options))


def _select_asked(
    benchmark: Benchmark, queries: sa.FromClause, is_asked: tuple[Any, ...], options: DrawOptions
) -> sa.Select[Any]:
    element = read_template("queries", benchmark.query_template).element
    text = sa.func.coalesce(element, "")
    digest = sa.func.md5(text)
    held = sa.table("drawing_held_queries", *map(sa.column, ("benchmark", "query_id", "text_digest")))
    is_held = sa.exists().where(
        sa.or_(
            sa.and_(held.c.benchmark == benchmark.name, held.c.query_id == queries.c.query_id),
            held.c.text_digest == sa.cast(sa.func.md5(sa.func.trim(queries.c.text)), sa.Uuid),
        )
    )
    reason = sa.case(
        (text == "", "queries without a text"),
        (sa.or_(TABLE.c.is_held == 1, is_held), "queries asked in a test"),
    )
    return (
        sa.select(
            corpora.c.name + ":" + queries.c.query_id,
            queries.c.corpus_id,
            queries.c.query_id,
            queries.c.paper_id,
            text,
            sa.cast(digest, sa.Uuid),
            sa.func.coalesce(TABLE.c.side, tell_side(digest, options)),
            reason,
        )
        .join_from(queries, corpora, queries.c.corpus_id == corpora.c.corpus_id)
        .outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
        .outerjoin(TABLE, queries.c.paper_id == TABLE.c.paper_id)
        .where(*is_asked)
    )


def _choose_fields(benchmark: Benchmark, queries: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    """A corpus of a whole suite has the queries of several tasks, each with its task as its field."""
    if benchmark.suite is None:
        return []
    own = benchmark.name.removeprefix(f"{benchmark.suite.name}_")
    return [sa.or_(queries.c.field.is_(None), queries.c.field == own)]


def _build(blocks: Blocks, asked: AskedTask, template: str, left_out: Counter[str]) -> DrawnTask:
    drawn = blocks.fetch("list_drawn")
    left_out["triplets beyond the greatest number"] = int(blocks.rows("count_triplets")[0]["items"]) - len(
        drawn
    )
    named = sa.union(*(sa.select(_DRAWN.c[name].label("paper_id")) for name in ("positive", "negative")))
    own = sa.select(_DRAWN.c.paper_id).where(_DRAWN.c.query_id.is_(None))
    chosen = sa.union(*named.selects, own).subquery("chosen")
    texts = blocks.session.fetch_arrow(select_paper_texts(sa.select(chosen.c.paper_id), template))
    said = dict(zip(texts["paper_id"].to_pylist(), texts["text"].to_pylist(), strict=True))
    of_queries = blocks.fetch("list_query_texts")
    asks = dict(zip(of_queries["query_key"].to_pylist(), of_queries["text"].to_pylist(), strict=True))
    rows: dict[str, int] = {}
    spoken = np.empty((len(drawn), 3), np.int64)
    columns = [drawn[name].to_pylist() for name in ("query_key", "paper_id", "positive", "negative")]
    for place, (key, paper_id, positive, negative) in enumerate(zip(*columns, strict=True)):
        query = asks[key] if key in asks else said[paper_id]
        spoken[place] = [rows.setdefault(text, len(rows)) for text in (query, said[positive], said[negative])]
    side = drawn["side"].to_numpy(zero_copy_only=False)
    nothing = np.empty((len(drawn), 0), np.int64)
    train, validation = (Instances(spoken[side == one], nothing[side == one]) for one in SIDES)
    task = TrainingTask(asked.name, asked.format, asked.objective, list(rows), (), train, validation)
    return DrawnTask(task, dict(+left_out), _list(drawn))


def _list(drawn: pa.Table) -> pa.Table:
    return list_instances(
        drawn,
        corpus_id=drawn["corpus_id"],
        query_id=drawn["query_id"],
        query_paper_id=drawn["paper_id"],
        positive_paper_id=drawn["positive"],
        negative_paper_id=drawn["negative"],
    )
