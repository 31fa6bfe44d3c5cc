"""The large-scale setup and MDCR's construction on real citations: the ACL papers of AAN and CL-SciSumm.

Neither corpus is large, and only 730 papers are cited, so the figures are checked for shape, not for value.
"""

from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.run import RunRequest, run
from pinakes.sample.construct import construct
from pinakes.sample.construct_plan import ConstructionRequest
from pinakes.sample.sample import sample
from pinakes.systems.base import SystemOptions
from tests.real_data import REAL_DATA, needs_real_data

FIELDS = """
-- name: papers
SELECT id AS source_id FROM input

-- name: fields
SELECT 'Computer Science' AS field, 'mag' AS assigned_by FROM input
"""
SYSTEMS = ("sparse_bm25", "tfidf")


def load_acl(database: Database, folder: Path) -> None:
    """Texts of CL-SciSumm, titles and years of AAN, and Computer Science as everybody's field."""
    load(database, LoadRequest("scisumm", REAL_DATA / "scisumm" / "scisumm-train.tar.gz", corpus="acl"))
    load(database, LoadRequest("aan", REAL_DATA / "aan", corpus="acl"))
    with database.read() as session:
        ids = session.rows("SELECT source_id FROM papers WHERE title IS NOT NULL ORDER BY source_id")
    (folder / "ids.csv").write_text("id\n" + "".join(f"{row['source_id']}\n" for row in ids))
    (folder / "fields.sql").write_text(FIELDS)
    mapping = {"mapping": str(folder / "fields.sql")}
    load(database, LoadRequest("csv", folder / "ids.csv", mapping, corpus="acl"))


def rank(
    database: Database, benchmark: str, options: SystemOptions
) -> dict[str, dict[tuple[str, str], float]]:
    """system -> (measure, subset) -> value."""
    for system in SYSTEMS:
        index(database, benchmark, system, options=options)
        run(database, RunRequest(benchmark, system, options))
    return {
        found.system: {(score.measure, score.subset): score.value for score in found.aggregates()}
        for found in evaluate(database, benchmark)
    }


@needs_real_data
@pytest.mark.long
def test_every_system_loses_as_the_pool_grows_and_random_papers_are_easiest(
    initialised: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path / "indexes")
    prefilter = {"year": 2011, "min_abstract": 0, "min_citations": 0, "min_cited": 3}
    acl: Any = {"validation_queries": 0, **prefilter}
    load_acl(initialised, tmp_path)
    large = {**acl, "queries": 100, "pool_sizes": (2000, 5000, 16000)}
    assert sample(initialised, "large_scale", "acl", large).queries == 100
    scores = rank(initialised, "large_scale", options)
    for system in SYSTEMS:
        by_size = [scores[system]["AP", f"pool_size={size}"] for size in (2000, 5000, 16000)]
        assert by_size == sorted(by_size, reverse=True)
        assert by_size[-1] > 0.01
    fields = {**acl, "queries": 200, "pool_sizes": (600,)}
    assert sample(initialised, "field_level", "acl", fields).queries == 110
    rank(initialised, "field_level", options)
    construct(initialised, ConstructionRequest("mdcr_constructed"))
    types = rank(initialised, "mdcr_constructed", options)
    for system in SYSTEMS:
        by_type = {
            subset.removeprefix("type="): value
            for (measure, subset), value in types[system].items()
            if measure == "AP" and subset.startswith("type=") and "/" not in subset
        }
        assert set(by_type) == {*SYSTEMS, "graph", "most_cited", "random"}
        # As the paper reports: graph neighbours are hardest, then what models rank high; random ones easiest.
        assert sorted(by_type, key=by_type.__getitem__)[0] == "graph"
        assert sorted(by_type, key=by_type.__getitem__)[3:] == ["most_cited", "random"]
