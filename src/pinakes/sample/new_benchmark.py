"""The folder of a benchmark for a collection that has queries and judgments: what `PINAKES_BENCHMARKS` reads.

One pool, every paper of the corpus; the queries that have a text and that a split judges; its grades.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import quote_text
from pinakes.errors import BenchmarkError, InputError, UnknownNameError, show
from pinakes.queries.definition import list_benchmarks
from pinakes.schema import benchmark_queries, corpora, judgments
from pinakes.writing.files import make_whole_folder

_TOML: Final = """title = {title}
citation = {source}
licence = {licence}
corpus = {corpus}
pool = "shared"
depth = 1000
query_template = "text"
paper_template = "title_abstract"
headline_measure = "nDCG@10"
measures = ["nDCG@10", "R@100", "AP", "RR", "P@10"]

[grades]
{grades}
"""
_CANDIDATES: Final = """-- One pool for all queries: every paper of the corpus.
SELECT papers.paper_id
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = {corpus}
"""
_JUDGMENTS: Final = """-- What the split judges, whoever judged; of several grades of a pair the highest.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    MAX(judged_papers.grade) AS grade
FROM judged_papers
WHERE judged_papers.corpus = {corpus} AND judged_papers.split = {split}
GROUP BY judged_papers.query_id, judged_papers.paper_id
"""
_QUERIES: Final = """-- The queries with a text that the split judges.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text
FROM benchmark_queries
INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
WHERE corpora.name = {corpus}
    AND benchmark_queries.text IS NOT NULL
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
            AND judged_papers.split = {split}
    )
"""


@dataclass(frozen=True, slots=True)
class NewBenchmark:
    """The folder that was written.

    Attributes:
        queries: those that are asked; without_text: judged ones that are not, since they have no text.
        judgments: of the split, pairs judged twice counted once.
    """

    benchmark: str
    folder: str
    corpus: str
    split: str
    queries: int
    without_text: int
    judgments: int


def make_benchmark(
    database: Database, corpus: str, parent: Path, name: str | None = None, split: str | None = None
) -> NewBenchmark:
    """Write the folder `parent/name` of a benchmark that ranks the corpus for its judged queries.

    Args:
        corpus: a loaded one.
        parent: the folder of benchmarks, which is made where it is not there.
        name: of the benchmark; None: the corpus's, in letters that may name one.
        split: whose judgments count; None: `test`, or the only one.

    Raises:
        UnknownNameError: there is no such corpus or split.
        BenchmarkError: the corpus has no judged query with a text, or the name is taken.
        InputError: the folder is there and not empty, or cannot be written.
    """
    chosen = name or re.sub(r"[^a-z0-9_]+", "_", corpus.lower()).strip("_")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,48}", chosen):
        raise BenchmarkError(
            f"{show(chosen)} cannot name a benchmark: expected a lower-case letter, then up to 48 letters, "
            "digits or underscores. Give another with --name."
        )
    if chosen in list_benchmarks([parent]):
        raise BenchmarkError(f"there is a benchmark {chosen} already; give another name with --name.")
    with database.read() as session:
        described = _find_corpus(session, corpus)
        taken = _choose_split(session, described, split)
        counts = _count(session, described["corpus_id"], taken)
        grades = _list_grades(session, described["corpus_id"], taken)
    if not counts[0]:
        raise BenchmarkError(
            f"the split {taken} of {corpus} judges no query with a text; write the folder by hand, as the "
            "manual says under 'A benchmark of your own'."
        )
    with make_whole_folder(parent / chosen) as building:
        for file, text in _write(described, taken, grades).items():
            (building / file).write_text(text, encoding="utf-8")
    return NewBenchmark(chosen, str(parent / chosen), corpus, taken, *counts)


def _find_corpus(session: Session, name: str) -> Mapping[str, Any]:
    known = {str(row["name"]): row for row in session.rows(sa.select(corpora))}
    if name not in known:
        raise UnknownNameError("corpus", name, list(known))
    return known[name]


def _choose_split(session: Session, corpus: Mapping[str, Any], split: str | None) -> str:
    listed = sa.select(judgments.c.split).where(judgments.c.corpus_id == corpus["corpus_id"]).distinct()
    known = sorted(str(value) for (value,) in session.stream_rows(listed))
    if not known:
        raise BenchmarkError(
            f"{corpus['name']} has no judgments; load them first, as with `pinakes load trec`."
        )
    if split is not None and split not in known:
        raise UnknownNameError("split", split, known)
    if split is None and len(known) > 1 and "test" not in known:
        raise InputError(f"{corpus['name']} has judgments of {', '.join(known)}; say which with --split.")
    return split or ("test" if "test" in known else known[0])


def _count(session: Session, corpus_id: int, split: str) -> tuple[int, int, int]:
    """Judged queries with a text, those without, and judged pairs."""
    of_split = (judgments.c.corpus_id == corpus_id, judgments.c.split == split)
    judged = sa.select(judgments.c.query_id).where(*of_split)
    pairs = sa.select(judgments.c.query_id, judgments.c.paper_id).where(*of_split).distinct().subquery()
    query = sa.select(sa.func.count(), sa.func.count(benchmark_queries.c.text)).where(
        benchmark_queries.c.corpus_id == corpus_id, benchmark_queries.c.query_id.in_(judged)
    )
    ((queries, with_text),) = session.stream_rows(query)
    return with_text, queries - with_text, int(session.scalar(sa.select(sa.func.count()).select_from(pairs)))


def _list_grades(session: Session, corpus_id: int, split: str) -> list[int]:
    listed = sa.select(judgments.c.grade).where(
        judgments.c.corpus_id == corpus_id, judgments.c.split == split
    )
    return sorted(int(grade) for (grade,) in session.stream_rows(listed.distinct()))


def _write(corpus: Mapping[str, Any], split: str, grades: list[int]) -> dict[str, str]:
    """File name -> text."""
    told = {"title": corpus["title"] or corpus["name"], "source": corpus["source"] or "none"}
    told |= {"licence": corpus["licence"] or "none stated", "corpus": corpus["name"]}
    quoted = {key: _quote_toml(str(value)) for key, value in told.items()}
    meanings = {grade: "not relevant" if grade <= 0 else f"relevant, grade {grade}" for grade in grades}
    listed = "\n".join(f'{_quote_toml(str(grade))} = "{meaning}"' for grade, meaning in meanings.items())
    literals = {"corpus": quote_text(str(corpus["name"])), "split": quote_text(split)}
    return {
        "benchmark.toml": _TOML.format(**quoted, grades=listed),
        "queries.sql": _QUERIES.format(**literals),
        "candidates.sql": _CANDIDATES.format(**literals),
        "judgments.sql": _JUDGMENTS.format(**literals),
    }


def _quote_toml(text: str) -> str:
    """A basic string of TOML, which has JSON's escapes.

    >>> _quote_toml('a "b"')
    '"a \\\\"b\\\\""'
    """
    return orjson.dumps(text).decode().replace("\x7f", "\\u007f")
