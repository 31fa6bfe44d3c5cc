"""A corpus that is searched again and again: opened once, then held in memory, away from the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.lexical import check_k
from pinakes.search.filter import find_pool
from pinakes.search.found import Found
from pinakes.search.held_papers import HeldPapers, read_held_papers
from pinakes.search.search import SearchRequest, find_searched
from pinakes.systems.base import OpenSearch, SearchedPapers

TEXTS_AT_ONCE: Final = 1_024


@dataclass(frozen=True, slots=True, eq=False)
class Searcher:
    """A corpus as it was when it was opened. What is written to the database since is not in it.

    Attributes:
        system: what it is called in a run.
    """

    system: str
    _open: OpenSearch
    _papers: HeldPapers

    def search(self, texts: Sequence[str], k: int = 10) -> list[list[Found]]:
        """What `search` finds for each text: the same papers, and of terms the same scores to the bit.

        Vectors of texts that are encoded together may differ in their last bits from those of one.

        Raises:
            IndexingError: `k` is below 1.
            InputError: a text has no words.
        """
        check_k(k)
        empty = next((number for number, text in enumerate(texts) if not text.strip()), None)
        if empty is not None:
            raise InputError(f"text {empty + 1} of {len(texts)} to search for is empty; expected words.")
        found: list[list[Found]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            rankings = self._open.search(texts[start : start + TEXTS_AT_ONCE], k)
            found += self._papers.describe(rankings)
        return found


def open_searcher(database: Database, request: SearchRequest) -> Searcher:
    """A searcher of the request's corpus by its system, with its filter; it holds no connection.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: no paper passes the filter, a text or a paper is named, or the vectors are searched in the
            database.
        RunError: an index is missing or stale; the message has the command that makes it.
    """
    if request.text or request.paper is not None or request.sentences:
        raise InputError("a searcher is asked with texts when it is open; name no text and no paper before.")
    system, scope = find_searched(database, request)
    pool = find_pool(database, scope.corpus, request.wanted)
    with database.read() as session:
        held = read_held_papers(session, scope.corpus)
    return Searcher(system.name, system.open_search(database, SearchedPapers(scope, pool, held.order)), held)
