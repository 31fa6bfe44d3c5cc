"""The forms of papers as a system represents them: vectors, or weighted terms."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.self_retrieval.space import DenseTexts, SparseTexts, Texts
from pinakes.indexers.self_retrieval.standardise import measure_standard, normalise
from pinakes.indexers.term_weights import take_rows
from pinakes.progress import Progress
from pinakes.systems.base import System
from pinakes.workload.altered_texts import ORIGINAL, TITLE, AlteredTexts, Form

RAW: Final = "raw"


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reads forms by one system; rows are those of the whole question's papers."""

    database: Database
    system: System
    progress: Progress

    def read(self, form: Form) -> Texts:
        """The texts of a form that the system has a representation of.

        Raises `RunError` where a vector is not of finite numbers.
        """
        if "embed" in self.system.can:
            return self._embed(form)
        found: SparseTexts = self.system.weigh(self.database, form, self.progress)
        return SparseTexts(form.places[found.rows], found.queries, found.documents)

    def _embed(self, form: Form) -> DenseTexts:
        found = self.system.embed(self.database, form, self.progress)
        finite = np.isfinite(found.vectors).all(axis=1)
        if not finite.all():
            source_id = form.source_ids[found.rows[np.flatnonzero(~finite)[0]]]
            raise RunError(
                f"the vector of {source_id}, {form.code}, by {self.system.name} is not of finite numbers."
            )
        return DenseTexts(form.places[found.rows], np.ascontiguousarray(found.vectors))


def choose_rows(texts: Texts, rows: NDArray[np.intp]) -> Texts:
    """The texts of some papers."""
    kept = np.flatnonzero(np.isin(texts.rows, rows))
    if isinstance(texts, DenseTexts):
        return DenseTexts(texts.rows[kept], np.ascontiguousarray(texts.vectors[kept]))
    return SparseTexts(texts.rows[kept], take_rows(texts.queries, kept), take_rows(texts.documents, kept))


def list_vectors(originals: Texts, titles: Texts) -> Iterator[tuple[str, Texts, Texts]]:
    """Originals and titles as they are; then, of vectors, of length 1, and standardised by the originals."""
    yield RAW, originals, titles
    if not (isinstance(originals, DenseTexts) and isinstance(titles, DenseTexts) and len(originals.rows)):
        return
    yield "l2", _map(originals, normalise), _map(titles, normalise)
    standard = measure_standard(originals.vectors)
    yield "standardised", _map(originals, standard.standardise), _map(titles, standard.standardise)


def _map(texts: DenseTexts, change: Callable[[Vectors], Vectors]) -> DenseTexts:
    return DenseTexts(texts.rows, change(texts.vectors))


def read_both(reader: Reader, texts: AlteredTexts) -> tuple[Texts, Texts]:
    """Originals and titles; `RunError` where no original has a representation."""
    originals, titles = reader.read(texts.forms[ORIGINAL]), reader.read(texts.forms[TITLE])
    if not len(originals.rows):
        raise RunError(f"{reader.system.name} represents no paper of {texts.benchmark.asked_of}.")
    return originals, titles
