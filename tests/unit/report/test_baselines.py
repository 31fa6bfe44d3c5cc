"""Which baseline of a benchmark a stored run is: CSFCube's, as its folder lists them."""

import json
from typing import Any

import pytest

from pinakes.queries.definition import read_benchmark
from pinakes.report.runs import find_baseline, is_baseline_system

PLAIN = {"distance": "cosine", "context": "no", "candidates": "all"}
EXACT = {**PLAIN, "marginals": "aspire", "temperature": 1.0, "regularisation": 0.0}
FACET = ("facet_sentences", "abstract")


def make_run(system: str, parameters: dict[str, Any], templates: tuple[str, str] = FACET) -> dict[str, Any]:
    """A row of `runs`, as far as it tells what was run."""
    query_template, paper_template = templates
    return {
        "system": system,
        "query_template": query_template,
        "paper_template": paper_template,
        "parameters": json.dumps(parameters),
    }


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (make_run("sentences:sentbert_pp", PLAIN), "SentBERT-PP"),
        (make_run("sentences:sentbert_nli", PLAIN), "SentBERT-NLI"),
        (make_run("sentences:simcse_unsup", PLAIN), "UnSimCSE-BERT"),
        (make_run("sentences:simcse_sup", PLAIN), "SuSimCSE-BERT"),
        (make_run("specter", {"distance": "l2"}, ("specter", "specter")), "SPECTER"),
        (make_run("sentences:ts_aspire_cs", {"context": "yes"}), "ASPIRE, single match"),
        (make_run("transport:ot_aspire_cs", {"context": "yes"}), "ASPIRE, transport"),
        (make_run("sentences:minilm", PLAIN), "minilm (sentences)"),
        (make_run("sentences:minilm", {**PLAIN, "context": "yes"}), "minilm (sentences in context)"),
        (make_run("transport:minilm", EXACT), "minilm (transport)"),
        (make_run("transport:minilm", {**EXACT, "context": "yes"}), "minilm (transport in context)"),
        (make_run("minilm", {"distance": "l2"}), "minilm (facet)"),
        (make_run("minilm", {"distance": "l2"}, ("abstract", "abstract")), "minilm (abstract)"),
    ],
)
def test_a_run_is_the_baseline_whose_settings_it_has(run: dict[str, Any], name: str) -> None:
    found = find_baseline(read_benchmark("csfcube"), run)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "run",
    [
        make_run("sentences:sentbert_pp", {**PLAIN, "candidates": "facet"}),
        make_run("transport:minilm", {**EXACT, "regularisation": 0.05}),
        make_run("transport:minilm", {**EXACT, "distance": "l2"}),
        make_run("minilm", {"distance": "cosine"}),
        make_run("fabs_bm25", {}, ("facet_sentences", "title_abstract")),
    ],
)
def test_a_run_of_a_baselines_system_with_other_settings_is_none(run: dict[str, Any]) -> None:
    benchmark = read_benchmark("csfcube")
    assert find_baseline(benchmark, run) is None
    assert is_baseline_system(benchmark, run["system"])
