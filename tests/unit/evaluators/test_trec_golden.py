"""trec_eval's published test run, per query and over all queries."""

import pytest

from pinakes.errors import UnknownNameError
from pinakes.evaluators.aggregate import aggregate
from pinakes.evaluators.registry import parse_measure
from tests.real_data import REAL_DATA, needs_real_data
from tests.scoring import RankedPaper, evaluate
from tests.trec_names import TREC_NAMES, translate_trec_name

FOLDER = REAL_DATA / "trec" / "trec_eval"

VERSION_9 = {
    ("iprec_at_recall_0.10", "301"): "0.2096",
    ("iprec_at_recall_0.10", "all"): "0.3884",
    ("iprec_at_recall_0.60", "302"): "0.1420",
    ("iprec_at_recall_0.60", "all"): "0.0822",
}
"""what version 9 gives; the published file is of version 10, which rounds the level's number of papers"""


def read_fields(name: str) -> list[list[str]]:
    return [line.split() for line in (FOLDER / name).read_text().splitlines()]


def is_known(trec_name: str) -> bool:
    try:
        return bool(translate_trec_name(trec_name))
    except UnknownNameError:
        return False


@needs_real_data
def test_every_measure_equals_the_published_output_of_trec_eval() -> None:
    rankings: dict[str, list[RankedPaper]] = {}
    for query_id, _, source_id, _, score, _ in read_fields("results.test"):
        rankings.setdefault(query_id, []).append(RankedPaper(source_id, float(score)))
    judgments: dict[str, dict[str, int]] = {}
    for query_id, _, source_id, grade in read_fields("qrels.test"):
        judgments.setdefault(query_id, {})[source_id] = int(grade)
    published = {
        (name, query_id): value for name, query_id, value in read_fields("out.test.aq") if is_known(name)
    }
    scores = evaluate(rankings, judgments, {translate_trec_name(name) for name, _ in published})
    values = {
        (score.measure, score.query_id or score.subset): score.value
        for score in [*scores, *aggregate(scores)]
    }
    ours = {
        (name, query_id): write_like(value, values[translate_trec_name(name), query_id])
        for (name, query_id), value in published.items()
    }
    assert len(published) == 256
    assert ours == published | VERSION_9


def write_like(published: str, value: float) -> str:
    return f"{value:.4f}" if "." in published else f"{value:.0f}"


@pytest.mark.parametrize(
    "trec_name", [name.replace("_*", "_10") for name in TREC_NAMES if "recall_*" not in name]
)
def test_every_name_of_trec_eval_is_a_measure_under_its_canonical_name(trec_name: str) -> None:
    ours = translate_trec_name(trec_name)
    assert parse_measure(ours).name == ours


@pytest.mark.parametrize("trec_name", ["gm_map", "P_", "P_*", "P_ten", "11pt_avg", ""])
def test_an_unknown_name_of_trec_eval_lists_the_known_ones(trec_name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"(unknown measure|no measure) of trec_eval.*; known: P_\*, "):
        translate_trec_name(trec_name)
