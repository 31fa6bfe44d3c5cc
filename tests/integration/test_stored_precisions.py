"""`auto` takes the precision that a database has vectors of; a run records the one that it used."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.index.index import index, index_corpus
from pinakes.run.run import RunRequest, run
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from pinakes.vectors import encoding
from tests.calling import Call

pytestmark = pytest.mark.in_turn


@pytest.fixture(autouse=True)
def fast_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that computes bf16 faster than fp32."""
    monkeypatch.setattr(encoding, "choose_precision", lambda _device: "bf16")


def read_runs(database: Database) -> list[tuple[str, str]]:
    with database.read() as session:
        rows = session.rows("SELECT precision, run_digest FROM runs ORDER BY run_id")
    return [(row["precision"], row["run_digest"]) for row in rows]


def test_auto_takes_what_is_stored(prepared: Database, toy_folder: str, tmp_path: Path) -> None:
    told: list[str] = []
    auto = SystemOptions(tmp_path, device="cpu", tell=told.append)
    exact = SystemOptions(tmp_path, "fp32", device="cpu")
    index(prepared, "scifact", toy_folder, options=exact)
    assert index(prepared, "scifact", toy_folder, options=auto).added == 0
    run(prepared, RunRequest("scifact", toy_folder, auto))
    assert run(prepared, RunRequest("scifact", toy_folder, exact)).existing
    assert [precision for precision, _ in read_runs(prepared)] == ["fp32"]
    line = "toy is stored at fp32, and auto takes that; bf16 is faster on this device (--precision bf16)."
    assert set(told) == {line}


def test_a_search_takes_what_is_stored(prepared: Database, toy_folder: str, tmp_path: Path) -> None:
    exact = SystemOptions(tmp_path, "fp32", device="cpu")
    index_corpus(prepared, "scifact", toy_folder, options=exact)
    found = [
        search(prepared, SearchRequest("scifact", "a citation graph", toy_folder, options=options))
        for options in (exact, SystemOptions(tmp_path, device="cpu"))
    ]
    assert found[0] == found[1] != []


def test_of_several_auto_takes_the_fastest_and_says_so(
    prepared: Database, toy_folder: str, tmp_path: Path
) -> None:
    told: list[str] = []
    for precision in ("fp32", "bf16"):
        index(prepared, "scifact", toy_folder, options=SystemOptions(tmp_path, precision, device="cpu"))
    run(prepared, RunRequest("scifact", toy_folder, SystemOptions(tmp_path, device="cpu", tell=told.append)))
    assert [precision for precision, _ in read_runs(prepared)] == ["bf16"]
    assert told == ["toy is stored at fp32 and bf16; auto takes bf16. --precision names another."]


def test_without_vectors_auto_is_the_fastest(prepared: Database, toy_folder: str, tmp_path: Path) -> None:
    told: list[str] = []
    auto = SystemOptions(tmp_path, device="cpu", tell=told.append)
    with pytest.raises(RunError, match=r"no text was encoded by toy_bf16 yet; do it with `pinakes .*`\.$"):
        run(prepared, RunRequest("scifact", toy_folder, auto))
    index(prepared, "scifact", toy_folder, options=auto)
    run(prepared, RunRequest("scifact", toy_folder, auto))
    assert ([precision for precision, _ in read_runs(prepared)], told) == (["bf16"], [])


def test_a_precision_that_is_not_stored_is_refused_by_what_is(
    prepared: Database, toy_folder: str, tmp_path: Path
) -> None:
    index(prepared, "scifact", toy_folder, options=SystemOptions(tmp_path, "fp32", device="cpu"))
    coarse = SystemOptions(tmp_path, "fp16", device="cpu")
    expected = r"toy_fp16 yet; .* What is stored is of fp32: ask for it with --precision fp32\.$"
    with pytest.raises(RunError, match=expected):
        run(prepared, RunRequest("scifact", toy_folder, coarse))


def test_only_a_precision_that_has_all_vectors_is_named(
    prepared: Database, toy_folder: str, tmp_path: Path
) -> None:
    for precision, benchmark in (("fp32", "scifact"), ("bf16", "synthetic")):
        index(prepared, benchmark, toy_folder, options=SystemOptions(tmp_path, precision, device="cpu"))
    with pytest.raises(RunError, match=r"no vector of toy_bf16; .* ask for it with --precision fp32\."):
        run(prepared, RunRequest("scifact", toy_folder, SystemOptions(tmp_path, device="cpu")))
    with pytest.raises(RunError, match=r"no vector of toy_bf16; encode them with `[^`]*`\.$"):
        run(prepared, RunRequest("csfcube", toy_folder, SystemOptions(tmp_path, device="cpu")))


def test_the_choice_is_said_once_on_stderr(call: Call, toy_folder: str) -> None:
    encoder = ("--system", toy_folder, "--device", "cpu")
    assert call("index", "scifact", *encoder, "--precision", "fp32", "-q").code == 0
    ran = call("run", "scifact", *encoder, "--json")
    assert ran.code == 0
    assert ran.err.count("toy is stored at fp32, and auto takes that") == 1
    assert "stored at" not in ran.out
