"""Every text that an encoder may be asked for: by template, of papers, variants, queries and sentences.

What a run reads is chosen by its benchmark, its templates and its encoder's prefixes; what no choice of these
gives from the rows of today, nothing asks for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import orjson
import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Session
from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.indexers.encoder.presets import list_presets, list_prompts
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import list_templates, read_template, select_queries, split_template
from pinakes.queries.sentence_relations import select_contextual_texts
from pinakes.queries.tasks import RANKING
from pinakes.schema import (
    benchmark_queries,
    benchmarks,
    paper_variants,
    papers,
    runs,
    sentences,
    side_indexes,
    summary_examples,
)
from pinakes.settings import read_settings

_ASKED: Final = sa.Table("asked_texts", sa.MetaData(), sa.Column("text", sa.Text), prefixes=["TEMPORARY"])


def list_prefixes(session: Session) -> list[str]:
    """What an encoder may read before a text: of the presets, the prompts, and the stored runs; "" first."""
    found = {""}
    known = [(one.query_prefix, one.paper_prefix, one.prefixes) for one in list_presets().values()]
    known += [(one.query_prefix, one.paper_prefix, one.prefixes) for one in list_prompts().values()]
    for of_query, of_paper, of_formats in known:
        found |= {of_query, of_paper, *of_formats.values()}
    for column in (runs.c.query_template, runs.c.paper_template, side_indexes.c.paper_template):
        names = session.rows(sa.select(column.label("name")).where(column.is_not(None)).distinct())
        found |= {split_template(row["name"])[0] for row in names}
    for row in session.rows(sa.select(runs.c.parameters).distinct()):
        for name, value in orjson.loads(row["parameters"]).items():
            if name.endswith("prefixes") and isinstance(value, list):
                found |= {prefix for prefix in value if isinstance(prefix, str)}
    return sorted(found)


def list_texts() -> Iterator[list[sa.Select[Any]]]:
    """Groups of selects with a column `text`, of papers, variants, sentences: those of most texts first."""
    templates = list_templates("papers")
    for source in (papers, _read_titles(), _read_variants()):
        yield [sa.select(read_template("papers", template)).select_from(source) for template in templates]
    yield [sa.select(sentences.c.text), sa.select(summary_examples.c.query.label("text"))]


@contextmanager
def asked_texts(session: Session, unread: list[str]) -> Iterator[sa.Select[Any]]:
    """A select with a column `text`, of all that queries say.

    It reads a temporary table: the views of benchmarks are long, and no prefix changes what they give. To
    `unread` go the benchmarks whose folder is not found, and whose queries are not among the texts.
    """
    _ASKED.create(session.connection)
    for select in (*_list_stored_queries(), *_list_asked_queries(session, unread)):
        session.execute(sa.insert(_ASKED).from_select(["text"], select))
    yield sa.select(_ASKED.c.text)
    session.execute(DropTable(_ASKED))


def select_contexts() -> sa.Select[Any]:
    """text_digest and text of every paper that an encoder may read with the ends of its sentences."""
    texts = select_contextual_texts(None).subquery("contextual")
    return sa.select(texts.c.text_digest, texts.c.text)


def _list_stored_queries() -> Iterator[sa.Select[Any]]:
    queries = benchmark_queries.alias("queries")
    joined = queries.outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
    for template in list_templates("queries"):
        yield sa.select(read_template("queries", template)).select_from(joined)


def _list_asked_queries(session: Session, unread: list[str]) -> Iterator[sa.Select[Any]]:
    """What queries of the installed benchmarks that are no papers say, and all of them by their own template.

    Queries that are papers, and those of other tasks, say what papers say.
    """
    for row in session.rows(sa.select(benchmarks.c.name).order_by(benchmarks.c.name)):
        try:
            benchmark = read_benchmark(row["name"], read_settings().benchmark_folders)
        except (BenchmarkError, UnknownNameError):
            unread.append(row["name"])
            continue
        if benchmark.task != RANKING:
            continue
        sides = [benchmark, *([replace(benchmark, tuning=True)] if benchmark.tuning_folds else [])]
        for template in sorted({"text", benchmark.query_template}):
            for side in sides:
                yield sa.select(select_queries(side, template).order_by(None).subquery("asked").c.text)


def _read_variants() -> sa.FromClause:
    """Papers with the title and abstract of a variant of theirs, called `papers`."""
    joined = papers.join(paper_variants, papers.c.paper_id == paper_variants.c.paper_id)
    others = [column for column in papers.c if column.name not in ("title", "abstract")]
    altered = (paper_variants.c.title, paper_variants.c.abstract)
    return sa.select(*others, *altered).select_from(joined).subquery("papers")


def _read_titles() -> sa.FromClause:
    """Papers without their abstracts, called `papers`."""
    others = [column for column in papers.c if column.name != "abstract"]
    return sa.select(*others, sa.cast(sa.null(), sa.Text).label("abstract")).subquery("papers")
