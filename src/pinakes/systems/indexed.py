"""What systems over a side index share: building it once, requiring it to be of today's texts, opening it."""

import time
from abc import abstractmethod
from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.lexical import BuiltIndex
from pinakes.progress import Progress
from pinakes.schema import corpora
from pinakes.systems.base import Asked, IndexSummary, System, SystemOptions
from pinakes.vectors.side_index import Row, SideIndex
from pinakes.workload.scope import CorpusScope


class IndexedSystem(System):
    """A system that ranks by a side index of a corpus's texts."""

    def __init__(self, name: str, options: SystemOptions) -> None:
        self.name = name
        self._folder = options.index_folder
        self._requested = options.requested
        self._checked: tuple[str, Row] | None = None

    @abstractmethod
    def _side_index(self, scope: CorpusScope) -> SideIndex:
        """The index, as it is stored."""

    @abstractmethod
    def _digest(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        """The digest of all that decides what is built today, and how many papers it is built from."""

    @abstractmethod
    def _build(
        self, database: Database, scope: CorpusScope, folder: Path, progress: Progress
    ) -> BuiltIndex: ...

    def _corpus(self, scope: CorpusScope) -> str:
        """The corpus that the index is of."""
        return scope.corpus

    def index(self, database: Database, workload: Asked, progress: Progress) -> IndexSummary:
        """Build the index of the workload's corpus, unless one of the same texts exists."""
        return self.index_corpus(database, workload.scope, progress)

    def index_corpus(self, database: Database, scope: CorpusScope, progress: Progress) -> IndexSummary:
        """Build the corpus's index, unless one of the same texts exists."""
        started = time.monotonic()
        digest, rows = self._digest(database, scope)

        def build(folder: Path) -> dict[str, object]:
            progress.start(f"index {self._corpus(scope)} for {self.name}", rows)
            try:
                built = self._build(database, scope, folder, progress)
            finally:
                progress.finish()
            return {"parameters": built.parameters, "row_count": built.row_count}

        _, is_new = self._side_index(scope).ensure(database, digest, build)
        added, existing = (rows, 0) if is_new else (0, rows)
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def _require(self, database: Database, scope: CorpusScope) -> Row:
        """The row of an index that exists and is of the corpus as it is."""
        side_index = self._side_index(scope)
        return side_index.require(
            database,
            lambda: self._digest(database, scope)[0],
            what=f"{side_index.kind} index of the corpus {self._corpus(scope)}",
            command=f"`pinakes index {scope.requested_as} --system {self.name}{self._requested}`",
        )

    def _require_once(self, database: Database, workload: Asked) -> Row:
        """As `_require`, looked at once a workload."""
        if self._checked is None or self._checked[0] != workload.digest:
            self._checked = (workload.digest, self._require(database, workload.scope))
        return self._checked[1]


def require_loaded(database: Database, corpus: str, purpose: str) -> None:
    """Raise `RunError` unless a corpus of that name is loaded; `purpose` is what for, in words."""
    with database.read() as session:
        loaded = sorted(str(row["name"]) for row in session.rows(sa.select(corpora.c.name)))
    if corpus not in loaded:
        raise RunError(
            f"no corpus {corpus} is loaded to {purpose}; expected one of {', '.join(loaded) or 'none'}. Load "
            "it first, with `pinakes load`."
        )
