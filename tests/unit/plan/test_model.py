"""The model of `pinakes plan`: its arithmetic, its units, and what breaks first."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pinakes.cluster import fragments, sparse
from pinakes.indexers.encoder import encode
from pinakes.indexers.sparse_bm25 import build
from pinakes.loaders import staging
from pinakes.plan import model
from pinakes.plan.model import NUMBERED_PAPERS, Machines, Step, Work, find_limits, predict
from pinakes.plan.rates import ORIGINS, RATES, Rate

WORK = Work(2_000_000)
ALONE = Machines(cores=2, memory=24_000_000_000)
CLUSTER = Machines(nodes=4, cores=16, gpus=8, memory=128_000_000_000)


def by_name(work: Work = WORK, machines: Machines = ALONE, **values: float) -> dict[str, Step]:
    rates = {name: replace(rate, value=values.get(name, rate.value)) for name, rate in RATES.items()}
    return {step.step: step for step in predict(work, machines, rates)}


def test_a_worker_has_as_many_rows_as_the_cluster_gives_it() -> None:
    # Written again in the model, which is imported without them.
    assert model.FRAGMENT_ROWS == fragments.FRAGMENT_ROWS
    assert model.ANALYSED_ROWS == sparse.BLOCKS_ANALYSED * build.BLOCK_ROWS
    assert model.ENCODED_ROWS == encode.WINDOW
    assert model.CHUNK_BYTES == staging.CHUNK_BYTES


def test_the_steps_are_those_of_the_figures_in_the_manual() -> None:
    """What the rates were taken from comes out again."""
    work = replace(WORK, citations=9.7)
    steps = by_name(work)
    assert steps["load"].seconds == pytest.approx(84 + 1, rel=0.02)
    assert steps["index, sparse_bm25"].seconds == pytest.approx(2 * 13.7 + 1, rel=0.02)
    assert steps["exact search"].seconds == pytest.approx(38.3 + 3.7, rel=0.02)
    assert steps["ranking, sparse_bm25"].seconds == pytest.approx(26.0 + 1, rel=0.02)
    hits = by_name(replace(work, pools=12))["hits stored and scored"]
    assert hits.seconds == pytest.approx(45.6 * (0.55 + 0.22) + 1, rel=0.01)


def test_an_encoder_costs_its_parameters_and_the_pairs_of_its_tokens() -> None:
    work = Work(1, tokens=512, parameters=12 * 768**2 * 12, dimensions=768)
    linear = 2 * 12 * (4 * 768 * 768 + 2 * 768 * 3072) * 512
    attention = 12 * 4 * 768 * 512**2
    assert work.encode_flop == linear + attention


def test_gpus_encode_where_there_are_any_and_share_the_texts() -> None:
    slow = by_name(machines=ALONE)["encode"]
    one = by_name(machines=replace(ALONE, gpus=1, cores=64))["encode"]
    waiting = by_name(machines=replace(ALONE, gpus=1, cores=2))["encode"]
    eight = by_name(Work(200_000_000), CLUSTER)["encode"]
    assert (slow.bound, one.bound, eight.bound) == ("CPU", "GPU", "GPU")
    assert one.seconds - 3.7 == pytest.approx(WORK.encode_flop / 366e12)
    assert eight.seconds - 3.7 == pytest.approx(100 * WORK.encode_flop / 366e12 / 8)
    # Two cores tokenise for less than one GPU.
    assert waiting.bound == "CPU"
    assert waiting.seconds - 3.7 == pytest.approx(WORK.papers * WORK.tokens * 2.14e-6 / 2)
    assert eight.workers == 2


@pytest.mark.parametrize("step", ["encode", "exact search", "index, sparse_bm25"])
def test_a_slow_network_bounds_what_is_sent(step: str) -> None:
    slow = by_name(WORK, replace(CLUSTER, network=1e6))[step]
    assert slow.bound == "network"
    assert slow.network_bytes > 0
    assert by_name(WORK, ALONE)[step].network_bytes == 0  # one machine sends nothing


def test_what_one_process_does_is_no_faster_on_more_machines() -> None:
    few, many = by_name(WORK, CLUSTER), by_name(WORK, replace(CLUSTER, nodes=64, gpus=128))
    for name in ("load", "pools in SQL", "construction in SQL", "hits stored and scored"):
        assert few[name].bound == "one process"
        assert few[name].seconds == many[name].seconds
    assert many["encode"].seconds < few["encode"].seconds


def test_lookups_of_a_load_grow_with_the_square_and_nothing_else_does() -> None:
    small, large = by_name(Work(1_000_000)), by_name(Work(100_000_000))
    for name, step in small.items():
        start = 3.7 if name in ("encode", "exact search") else 1.0
        grown = (large[name].seconds - start) / (step.seconds - start)
        if name == "load":
            assert grown > 200
        else:
            assert grown <= 100 * (1 + 1e-9)
    server = replace(ALONE, database="postgresql")
    grown = (
        by_name(Work(100_000_000), server)["load"].seconds / by_name(Work(1_000_000), server)["load"].seconds
    )
    assert grown <= 100  # it has an index


def test_a_step_is_no_better_known_than_its_worst_rate() -> None:
    known = {name: replace(rate, origin="measured") for name, rate in RATES.items()}
    assert {step.rates for step in predict(WORK, ALONE, known)} == {"measured"}
    known["rank_ns"] = replace(RATES["rank_ns"], origin="assumed")
    found = {step.step: step for step in predict(WORK, ALONE, known)}
    assert found["ranking, sparse_bm25"].rates == "assumed"
    assert found["ranking, sparse_bm25"].assumed == ("rank_ns",)
    assert found["load"].rates == "measured"


def test_how_far_beyond_its_measurement_a_step_goes_is_told() -> None:
    assert by_name(Work(200_000_000))["pools in SQL"].beyond == pytest.approx(200 / 2.2)


def test_sharing_is_assumed_as_soon_as_there_are_two_machines() -> None:
    shared = by_name(WORK, replace(ALONE, nodes=2))
    assert "sharing" in shared["encode"].assumed
    assert "sharing" not in by_name()["encode"].assumed
    half = by_name(WORK, replace(ALONE, nodes=2), sharing=0.5)["encode"]
    assert half.seconds == pytest.approx(by_name()["encode"].seconds)


def test_something_breaks_at_the_number_of_papers_that_is_told_and_not_before() -> None:
    machines = replace(CLUSTER, disk=10**12)
    limits = find_limits(WORK, machines, RATES)
    assert [limit.papers for limit in limits] == sorted(limit.papers for limit in limits)
    assert not any(limit.reached for limit in limits)
    told = {limit.what: limit.papers for limit in limits}
    assert told["ranks among equal scores, which are uint32"] == NUMBERED_PAPERS
    cases: dict[str, Callable[[dict[str, Step]], bool]] = {
        "disk": lambda steps: sum(step.disk_bytes for step in steps.values()) > 10**12,
        "time of one process, load": lambda steps: steps["load"].seconds > 86_400,
        "memory of a machine, index, sparse_bm25": lambda steps: (
            steps["index, sparse_bm25"].node_bytes > machines.memory
        ),
    }
    for what, breaks in cases.items():
        papers = told[what]
        assert breaks(by_name(replace(WORK, papers=papers), machines)), what
        assert not breaks(by_name(replace(WORK, papers=papers - 1), machines)), what


def test_what_breaks_already_is_told_as_reached() -> None:
    first = find_limits(Work(200_000_000), replace(CLUSTER, disk=10**9), RATES)[0]
    assert (first.what, first.reached) == ("disk", True)
    assert find_limits(Work(1000), replace(ALONE, memory=1_000_000_000), RATES)[0].papers == 1
    late = {limit.what for limit in find_limits(WORK, CLUSTER, RATES, most_s=10) if limit.reached}
    assert {"time of one process, load", "time of one process, pools in SQL"} <= late


def test_every_rate_says_where_it_is_from() -> None:
    for name, rate in RATES.items():
        assert isinstance(rate, Rate)
        assert rate.value > 0, name
        assert rate.unit, name
        assert rate.source, name
        assert rate.origin in ORIGINS[2:], name
        assert (rate.origin == "manual") == (".md" in rate.source or ".py" in rate.source) or (
            rate.origin == "assumed"
        ), name


def test_every_rate_is_taken_by_some_step() -> None:
    """A rate that nothing takes would be a number without a use."""

    class Noting(dict[str, Rate]):
        def __init__(self) -> None:
            super().__init__(RATES)
            self.read: set[str] = set()

        def __getitem__(self, name: str) -> Rate:
            self.read.add(name)
            return super().__getitem__(name)

    noting = Noting()
    for machines in (ALONE, CLUSTER, replace(CLUSTER, gpus=0, database="postgresql")):
        predict(WORK, machines, noting)
    assert set(RATES) - noting.read == set()
