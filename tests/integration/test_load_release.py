"""A release that the synthetic world is written into, loaded: the tables say what the world says."""

from collections import Counter
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.synthetic.citations import build_citations, count_citations
from pinakes.loaders.synthetic.world import World
from tests.releases import write_release

pytestmark = pytest.mark.in_turn

WORLD = World(700, 3)
MENTIONS = [
    (int(row["citing_source_id"][4:]), int(row["reference_key"][4:]), row["context"])
    for row in build_citations(WORLD, 0, count_citations(WORLD)).to_pylist()
]
MENTIONS_OF = Counter((citing, cited) for citing, cited, _ in MENTIONS)
PAIRS = sorted(MENTIONS_OF)

CITATIONS = """
SELECT citing.source_id AS citing, cited.source_id AS cited, citations.context
FROM citations
JOIN cited_references USING (reference_id)
JOIN papers AS citing ON citing.paper_id = citations.citing_paper_id
JOIN papers AS cited ON cited.paper_id = cited_references.paper_id
"""


def read_citations(database: Database) -> list[tuple[int, int, str]]:
    with database.read() as session:
        rows = session.rows(CITATIONS)
    return sorted((int(row["citing"]), int(row["cited"]), row["context"] or "") for row in rows)


def read_papers(database: Database) -> list[dict[str, object]]:
    with database.read() as session:
        return session.rows("SELECT title, abstract, year, venue FROM papers ORDER BY paper_id")


@pytest.mark.in_turn
@pytest.mark.parametrize("wanted", ["outbound", "inbound"])
def test_the_layout_2020_gives_the_world_whichever_end_lists_the_citations(
    database: Database, tmp_path: Path, wanted: str
) -> None:
    write_release(tmp_path / "release", WORLD, shards=3)
    summary = load(database, LoadRequest("s2orc", tmp_path / "release", {"citations": wanted}))
    assert (summary.rows_in, summary.rows_rejected, summary.papers) == (700, 0, 700)
    assert read_citations(database) == [(*pair, "") for pair in PAIRS]


def test_the_layout_s2ag_gives_the_world_with_every_context(database: Database, tmp_path: Path) -> None:
    write_release(tmp_path / "release", WORLD, layout="s2ag", shards=2)
    summary = load(database, LoadRequest("s2orc", tmp_path / "release"))
    assert (summary.rows_in, summary.rows_rejected) == (700 + 700 + len(PAIRS), 0)
    assert read_citations(database) == sorted(MENTIONS)
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM citations WHERE is_influential") == sum(
            MENTIONS_OF[mention[:2]] > 1 for mention in MENTIONS
        )


def test_both_layouts_give_the_same_papers(database: Database, tmp_path: Path) -> None:
    write_release(tmp_path / "release", WORLD, layout="s2ag")
    load(database, LoadRequest("s2orc", tmp_path / "release"))
    papers = read_papers(database)
    write_release(tmp_path / "other", WORLD)
    summary = load(
        database, LoadRequest("s2orc", tmp_path / "other", {"citations": "none"}, corpus="release")
    )
    assert (summary.papers, read_papers(database)) == (700, papers)
    assert all(paper["abstract"] for paper in papers)
