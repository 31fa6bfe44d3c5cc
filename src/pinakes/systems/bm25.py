"""BM25 over tantivy; where the paper template is title and abstract, the title counts once more."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from pinakes.database import Database
from pinakes.indexers.analysis import Analysis, english_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.lexical import BuiltIndex
from pinakes.options import NoOptions, read_options
from pinakes.queries.relations import select_corpus_texts
from pinakes.systems.base import SystemOptions
from pinakes.systems.lexical import TEXT_ALONE, IndexSource, LexicalSystem
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope

if TYPE_CHECKING:  # a search weighs no text
    from pinakes.indexers.term_statistics import TermStatistics
    from pinakes.systems.lexical import WeighTexts

WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {"title_abstract": {"text": 1.0, "title": 0.25}}
"""of the fields of a document, by template"""

ELSEWHERE: Final = dict.fromkeys(
    ("k1", "b", "analysis", "formula", "trained_on"),
    "bm25 has k1 1.2 and b 0.75 compiled into tantivy; sparse_bm25 takes k1, b, analysis, formula and "
    "trained_on: --system sparse_bm25 --option k1=0.9.",
)
"""an option that is none of tantivy's -> where it is one"""


def _count_field(database: Database, scope: CorpusScope, field: str, analysis: Analysis) -> "TermStatistics":
    from pinakes.indexers.term_statistics import count_terms

    query = select_corpus_texts(scope.corpus, scope.paper_template).order_by(None)
    with database.read() as session:
        texts = (text for part in session.stream(query) for text in part[field].to_pylist())
        return count_terms(texts, analysis, threads=os.cpu_count() or 1)


class Bm25System(LexicalSystem):
    """Lucene's formula with k1 1.2 and b 0.75, by the statistics of the corpus."""

    own_options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        read_options(NoOptions, name, options.parameters, options.fixed, ELSEWHERE)
        super().__init__(name, options, english_analysis())

    def _weights(self, template: str) -> Mapping[str, float]:
        return WEIGHTS.get(template, TEXT_ALONE)

    def _open_weighing(self, database: Database, texts: PaperTexts) -> "WeighTexts":
        from pinakes.indexers.bm25_weights import open_weighing

        scope = texts.scope
        return open_weighing(
            self._analysis,
            {
                field: (weight, _count_field(database, scope, field, self._analysis))
                for field, weight in self._weights(scope.paper_template).items()
            },
        )

    def _build_files(self, folder: Path, source: IndexSource) -> BuiltIndex:
        return build_bm25(folder, source.documents, list(source.weights), weights=source.weights)

    def _open(self, folder: Path) -> Bm25Index:
        return Bm25Index.open(folder)
