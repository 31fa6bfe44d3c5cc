"""Derived rows: a load leaves those of other producers alone, and says which are of an older text."""

from pathlib import Path

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from tests.benching import change
from tests.loading import dump_tables, paper, write_beir


def test_a_load_leaves_variants_that_others_have_written(database: Database, tmp_path: Path) -> None:
    papers = [paper(1), paper(2)]
    load(database, LoadRequest("beir", write_beir(tmp_path, papers), corpus="toy"))
    change(database, "INSERT INTO paper_variants (paper_id, code, title) VALUES (1, 'T', 'x'), (2, 'T', 'y')")
    newer = [paper(1, title="Newer"), paper(2), paper(3)]
    load(database, LoadRequest("beir", write_beir(tmp_path, newer), corpus="toy"))
    assert [row[:2] for row in dump_tables(database)["paper_variants"]] == [(1, "T"), (2, "T")]
