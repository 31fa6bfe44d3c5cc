"""The columns of `runs` that say what was run, and what their digest depends on."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pinakes import __version__
from pinakes.queries.definition import read_benchmark
from pinakes.run.run import describe_run
from pinakes.systems.base import SystemDescription
from pinakes.workload.workload import Workload

WORKLOAD = Workload(
    benchmark=replace(read_benchmark("scifact"), depth=10),
    query_template="text",
    paper_template="title_abstract",
    query_ids=["q1", "q2"],
    query_texts=["one", ""],
    paper_ids=np.array([3, 5, 8]),
    source_ids=np.array(["c", "a", "b"], dtype=object),
    tie_order=np.array([0, 2, 1]),
    has_text=np.array([True, False, True]),
    pools=None,
    digest="of the data",
)
DESCRIPTION = SystemDescription({"k1": 1.2, "b": 0.75}, "cpu", 4, "rev", "fp32")


def describe(
    workload: Workload = WORKLOAD, system: str = "bm25", description: SystemDescription = DESCRIPTION
) -> dict[str, Any]:
    return describe_run(workload, system, description)


def test_a_run_is_described_by_all_that_decides_it() -> None:
    row = describe()
    assert row.pop("run_digest") == describe()["run_digest"]
    assert row == {
        "benchmark": "scifact",
        "system": "bm25",
        "parameters": '{"b":0.75,"k1":1.2}',
        "encoder_id": 4,
        "encoder_revision": "rev",
        "precision": "fp32",
        "query_template": "text",
        "paper_template": "title_abstract",
        "code_version": __version__,
        "dataset_digest": "of the data",
        "view_digest": read_benchmark("scifact").digest,
        "mode": "corrected",
        "corpus": None,
        "variants": None,
        "device": "cpu",
        "depth": 10,
        "queries_expected": 2,
        "candidates_expected": 3,
        "candidates_without_text": 1,
    }


CHANGES: dict[str, dict[str, Any]] = {
    "system": {"system": "tfidf"},
    "parameters": {"description": replace(DESCRIPTION, parameters={"k1": 1.2, "b": 0.7})},
    "encoder": {"description": replace(DESCRIPTION, encoder_revision="other")},
    "precision": {"description": replace(DESCRIPTION, precision="bf16")},
    "query template": {"workload": replace(WORKLOAD, query_template="title")},
    "paper template": {"workload": replace(WORKLOAD, paper_template="abstract")},
    "data": {"workload": replace(WORKLOAD, digest="of other data")},
    "benchmark": {"workload": replace(WORKLOAD, benchmark=replace(WORKLOAD.benchmark, name="own"))},
    "views": {"workload": replace(WORKLOAD, benchmark=replace(WORKLOAD.benchmark, digest="other"))},
    "depth": {"workload": replace(WORKLOAD, benchmark=replace(WORKLOAD.benchmark, depth=None))},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_a_ranking_changes_the_digest(change: str) -> None:
    assert describe(**CHANGES[change])["run_digest"] != describe()["run_digest"]


@pytest.mark.parametrize(
    "description",
    [
        replace(DESCRIPTION, device="cuda"),
        replace(DESCRIPTION, encoder_id=9),
        replace(DESCRIPTION, parameters=json.loads('{"b": 0.75, "k1": 1.2}')),
    ],
)
def test_neither_device_nor_ids_of_ours_nor_the_order_of_parameters_do(
    description: SystemDescription,
) -> None:
    assert describe(description=description)["run_digest"] == describe()["run_digest"]


def test_a_digest_is_the_same_in_every_version_of_this_code() -> None:
    # a digest that changes makes every stored run a new one: change the literal only if that is meant
    row = describe(replace(WORKLOAD, benchmark=replace(WORKLOAD.benchmark, digest="of the folder")))
    assert __version__ == "0.1.0"
    assert row["run_digest"] == "92efd4cee84bcf0f114b2d02d3b064d31574dbd8a723825ef070b277d44136ce"
