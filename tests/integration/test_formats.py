"""A benchmark is answered with the embedding of its format: by codes, adapters, members and means."""

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pytest
import sqlalchemy as sa
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, RunError, UnknownNameError
from pinakes.evaluate.cross_format import CrossFormatRequest, average_formats, cross_format
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.approximate import FaissRequest, index_faiss
from pinakes.index.index import index, index_corpus
from pinakes.indexers.encoder.adapters import attach_adapter
from pinakes.queries.relations import select_candidate_texts
from pinakes.report.output import Output
from pinakes.report.present.cross_format import print_cross_format
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import RunSummary
from pinakes.schema import papers, runs
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from pinakes.systems.registry import find_system
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.readers import CODES
from tests.benching import BENCHMARK_TOML, count, read_hits, write_benchmark
from tests.calling import Call
from tests.long import long
from tests.toy_adapter import build_toy_adapter
from tests.toy_codes import build_toy_codes
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

Vectors = NDArray[np.float32]

QUERY: Final = "graph models"
PAPERS: Final = {
    "p1": "Graphs[SEP]citation graph retrieval",
    "p2": "[SEP]graph models",
    "p10": "[SEP]graph models",
}
"""what SPECTER's template says of the papers of the corpus scifact that have a text"""
FORMATS: Final = {"CLF": "clf", "PRX": "prx", "SRCH": "srch"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The models of SciRepEval by their ids on the hub, with toy weights."""
    folder = tmp_path_factory.mktemp("hub")
    adapters = {
        f"allenai/scirepeval_adapters_{code.lower()}": build_toy_adapter(
            folder / code, f"[{code}]", seed=number
        )
        for number, code in enumerate(CODES)
    }
    return {
        "allenai/scirepeval_ctrl": build_toy_codes(folder / "ctrl", seed=11),
        "malteos/scincl": build_toy_encoder(folder / "scincl", seed=5, sentence_transformers_layout=False),
        "intfloat/e5-base-v2": build_toy_encoder(folder / "e5", seed=9, sentence_transformers_layout=False),
        **adapters,
    }


@pytest.fixture(autouse=True)
def toy_models(hub: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks of three formats over the corpus scifact, and one without; models with toy weights."""
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda hub_id, **_: str(hub[hub_id]))
    for format, name in FORMATS.items():
        toml = f'format = "{format}"\n{BENCHMARK_TOML}'
        write_benchmark(tmp_path / "benchmarks", name, corpus="scifact", toml=toml)
    write_benchmark(tmp_path / "benchmarks", "plain", corpus="scifact")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "benchmarks"))


def choose(tmp_path: Path, **given: Any) -> SystemOptions:
    return SystemOptions(tmp_path / "indexes", precision="fp32", device="cpu", **given)


def rank(database: Database, benchmark: str, system: str, options: SystemOptions) -> RunSummary:
    index(database, benchmark, system, options=options)
    return run(database, RunRequest(benchmark, system, options))


def read_run(database: Database, run_id: int) -> dict[str, Any]:
    with database.read() as session:
        row = session.first(sa.select(runs).where(runs.c.run_id == run_id))
    assert row is not None
    return {**row, "parameters": orjson.loads(row["parameters"])}


