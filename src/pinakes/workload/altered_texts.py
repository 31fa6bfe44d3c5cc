"""What the task of self-retrieval asks: papers, their titles alone, and altered texts of them, by code.

Every form is read with the same text template: an altered text replaces title and abstract.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import read_template
from pinakes.schema import papers
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope

ORIGINAL: Final = "T_A"
"""the form of a paper as it is: title and abstract"""
TITLE: Final = "T"
"""the form of its title alone"""
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "codes": ("number", "code", "category"),
    "selections": ("corpus", "paper_id", "within"),
    "originals": ("corpus", "within", "paper_id", "query_id"),
    "neighbours": (
        *("corpus", "within", "paper_id", "query_id", "code", "category", "number"),
        *("title", "abstract", "producer", "mode", "is_stale"),
    ),
    "samples": ("corpus", "scheme", "code", "producer", "paper_id", "position"),
}
"""view -> the columns that it has"""
SETTINGS: Final = ("task_queries", "overlap_queries", "map_papers", "seed")


def relate(benchmark: Benchmark, view: str) -> sa.TableClause:
    """A view of the benchmark, with its columns."""
    return sa.table(view, *map(sa.column, COLUMNS[view]), schema=benchmark.name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Form(PaperTexts):
    """The texts of one code: of the papers that have one, `paper_ids` (m,).

    Attributes:
        code: of a neighbour, or `ORIGINAL`, or `TITLE`.
        places: the rows of the whole question's papers that these are, ascending (m,).
    """

    code: str
    places: NDArray[np.intp]

    def select_paper_texts(self) -> sa.Select[Any]:
        """paper_id, text and title of every text of the code, by paper_id."""
        return select_texts(self.benchmark, self.code, self.paper_template)

    @property
    def scope(self) -> CorpusScope:
        """As of the whole question."""
        return name_scope(self.benchmark, self.paper_template)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlteredTexts(PaperTexts):
    """Papers with a title and an abstract, by id, and their forms.

    Attributes:
        codes: code of a neighbour -> its category, in the order of the view `codes`.
        forms: `ORIGINAL`, `TITLE` and each code -> its texts.
        sampled: rows of the papers whose titles ask, and of the map: in the order drawn.
        overlapping: code -> rows of the papers whose nearest are compared, ascending.
    """

    codes: Mapping[str, str]
    forms: Mapping[str, Form]
    sampled: NDArray[np.intp]
    overlapping: Mapping[str, NDArray[np.intp]]

    @property
    def queries_expected(self) -> int:
        """How many papers are asked about."""
        return len(self.paper_ids)

    @property
    def scope(self) -> CorpusScope:
        """The loaded corpus of the papers, and how a command names the question."""
        return name_scope(self.benchmark, self.paper_template)

    def select_paper_texts(self) -> sa.Select[Any]:
        """paper_id and text of every form of every paper, in no order."""
        template = self.paper_template
        selects = [select_texts(self.benchmark, code, template) for code in (ORIGINAL, TITLE, None)]
        parts = [part.order_by(None).subquery() for part in selects]
        both = sa.union_all(*(sa.select(part.c.paper_id, part.c.text) for part in parts)).subquery("forms")
        return sa.select(both.c.paper_id, both.c.text)


def list_columns(benchmark: Benchmark, view: str) -> tuple[str, ...]:
    """The columns that a view of a benchmark must have."""
    return COLUMNS[view]


def name_scope(benchmark: Benchmark, template: str) -> CorpusScope:
    """The corpus that statistics and training are of, and the benchmark as `pinakes index` takes it."""
    named = benchmark.name + (f" --corpus {benchmark.asked_of}" if benchmark.asked_of else "")
    mode = f" --mode {benchmark.mode}" if benchmark.mode != "corrected" else ""
    return CorpusScope(benchmark.corpus, template, named + mode)


def select_neighbours(benchmark: Benchmark) -> sa.Select[Any]:
    """The rows of the view `neighbours` that the run asks with."""
    view = relate(benchmark, "neighbours")
    return sa.select(*view.c).where(
        view.c.corpus == benchmark.asked_of,
        view.c.mode == benchmark.mode,
        view.c.producer.in_(benchmark.producers),
    )


def select_texts(benchmark: Benchmark, code: str | None, template: str) -> sa.Select[Any]:
    """paper_id, text and title of every text of a form, by paper_id; None: of every neighbour, with its code.

    The template is an expression over `papers`: here these are the papers with the form's title and abstract.
    """
    abstract: sa.ColumnElement[Any] = sa.cast(sa.null(), sa.Text)
    if code in (ORIGINAL, TITLE):
        source = relate(benchmark, "originals")
        chosen = sa.select(source.c.paper_id).where(source.c.corpus == benchmark.asked_of).subquery("chosen")
        title: sa.ColumnElement[Any] = papers.c.title
        abstract = papers.c.abstract if code == ORIGINAL else abstract
        own: list[sa.ColumnElement[Any]] = []
    else:
        rows = select_neighbours(benchmark)
        rows = rows if code is None else rows.where(sa.column("code") == code)
        chosen = rows.subquery("chosen")
        title, abstract, own = chosen.c.title, chosen.c.abstract, [chosen.c.code]
    others = [column for column in papers.c if column.name not in ("title", "abstract")]
    inner = (
        sa.select(*others, title.label("title"), abstract.label("abstract"), *own)
        .select_from(papers.join(chosen, papers.c.paper_id == chosen.c.paper_id))
        .subquery("papers")
    )
    heading = sa.func.coalesce(inner.c.title, "").label("title")
    columns = [inner.c.paper_id, read_template("papers", template), heading]
    selected = sa.select(*columns, *([inner.c.code] if own else [])).select_from(inner)
    return selected.order_by(inner.c.paper_id)
