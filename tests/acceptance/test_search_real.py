"""The manual's search of the paper lists, on the real papers: known papers come first."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.index.index import index_corpus
from pinakes.load.load import LoadRequest, load
from pinakes.search.filter import PaperFilter
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from tests.long import long
from tests.real_data import REAL_DATA, needs_real_data


@needs_real_data
@pytest.mark.parametrize("initialised", ["duckdb", long("postgresql")], indirect=True)
@pytest.mark.parametrize("systems", [("bm25",), long(("sparse_bm25", "tfidf"))])
def test_the_paper_lists_are_searched_by_every_lexical_index(
    initialised: Database, tmp_path: Path, systems: tuple[str, ...]
) -> None:
    options = SystemOptions(tmp_path / "indexes")
    load(initialised, LoadRequest("paperlists", REAL_DATA / "paperlists"))
    for system in systems:
        indexed = index_corpus(initialised, "paperlists", system, options=options)
        assert (indexed.added, indexed.existing) == (26_656, 0)
        text = "semi-supervised classification with graph convolutional networks"
        found = search(initialised, SearchRequest("paperlists", text, system, options=options))
        assert found[0].source_id == "iclr2017/SJU4ayYgl"
        assert len(found) == 10
        late = search(
            initialised,
            SearchRequest("paperlists", text, system, 30_000, PaperFilter(year_from=2022), options=options),
        )
        with initialised.read() as session:
            expected = session.scalar("SELECT COUNT(*) FROM papers WHERE year >= 2022")
        assert len(late) == expected
        assert min(paper.year or 0 for paper in late) == 2022
