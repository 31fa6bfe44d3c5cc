"""Cosine of TF-IDF vectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pinakes.database import Database
from pinakes.indexers.analysis import ANALYSES, named_analysis
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.self_retrieval.space import SparseRows
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf
from pinakes.options import option, read_options
from pinakes.systems.base import SystemOptions
from pinakes.systems.lexical import IndexSource, LexicalSystem, WeighTexts, trained_on_option
from pinakes.workload.paper_texts import PaperTexts


@dataclass(frozen=True, slots=True)
class TfidfOptions:
    """The options of `tfidf`."""

    analysis: str = option("english", "How a text becomes terms.", choices=tuple(ANALYSES))
    sublinear_tf: bool = option(True, "Whether a term counts 1 + ln(tf), not tf.")
    trained_on: str = trained_on_option()


class TfidfSystem(LexicalSystem):
    """A system that compares TF-IDF vectors."""

    own_options: ClassVar[type[TfidfOptions]] = TfidfOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(TfidfOptions, name, options.parameters, options.fixed)
        settings = {} if own.sublinear_tf else {"sublinear_tf": False}
        super().__init__(name, options, named_analysis(own.analysis), own.trained_on, settings)
        self._sublinear_tf = own.sublinear_tf

    def _build_files(self, folder: Path, source: IndexSource) -> BuiltIndex:
        return build_tfidf(
            folder,
            source.documents,
            list(source.weights),
            sublinear_tf=self._sublinear_tf,
            analysis=self._analysis,
            statistics=source.statistics,
        )

    def _open_weighing(self, database: Database, texts: PaperTexts) -> WeighTexts:
        index = self._open(self._folder / self._require_once(database, texts)["path"])

        def weigh(given: list[str], _titles: list[str]) -> tuple[SparseRows, SparseRows]:
            rows = index.weigh(given)
            return rows, rows

        return weigh

    def _open(self, folder: Path) -> TfidfIndex:
        return TfidfIndex.open(folder)