def embed(folder: Path, texts: list[str], *, place: int = 0, adapter: Path | None = None) -> Vectors:
    """The state of one token of each text, by transformers alone; an adapter as it is tested elsewhere."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    if adapter is not None:
        attach_adapter(model, adapter)
    with torch.inference_mode():
        outputs = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state for text in texts]
    found: Vectors = torch.stack([output[0, place] for output in outputs]).numpy()
    return found


def list_distances(query: Vectors, found: Vectors) -> dict[str, float]:
    """Minus the Euclidean distance of each paper."""
    return dict(zip(PAPERS, (-np.linalg.norm(found - query, axis=1)).tolist(), strict=True))


def read_codes(hub: dict[str, Path], query: str, paper: str) -> tuple[Vectors, Vectors]:
    folder = hub["allenai/scirepeval_ctrl"]
    texts = [f"[{paper}] {text}" for text in PAPERS.values()]
    return embed(folder, [f"[{query}] {QUERY}"], place=1), embed(folder, texts, place=1)


def read_adapters(hub: dict[str, Path], query: str, paper: str) -> tuple[Vectors, Vectors]:
    adapters = {code: hub[f"allenai/scirepeval_adapters_{code.lower()}"] for code in CODES}
    folder = hub["malteos/scincl"]
    return (
        embed(folder, [QUERY], adapter=adapters[query]),
        embed(folder, list(PAPERS.values()), adapter=adapters[paper]),
    )


def check_hits(database: Database, run_id: int, query: Vectors, found: Vectors) -> None:
    hits = {paper: score for query_id, paper, _, score in read_hits(database, run_id) if query_id == "q1"}
    assert hits == pytest.approx(list_distances(query, found), abs=1e-5)


@pytest.mark.in_turn
@pytest.mark.parametrize(("benchmark", "codes"), [("prx", ("PRX", "PRX")), ("srch", ("QRY", "PRX"))])
def test_codes_adapters_and_their_mean_answer_by_the_format(
    prepared: Database, tmp_path: Path, hub: dict[str, Path], benchmark: str, codes: tuple[str, str]
) -> None:
    options = choose(tmp_path)
    by_code, by_adapter = read_codes(hub, *codes), read_adapters(hub, *codes)
    made = {
        system: rank(prepared, benchmark, system, options)
        for system in (
            "scirepeval_ctrl",
            "scirepeval_adapters",
            "mean:scirepeval_adapters,scirepeval_ctrl",
        )
    }
    assert [one.system for one in made.values()] == list(made)
    check_hits(prepared, made["scirepeval_ctrl"].run_id, *by_code)
    check_hits(prepared, made["scirepeval_adapters"].run_id, *by_adapter)
    query, found = ((left + right) / np.float32(2) for left, right in zip(by_code, by_adapter, strict=True))
    check_hits(prepared, made["mean:scirepeval_adapters,scirepeval_ctrl"].run_id, query, found)


def test_a_run_says_who_read_what_and_nothing_of_other_formats(prepared: Database, tmp_path: Path) -> None:
    options = choose(tmp_path)
    proximity = rank(prepared, "prx", "scirepeval_adapters", options)
    search_run = rank(prepared, "srch", "scirepeval_adapters", options)
    assert read_run(prepared, proximity.run_id)["parameters"] == {
        "encoder": "scirepeval_adapters_prx_fp32",
        "distance": "l2",
        "search": "exact",
    }
    assert read_run(prepared, search_run.run_id)["parameters"] == {
        "encoder": "scirepeval_adapters_prx_fp32",
        "query_encoder": "scirepeval_adapters_qry_fp32",
        "distance": "l2",
        "search": "exact",
    }
    codes = read_run(prepared, rank(prepared, "srch", "scirepeval_ctrl", options).run_id)
    assert codes["parameters"] == {
        "encoder": "scirepeval_ctrl_fp32",
        "prefixes": ["[PRX] "],
        "query_encoder": "scirepeval_ctrl_fp32",
        "query_prefixes": ["[QRY] "],
        "distance": "l2",
        "search": "exact",
    }
    assert (codes["query_template"], codes["paper_template"]) == ("text", "specter")
    assert count(prepared, "vectors_scirepeval_ctrl_fp32") == 3


def test_a_member_answers_for_its_format_as_it_would_alone(
    prepared: Database, tmp_path: Path, hub: dict[str, Path]
) -> None:
    options = choose(tmp_path)
    system = "formats:CLF=/not/there,PRX=scincl,QRY=scirepeval_adapters_qry,RGN=mean:/nor,/there"
    alone = rank(prepared, "prx", "scincl", options)
    assert rank(prepared, "prx", system, options) == RunSummary(
        **{
            **{name: getattr(alone, name) for name in RunSummary.__slots__},
            "existing": True,
        }
    )
    mixed = rank(prepared, "srch", system, options)
    assert mixed.system == "formats:PRX=scincl,QRY=scirepeval_adapters_qry"
    assert run(prepared, RunRequest("srch", mixed.system, options)).run_id == mixed.run_id
    check_hits(
        prepared,
        mixed.run_id,
        read_adapters(hub, "QRY", "QRY")[0],
        embed(hub["malteos/scincl"], list(PAPERS.values())),
    )
    with pytest.raises(InputError, match=r"has no encoder for CLF; it has PRX\. Add CLF=ENCODER"):
        run(prepared, RunRequest("clf", "formats:PRX=scincl", options))


def test_a_forced_code_is_a_run_of_another_name_and_the_own_code_is_not(
    prepared: Database, tmp_path: Path, hub: dict[str, Path]
) -> None:
    own = rank(prepared, "prx", "scirepeval_ctrl", choose(tmp_path))
    same = run(prepared, RunRequest("prx", "scirepeval_ctrl", choose(tmp_path, format="PRX")))
    assert (same.run_id, same.existing) == (own.run_id, True)
    for system in ("scirepeval_ctrl", "scirepeval_adapters"):
        forced = rank(prepared, "prx", system, choose(tmp_path, format="RGN"))
        assert (forced.system, forced.existing) == (f"{system}[RGN]", False)
        read = read_codes if system == "scirepeval_ctrl" else read_adapters
        check_hits(prepared, forced.run_id, *read(hub, "RGN", "RGN"))
    mean = rank(prepared, "prx", "mean:scirepeval_adapters,scirepeval_ctrl", choose(tmp_path, format="CLF"))
    assert mean.system == "mean:scirepeval_adapters[CLF],scirepeval_ctrl[CLF]"


def test_a_format_that_says_nothing_or_is_not_known_is_refused(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="scincl has one embedding for every format"):
        run(prepared, RunRequest("prx", "scincl", choose(tmp_path, format="CLF")))
    with pytest.raises(InputError, match="bm25 has no embedding for each format"):
        run(prepared, RunRequest("prx", "bm25", choose(tmp_path, format="CLF")))
    with pytest.raises(UnknownNameError, match="format 'CLS'; known: CLF, PRX, QRY, RGN, SRCH"):
        run(prepared, RunRequest("prx", "scirepeval_ctrl", choose(tmp_path, format="CLS")))
    for system in ("scirepeval_ctrl", "scirepeval_adapters", "formats:CLF=minilm"):
        with pytest.raises(InputError, match=r"and what asks has none; .* Give it with --format"):
            run(prepared, RunRequest("plain", system, choose(tmp_path)))
    with pytest.raises(
        RunError, match="pinakes index prx --system 'scirepeval_ctrl' --format CLF --precision"
    ):
        run(prepared, RunRequest("prx", "scirepeval_ctrl", choose(tmp_path, format="CLF")))


def test_vectors_of_papers_are_those_of_the_code(
    prepared: Database, tmp_path: Path, hub: dict[str, Path]
) -> None:
    benchmark = open_benchmark(prepared, "clf")
    options = choose(tmp_path, own_format="CLF")
    chosen = sa.select(papers.c.paper_id).where(
        papers.c.paper_id.in_(sa.select(select_candidate_texts(benchmark).subquery().c.paper_id))
    )
    with prepared.read() as session:
        texts = PaperTexts.read(session, benchmark, "specter", chosen)
    for system, expected in (
        ("scirepeval_ctrl", read_codes(hub, "CLF", "CLF")[1]),
        ("scirepeval_adapters", read_adapters(hub, "CLF", "CLF")[1]),
        ("formats:PRX=/not/there,CLF=scirepeval_ctrl", read_codes(hub, "CLF", "CLF")[1]),
    ):
        made = find_system(system, options)
        made.index(prepared, texts, _silent())
        found = made.embed(prepared, texts, _silent())
        assert texts.source_ids[found.rows].tolist() == list(PAPERS)
        np.testing.assert_allclose(found.vectors, expected, atol=1e-5)


def _silent() -> Any:
    from pinakes.progress import Silent

    return Silent()


def test_a_corpus_is_searched_with_a_query_and_with_a_paper(
    prepared: Database, tmp_path: Path, hub: dict[str, Path]
) -> None:
    options = choose(tmp_path)
    index_corpus(prepared, "scifact", "scirepeval_ctrl", options=options)

    def ask(system: str = "scirepeval_ctrl", given: SystemOptions = options, **what: Any) -> dict[str, float]:
        request = SearchRequest("scifact", system=system, k=3, options=given, **what)
        return {hit.source_id: hit.score for hit in search(prepared, request)}

    assert ask(text=QUERY) == pytest.approx(list_distances(*read_codes(hub, "QRY", "PRX")), abs=1e-5)
    as_paper = embed(hub["allenai/scirepeval_ctrl"], ["[PRX] Graphs citation graph retrieval"], place=1)
    expected = list_distances(as_paper, read_codes(hub, "PRX", "PRX")[1])
    assert ask(paper="p1") == pytest.approx({"p2": expected["p2"], "p10": expected["p10"]}, abs=1e-5)
    request = FaissRequest("scifact", "scirepeval_ctrl", "flat", options)
    index_faiss(prepared, request)
    through = choose(tmp_path, through="faiss:flat")
    assert ask(given=through, text=QUERY) == ask(text=QUERY)


def test_prompts_stand_before_every_text_by_the_format(
    prepared: Database, tmp_path: Path, hub: dict[str, Path]
) -> None:
    options = choose(tmp_path, parameters={"prompts": "gemma"})
    made = rank(prepared, "srch", "scincl", options)
    assert read_run(prepared, made.run_id)["parameters"]["prefixes"] == ["title: None | text: "]
    folder = hub["malteos/scincl"]
    query = embed(folder, [f"task: search result | query: {QUERY}"])
    found = embed(folder, [f"title: None | text: {text}" for text in PAPERS.values()])
    check_hits(prepared, made.run_id, query, found)
    with pytest.raises(InputError, match="e5 has prefixes of its own; leave the option prompts out"):
        find_system("e5", options)
    written = rank(prepared, "prx", "formats:PRX=about: {scincl}", choose(tmp_path))
    assert written.system == "about: {scincl}"
    check_hits(
        prepared,
        written.run_id,
        embed(folder, [f"about: {QUERY}"]),
        embed(folder, [f"about: {text}" for text in PAPERS.values()]),
    )


def test_e5_reads_a_passage_in_a_search_alone(prepared: Database, tmp_path: Path) -> None:
    found = {
        name: read_run(prepared, rank(prepared, name, "e5", choose(tmp_path)).run_id)["parameters"]
        for name in ("prx", "srch", "plain")
    }
    assert {name: (one.get("query_prefixes"), one["prefixes"]) for name, one in found.items()} == {
        "prx": (None, ["query: "]),
        "srch": (["query: "], ["passage: "]),
        "plain": (["query: "], ["passage: "]),
    }


@pytest.mark.parametrize("own", [{"srch": "QRY"}, long({"prx": "PRX", "srch": "QRY"})], ids=len)
def test_the_matrix_of_codes_is_that_of_single_runs(
    both_prepared: tuple[Database, Database],
    own: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = []
    for database in both_prepared:
        options = SystemOptions(tmp_path / database.name, precision="fp32", device="cpu")
        request = CrossFormatRequest(["scirepeval_ctrl"], list(own), options=options)
        scores = cross_format(database, request)
        assert [(one.benchmark, one.code, one.own) for one in scores] == [
            (name, code, own[name] == code) for name in own for code in CODES
        ]
        values = {
            result.run_id: score.value
            for name in own
            for result in evaluate(
                database, name, run_ids=[one.run_id for one in scores if one.benchmark == name]
            )
            for score in result.aggregates()
            if (score.subset, score.measure) == ("all", "nDCG@10")
        }
        assert {one.run_id: one.value for one in scores} == values
        alone = run(database, RunRequest("srch", "scirepeval_ctrl", options))
        assert [one.run_id for one in scores if one.benchmark == "srch" and one.own] == [alone.run_id]
        made.append([(one.benchmark, one.code, one.value, one.best) for one in scores])
    assert made[0] == made[1]
    means = average_formats(scores)
    assert [(one.format, one.code, one.value, one.figures) for one in means[:4]] == [
        (scores[0].format, one.code, one.value, 1) for one in scores[:4]
    ]
    print_cross_format(scores, Output("json"))
    assert orjson.loads(capsys.readouterr().out)["scores"][0]["benchmark"] == next(iter(own))
    print_cross_format(scores, Output())
    printed = capsys.readouterr().out
    assert "Figures by code" in printed
    assert "Means by format" in printed


def test_a_matrix_needs_formats_and_several_embeddings(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(
        BenchmarkError, match=r"plain has no format; expected `format` in its benchmark\.toml"
    ):
        cross_format(
            prepared, CrossFormatRequest(["scirepeval_ctrl"], ["prx", "plain"], options=choose(tmp_path))
        )
    with pytest.raises(InputError, match="scincl has one embedding for every format"):
        cross_format(prepared, CrossFormatRequest(["scincl"], ["prx"], options=choose(tmp_path)))
    with pytest.raises(InputError, match="expected one benchmark or more, each once"):
        cross_format(prepared, CrossFormatRequest(["scincl"], [], options=choose(tmp_path)))
    for systems in (["scirepeval_ctrl", "scirepeval_adapters"], []):
        with pytest.raises(InputError, match="expected one system, or trained encoders that differ in their"):
            cross_format(prepared, CrossFormatRequest(systems, ["prx"], options=choose(tmp_path)))
    with pytest.raises(InputError, match="srch is in-train, but none of the benchmarks"):
        cross_format(prepared, CrossFormatRequest(["scincl"], ["prx"], ["srch"], choose(tmp_path)))


def test_grouped_pools_are_ranked_as_a_shared_one(prepared: Database, tmp_path: Path) -> None:
    of_corpus = "INNER JOIN corpora USING (corpus_id) WHERE corpora.name = 'scifact'"
    write_benchmark(
        tmp_path / "benchmarks",
        "pools",
        corpus="scifact",
        pool="grouped",
        toml=f'format = "SRCH"\n{BENCHMARK_TOML}',
        queries=f"SELECT query_id, paper_id, text, 'all' AS pool FROM benchmark_queries {of_corpus}",
        candidates=f"SELECT 'all' AS pool, paper_id FROM papers {of_corpus}",
    )
    options = choose(tmp_path)
    for system in ("scirepeval_ctrl", "scirepeval_adapters"):
        shared = rank(prepared, "srch", system, options)
        grouped = rank(prepared, "pools", system, options)
        assert read_hits(prepared, grouped.run_id) == read_hits(prepared, shared.run_id) != []


def test_the_command_indexes_each_code_and_then_says_the_matrix(call: Call, hub: dict[str, Path]) -> None:
    system = ("--system", "scirepeval_ctrl", "--precision", "fp32", "--device", "cpu")
    outcome = call("cross-format", "prx", *system, "--json", "--in-train", "prx")
    assert outcome.code == 0, outcome.err
    assert len(re.findall("index scirepeval_ctrl for prx", outcome.err)) == len(CODES)
    assert {one["group"] for one in outcome.data["means"]} == {"in-train"}
    assert [one["code"] for one in outcome.data["scores"]] == list(CODES)
    outcome = call("run", "prx", *system, "--format", "QRY", "--json", "--quiet")
    assert (outcome.data[0]["system"], outcome.data[0]["existing"]) == ("scirepeval_ctrl[QRY]", True)


def test_the_matrix_has_classification_beside_search(
    prepared: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "benchmarks" / "classes"
    home.mkdir(parents=True)
    toml = BENCHMARK_TOML.replace("{corpus}", "synthetic").replace("{pool}", "shared")
    toml = toml.replace("nDCG@10", "Accuracy").replace(
        'measures = ["Accuracy", "AP"]', 'measures = ["Accuracy"]'
    )
    suite = '[suite]\nname = "toys"\ngroup = "in-train"\nfigures = [[["all", "Accuracy"]]]\n'
    (home / "benchmark.toml").write_text(f'task = "classification"\nformat = "CLF"\n{toml}{suite}')
    (home / "examples.sql").write_text(
        "SELECT source_id AS query_id, paper_id, "
        "CASE WHEN LEFT(MD5(source_id), 1) < '4' THEN 'test' ELSE 'train' END AS split, "
        "paper_id AS position, CASE WHEN year > 2010 THEN 'new' ELSE 'old' END AS label "
        "FROM papers INNER JOIN corpora USING (corpus_id) WHERE corpora.name = 'synthetic' "
        "AND RIGHT(source_id, 1) IN ('3', '7')\n"
    )
    options = choose(tmp_path)
    scores = cross_format(
        prepared, CrossFormatRequest(["scirepeval_ctrl"], ["classes", "srch"], options=options)
    )
    assert [(one.benchmark, one.group, one.measure, one.code) for one in scores if one.own] == [
        ("classes", "in-train", "Accuracy", "CLF"),
        ("srch", "", "nDCG@10", "QRY"),
    ]
    assert all(0 < one.value <= 1 for one in scores)
    assert {one.queries_expected - one.queries_answered for one in scores[:4]} == {0}
    assert [(one.group, one.format) for one in average_formats(scores) if one.own] == [
        ("in-train", "CLF"),
        ("", "SRCH"),
    ]
    print_cross_format(scores, Output())
    rows = capsys.readouterr().out.splitlines()
    (row,) = [row for row in rows if " classes " in row]
    own = scores[0]
    assert f"[{100 * own.value:.2f}]{'*' if own.best else ''}" in row
