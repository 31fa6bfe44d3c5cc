"""SciNCL's published table, to four decimals: from MDCR's own pools and scores, where they are.

`PINAKES_MDCR` names the folder of the release: `mdcr_test.json`, `mdcr_test_data.jsonl`, and the scores in a
file whose name holds `scincl` and `scores`.
"""

import os
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.definition import read_benchmark
from pinakes.queries.install import initialise
from pinakes.run.import_run import ImportRequest, import_run

RELEASE = Path(os.environ.get("PINAKES_MDCR", ""))


@pytest.mark.real_data
@pytest.mark.skipif("PINAKES_MDCR" not in os.environ, reason="PINAKES_MDCR names no folder of MDCR's files")
def test_scincl_scores_what_its_authors_print(database: Database) -> None:
    initialise(database)
    load(database, LoadRequest("mdcr", RELEASE))
    (scores,) = [path for path in RELEASE.glob("*scores*.json*") if "scincl" in path.name.lower()]
    import_run(database, ImportRequest("mdcr", "SciNCL", [scores], "mdcr"))
    (result,) = evaluate(database, "mdcr")
    found = {(score.subset, score.measure): score.value for score in result.aggregates()}
    printed = [score for score in read_benchmark("mdcr").published if "README" in score.source]
    assert len(printed) == 12
    for score in printed:
        ours = round(100 * found[score.subset, score.measure], 4)
        assert (score.subset, score.measure, ours) == (score.subset, score.measure, float(score.printed))
