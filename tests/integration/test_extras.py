"""The light installation is enough for SQL, BM25, loading, scoring and export; what it lacks is told."""

import re
import tomllib
from pathlib import Path

import pytest

from pinakes.extras import EXTRAS, explain_missing
from tests.hidden_packages import ROOT, run_without
from tests.loading import paper, write_beir
from tests.long import sample

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {
    "faiss-cpu": "faiss",
    "ir-measures": "ir_measures",
    "pytrec-eval-terrier": "pytrec_eval",
    "rouge-score": "rouge_score",
    "scikit-learn": "sklearn",
    "POT": "ot",
    "huggingface-hub": "huggingface_hub",
}
"""as it is installed -> as it is imported, where these differ"""
LIGHT = sorted(EXTRAS)
"""all that a light installation lacks"""


def list_packages(extra: str) -> set[str]:
    """What an extra alone brings, as it is imported."""
    names = (re.split(r"[><=\[]", line)[0] for line in DECLARED["optional-dependencies"][extra])
    return {PACKAGES.get(name, name) for name in names if name != "pinakes"}


def test_every_package_of_an_extra_is_told_with_it() -> None:
    extras = ("compute", "texts", "report", "encode", "cpu", "ir", "cluster")
    assert {package: extra for extra in extras for package in list_packages(extra)} == EXTRAS


def test_a_light_installation_has_none_of_them() -> None:
    names = {re.split(r"[><=\[]", line)[0] for line in DECLARED["dependencies"]}
    assert {PACKAGES.get(name, name) for name in names} & EXTRAS.keys() == set()


def test_all_and_dev_have_every_extra() -> None:
    assert DECLARED["optional-dependencies"]["all"] == ["pinakes[cpu,texts,report,ir]"]
    assert DECLARED["optional-dependencies"]["dev"][0] == "pinakes[all,demo]"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that a light installation has made: loaded, indexed, ranked, scored."""
    folder = tmp_path_factory.mktemp("light")
    write_beir(folder / "beir", [paper(number) for number in range(20)], "q1\tp1\t1\nq2\tp3\t1\n", queries=2)
    commands = (
        ("load", "beir", "beir", "--corpus", "scifact", "--quiet"),
        ("index", "scifact", "--system", "bm25", "--quiet"),
        ("run", "scifact", "--system", "bm25", "--quiet"),
        ("sql", "SELECT COUNT(*) AS hits FROM hits WHERE run_id = 1", "--format", "csv"),
        ("search", "scifact", "title 3", "--system", "bm25"),
        ("export", "run", "1", "ranked.trec", "--quiet"),
        ("import-run", "scifact", "ranked.trec", "--system", "theirs", "--quiet"),
        ("evaluate", "scifact", "--quiet"),
        ("export", "papers", "papers.parquet", "--quiet"),
        ("status", "--check"),
        ("upgrade",),
        ("errors", "scifact", "--quiet"),
        ("gc", "--dry-run"),
    )
    done = run_without(LIGHT, *commands, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_systems_are_listed_with_those_that_are_not_installed(scored: Path) -> None:
    done = run_without(LIGHT, ("systems",), folder=scored)
    assert done.returncode == 0
    lines = {line.split("  ")[0].strip(): line for line in done.stdout.splitlines()}
    assert "rank" in lines["bm25"]
    assert "(not installed)" in lines["an encoder"]


ASKED = {
    ("index", "scifact", "--system", "tfidf"): "compute",
    ("index", "scifact", "--system", "sparse_bm25"): "compute",
    ("compare", "scifact"): "compute",
    ("evaluate", "scifact", "--measure", "infAP"): "compute",
    ("deduplicate", "scifact"): "compute",
    ("derive", "neighbours", "--corpus", "scifact", "--codes", "T_ARot"): "texts",
    ("derive", "summaries", "--corpus", "scifact"): "texts",
    ("report", "scifact"): "report",
    ("index", "scifact", "--system", "minilm"): "encode",
    ("encode", "papers.parquet", "vectors", "--model", "minilm"): "encode",
    ("index", "faiss", "--corpus", "scifact", "--system", "minilm"): "cpu",
    ("load", "ir-datasets:beir/scifact/test"): "ir",
    ("index", "scifact", "--system", "sparse_bm25", "--on", "auto"): "cluster",
}
"""command -> the extra that it is told to lack"""


@pytest.mark.parametrize("extra", sample(sorted(set(ASKED.values())), 3))
def test_commands_name_the_extra_that_they_lack(extra: str, scored: Path) -> None:
    asked = [words for words, lacking in ASKED.items() if lacking == extra]
    packages = [name for name, brings in EXTRAS.items() if brings == extra]
    done = run_without(packages, *asked, folder=scored, goes_on=True)
    told = re.split(r"ended by (.*) with (.*)\n", done.stderr)
    assert [*zip(told[1::3], told[2::3], strict=True)] == [(" ".join(words), "1") for words in asked]
    for message in told[:-1:3]:
        assert f"pip install 'pinakes[{extra}]'" in message
    assert "Traceback" not in done.stderr


def test_a_package_that_is_there_and_broken_is_no_missing_extra() -> None:
    assert explain_missing(ModuleNotFoundError("No module named 'numpy.x'", name="numpy.x")) is None
    assert explain_missing(ModuleNotFoundError("No module named 'scipy.x'", name="scipy.x")) is None
    assert explain_missing(ImportError("cannot import name 'x'")) is None


def test_the_demo_names_all_that_it_lacks_at_once(tmp_path: Path) -> None:
    done = run_without(["torch", "matplotlib"], ("demo", "--folder", "here"), folder=tmp_path)
    assert done.returncode == 1
    assert (
        "the demo needs matplotlib, torch; add what it needs with pip install 'pinakes[demo]'" in done.stderr
    )
    assert not (tmp_path / "here").exists()
