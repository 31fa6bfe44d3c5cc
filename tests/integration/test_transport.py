"""A paper is ranked by optimal transport between its sentences and the query's, from the same vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.indexers.encoder import presets
from pinakes.indexers.encoder.presets import list_presets
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.transport.plans import TransportSettings, measure_transport
from pinakes.progress import Silent
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.systems.names import list_systems
from pinakes.systems.registry import find_system
from tests.benching import ABSTRACTS, POOLS, change
from tests.integration.sentence_systems import (
    encode_alone,
    encode_in_context,
    expect,
    make,
    rank,
    read,
    require_close,
)
from tests.long import alternate, long
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

OPTIONS: list[tuple[dict[str, str], TransportSettings]] = [
    ({}, TransportSettings()),
    ({"marginals": "uniform"}, TransportSettings("uniform")),
    ({"temperature": "0.01", "regularisation": "0.05"}, TransportSettings("aspire", 0.01, 0.05)),
]


DATABASES = ("duckdb", "postgresql")


@pytest.fixture(scope="module")
def bare_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "bare"
    return str(build_toy_encoder(folder, sentence_transformers_layout=False))


def measure_l2(left: Vectors, right: Vectors) -> Any:
    return np.linalg.norm(left[:, None].astype(np.float64) - right[None], axis=2)


@pytest.mark.parametrize("context", ["no", "yes"])
def test_papers_rank_by_transport(prepared: Database, bare_folder: str, tmp_path: Path, context: str) -> None:
    workload = read(prepared)
    make(bare_folder, tmp_path, "transport", context=context).index(prepared, workload, Silent())
    vector_of = encode_in_context(bare_folder) if context == "yes" else encode_alone(bare_folder)
    for options, settings in OPTIONS:
        system = make(bare_folder, tmp_path, "transport", context=context, distance="l2", **options)

        def score(left: Vectors, right: Vectors, settings: TransportSettings = settings) -> float:
            return -measure_transport(measure_l2(left, right), settings)

        require_close(rank(system, prepared, workload), expect(vector_of, score, of_facet=False))
        assert system.name == "transport:bare"


@pytest.mark.parametrize(
    ("prepared_url", "first", "context"),
    alternate(DATABASES, ("sentences", "transport"), ("no", "yes")),
    indirect=["prepared_url"],
)
def test_indexing_one_kind_of_match_serves_both(
    prepared: Database, bare_folder: str, tmp_path: Path, first: str, context: str
) -> None:
    workload = read(prepared)
    (second,) = {"sentences", "transport"} - {first}
    added = make(bare_folder, tmp_path, first, context=context).index(prepared, workload, Silent()).added
    assert added > 0
    other = make(bare_folder, tmp_path, second, context=context)
    found = rank(other, prepared, workload)
    again = other.index(prepared, workload, Silent())
    assert (again.added, again.existing) == (0, added)
    by_first = rank(make(bare_folder, tmp_path, first, context=context), prepared, workload)
    # One rule for what has no sentence: paper 8, and the query 2_method, are in no ranking of either.
    assert {query: set(scores) for query, scores in found.items()} == {
        query: set(scores) for query, scores in by_first.items()
    }
    assert "2_method" not in found
    assert set(found["1_background"]) == {"3", "4", "5", "6"}


def test_a_candidate_without_a_sentence_stands_last_for_the_benchmarks_measures(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    workload = read(prepared)
    options = SystemOptions(tmp_path, device="cpu", precision="fp32")
    for kind in ("sentences", "transport"):
        make(bare_folder, tmp_path, kind).index(prepared, workload, Silent())
        ranked = rank(make(bare_folder, tmp_path, kind), prepared, workload)["1_background"]
        made = run(prepared, RunRequest("csfcube", f"{kind}:{bare_folder}", options))
        assert made.hit_count == 15
        (scored,) = evaluate(prepared, "csfcube", run_ids=[made.run_id], measures=["CSFCube.AP"])
        (precision,) = (score.value for score in scored.scores if score.query_id == "1_background")
        # Paper 8, of grade 2, has no sentence: behind the others, not out of the count.
        grades = [POOLS["background"]["1"][paper] for paper in [*ranked, "8"]]
        relevant = [place for place, grade in enumerate(grades, 1) if grade >= 2]
        by_hand = sum(number / place for number, place in enumerate(relevant, 1)) / len(relevant)
        assert len(relevant) == 3
        assert precision == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("prepared_url", "kind", "context"),
    alternate(DATABASES, ("sentences", "transport"), ("no", "yes")),
    indirect=["prepared_url"],
)
def test_candidates_of_a_facet_are_compared_by_their_sentences_of_it(
    prepared: Database, bare_folder: str, tmp_path: Path, kind: str, context: str
) -> None:
    workload = read(prepared)
    system = make(bare_folder, tmp_path, kind, context=context, candidates="facet", distance="l2")
    system.index(prepared, workload, Silent())

    def score(left: Vectors, right: Vectors) -> float:
        distances = measure_l2(left, right)
        return -(
            measure_transport(distances, TransportSettings()) if kind == "transport" else distances.min()
        )

    vector_of = encode_in_context(bare_folder) if context == "yes" else encode_alone(bare_folder)
    found = rank(system, prepared, workload)
    require_close(found, expect(vector_of, score, of_facet=True))
    # Papers 5 and 6 have no background: as papers without any sentence, they are in no ranking of it.
    assert set(found["1_background"]) == {"3", "4"}
    described = system.describe(prepared, workload).parameters
    assert described["candidates"] == "facet"
    change(prepared, "UPDATE sentences SET facet = 'other' WHERE text = 'Weather.'")
    after = system.describe(prepared, workload).parameters
    assert after["facets_digest"] != described["facets_digest"]
    assert {**after, "facets_digest": ""} == {**described, "facets_digest": ""}


def test_candidates_of_a_facet_need_queries_with_facets(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    change(
        prepared,
        "INSERT INTO sentences (paper_id, section_number, position, text) "
        "SELECT paper_id, 0, 1, abstract FROM papers WHERE source_id IN ('p1', 'p2', 'p10')",
    )
    workload, system = read(prepared, "scifact"), make(bare_folder, tmp_path, candidates="facet")
    system.index(prepared, workload, Silent())
    with pytest.raises(InputError, match=r"queries of scifact ask with none\. Leave the option out"):
        system.describe(prepared, workload)
    # A query that is told by sentences of a user's choice has no facet, beside others that have one.
    change(
        prepared,
        "INSERT INTO sentence_selections (corpus_id, query_id, selection, position, batch_id) "
        "SELECT corpus_id, query_id, 'mine', 1, 1 FROM benchmark_queries WHERE query_id = '1_background'",
    )
    by_sentences = read(prepared, "csfcube_sentences")
    assert "1_background/mine" in by_sentences.query_ids
    system.index(prepared, by_sentences, Silent())
    with pytest.raises(InputError, match="queries of csfcube_sentences ask with none"):
        system.describe(prepared, by_sentences)
    all_of_them = rank(make(bare_folder, tmp_path, "transport"), prepared, by_sentences)
    assert set(all_of_them["1_background/mine"]) == {"3", "4", "5", "6"}


def test_a_shared_pool_is_ranked_whole_or_to_a_depth(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    change(
        prepared,
        "INSERT INTO sentences (paper_id, section_number, position, text) "
        "SELECT paper_id, 0, 1, abstract FROM papers WHERE source_id IN ('p1', 'p2', 'p10')",
    )
    workload, system = read(prepared, "scifact"), make(bare_folder, tmp_path, "transport", distance="l2")
    system.index(prepared, workload, Silent())
    ranked = rank(system, prepared, workload)
    # Equal scores: the source id that is greater byte by byte comes first; paper p3 has no sentence.
    assert list(ranked["q1"]) == ["p2", "p10", "p1"]
    assert ranked["q1"]["p2"] == ranked["q1"]["p10"] == 0.0
    assert list(ranked) == ["q1"]
    options = SystemOptions(tmp_path, device="cpu", precision="fp32")
    made = run(prepared, RunRequest("scifact", f"transport:{bare_folder}", options, depth=2))
    assert (made.queries_answered, made.hit_count) == (1, 2)


@pytest.mark.parametrize("candidates", [long("all"), "facet"])
@pytest.mark.parametrize(("context", "regularisation"), alternate(("no", "yes"), ("0", "0.05")))
def test_both_databases_and_a_second_run_give_the_same_bits(
    both_prepared: tuple[Database, Database],
    bare_folder: str,
    tmp_path: Path,
    candidates: str,
    context: str,
    regularisation: str,
) -> None:
    options = {"context": context, "regularisation": regularisation, "candidates": candidates}
    found, described = [], []
    for database in both_prepared:
        system = make(bare_folder, tmp_path, "transport", **options)
        workload = read(database)
        system.index(database, workload, Silent())
        found += [rank(system, database, workload), rank(system, database, workload)]
        described.append(system.describe(database, workload).parameters)
    assert described[0] == described[1]
    assert found[0] == found[1] == found[2] == found[3]
    assert sum(map(len, found[0].values())) == (15 if candidates == "all" else 8)


def test_what_decides_a_score_is_described(prepared: Database, bare_folder: str, tmp_path: Path) -> None:
    workload = read(prepared)
    system = make(bare_folder, tmp_path, "transport", distance="l2", regularisation="0.05", temperature="2")
    with pytest.raises(
        RunError, match=f"do it with `pinakes index csfcube --system transport:{bare_folder} "
    ):
        system.describe(prepared, workload)
    system.index(prepared, workload, Silent())
    described = system.describe(prepared, workload).parameters
    digest = described.pop("sentences_digest")
    assert len(digest) == 64
    assert described == {
        "encoder": "bare_fp32",
        "distance": "l2",
        "search": "exact",
        "context": "no",
        "score": "optimal transport between sentences",
        "marginals": "aspire",
        "temperature": 2.0,
        "regularisation": 0.05,
        "candidates": "all",
    }
    uniform = make(bare_folder, tmp_path, "transport", marginals="uniform")
    described = uniform.describe(prepared, workload).parameters
    assert "temperature" not in described
    assert (described["marginals"], described["regularisation"]) == ("uniform", 0.0)
    in_context = make(bare_folder, tmp_path, "transport", context="yes")
    in_context.index(prepared, workload, Silent())
    described = in_context.describe(prepared, workload).parameters
    assert described["score"] == "optimal transport between sentences in context"
    assert described["sentences_behind_limit"] == 0


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"temperature": "warm"}, InputError, "temperature is 'warm'; expected a number"),
        ({"temperature": "-1"}, InputError, "temperature is '-1'; expected a number above 0"),
        ({"regularisation": "nan"}, InputError, "regularisation is 'nan'; expected a number of at least 0"),
        ({"marginals": "equal"}, InputError, "marginals is 'equal'; expected aspire or uniform"),
        ({"blur": "0.05"}, UnknownNameError, "unknown option of transport:"),
        (
            {"distance": "inner_product"},
            InputError,
            "distance of a transport is inner_product; expected cosine",
        ),
        ({"context": "maybe"}, InputError, "context is 'maybe'; expected yes or no"),
    ],
)
def test_an_option_that_a_transport_has_not_is_refused(
    bare_folder: str, tmp_path: Path, parameters: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        make(bare_folder, tmp_path, "transport", **parameters)


TRANSPORT = "optimal transport between sentences in context"
BEST_PAIR = "best pair of sentences in context"


@pytest.mark.parametrize(
    ("prepared_url", "preset_of"),
    alternate(
        DATABASES,
        [
            ("ot_aspire_cs", "transport:ot_aspire_cs", TRANSPORT),
            ("ot_aspire_biomed", "transport:ot_aspire_biomed", TRANSPORT),
            ("ts_aspire_cs", "sentences:ts_aspire_cs", BEST_PAIR),
            ("sentences:ot_aspire_cs", "sentences:ot_aspire_cs", BEST_PAIR),
            ("transport:ts_aspire_cs", "transport:ts_aspire_cs", TRANSPORT),
        ],
    ),
    indirect=["prepared_url"],
)
def test_a_preset_is_matched_as_it_was_published_unless_the_name_says_how(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset_of: tuple[str, str, str]
) -> None:
    name, system, score = preset_of
    folder = build_toy_encoder(tmp_path / "bare", sentence_transformers_layout=False)
    requested: list[tuple[str, str | None]] = []

    def download(hub_id: str, *, revision: str | None, **_: object) -> str:
        requested.append((hub_id, revision))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.setattr(presets, "_package_folder", lambda preset: None)
    options = SystemOptions(tmp_path, device="cpu", precision="fp32")
    made, workload = find_system(name, options), read(prepared)
    assert made.name == system
    preset = list_presets()[name.rpartition(":")[2]]
    assert requested == [(preset.hub_id, preset.revision)]
    made.index(prepared, workload, Silent())
    described = made.describe(prepared, workload).parameters
    assert (described["score"], described["distance"]) == (score, "l2")


def test_the_systems_of_sentences_are_listed_with_one_encoder_each() -> None:
    assert {"sentences:SYSTEM", "transport:SYSTEM", "ot_aspire_cs"} <= set(list_systems())
    assert "transport:SYSTEM,SYSTEM" not in list_systems()


def test_every_sentence_counts_in_a_transport(prepared: Database, bare_folder: str, tmp_path: Path) -> None:
    workload = read(prepared)
    system = make(bare_folder, tmp_path, "transport", marginals="uniform", distance="l2")
    system.index(prepared, workload, Silent())
    by_pair = rank(make(bare_folder, tmp_path, distance="l2"), prepared, workload)
    for query, scores in rank(system, prepared, workload).items():
        for paper, score in scores.items():
            many = len(ABSTRACTS[paper]) > 1
            assert score < by_pair[query][paper] if many else score <= by_pair[query][paper]
