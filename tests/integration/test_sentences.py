"""A paper is ranked by the best pair of its sentences with those of the query's facet, on both databases."""

from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import InputError, RunError
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.sentences import SentenceBatch, encode_sentences
from pinakes.indexers.exact.scores import Vectors
from pinakes.progress import Silent
from pinakes.systems.sentences import stored
from tests.benching import ABSTRACTS, change, count
from tests.integration.sentence_systems import (
    encode_alone,
    encode_in_context,
    expect,
    make,
    rank,
    read,
    require_close,
)
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn


@pytest.fixture(scope="module")
def bare_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "bare"
    return str(build_toy_encoder(folder, sentence_transformers_layout=False))


def score_best_pair(left: Vectors, right: Vectors) -> float:
    """The largest cosine of any pair."""
    cosines = left @ right.T / np.linalg.norm(left, axis=1)[:, None] / np.linalg.norm(right, axis=1)[None, :]
    return float(cosines.max())


def test_sentences_encoded_alone_rank_by_their_best_pair(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    workload, system = read(prepared), make(bare_folder, tmp_path)
    distinct = {text for sentences in ABSTRACTS.values() for _, text in sentences}
    first = system.index(prepared, workload, Silent())
    assert (first.added, first.existing) == (len(distinct), 0)
    again = system.index(prepared, workload, Silent())
    assert (again.added, again.existing) == (0, first.added)
    expected = expect(encode_alone(bare_folder), score_best_pair, of_facet=False)
    require_close(rank(system, prepared, workload), expected)
    assert system.name == "sentences:bare"


def test_sentences_encoded_in_context_rank_by_their_best_pair(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    workload, system = read(prepared), make(bare_folder, tmp_path, context="yes")
    # Eight papers have sentences, and 5 and 6 differ by their titles.
    assert system.index(prepared, workload, Silent()).added == 8
    again = system.index(prepared, workload, Silent())
    assert (again.added, again.existing) == (0, 8)
    expected = expect(encode_in_context(bare_folder), score_best_pair, of_facet=False)
    require_close(rank(system, prepared, workload), expected)


def test_both_databases_rank_alike(
    both_prepared: tuple[Database, Database], bare_folder: str, tmp_path: Path
) -> None:
    for context in ("no", "yes"):
        found, described = [], []
        for database in both_prepared:
            workload, system = read(database), make(bare_folder, tmp_path, context=context)
            system.index(database, workload, Silent())
            found.append(rank(system, database, workload))
            described.append(system.describe(database, workload).parameters)
        assert described[0] == described[1]
        require_close(found[0], found[1])


def test_a_sentence_without_a_vector_stops_a_run_with_the_command(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    workload = read(prepared)
    for context in ("no", "yes"):
        system = make(bare_folder, tmp_path, context=context)
        with pytest.raises(
            RunError, match=r"no (text|sentence) was encoded by bare_fp32\S* yet; do it with `pin"
        ):
            system.describe(prepared, workload)
        system.index(prepared, workload, Silent())
        before = system.describe(prepared, workload).parameters["sentences_digest"]
        change(prepared, f"UPDATE sentences SET text = 'Changed {context}.' WHERE text = 'Weather.'")
        missing = r"1 (texts|papers) have no .* with `pinakes index csfcube --system"
        with pytest.raises(RunError, match=missing) as error:
            system.describe(prepared, workload)
        assert (" --option context=yes`" in str(error.value)) is (context == "yes")
        assert f"--system sentences:{bare_folder} " in str(error.value)
        assert system.index(prepared, workload, Silent()).added == 1
        assert system.describe(prepared, workload).parameters["sentences_digest"] != before
        change(prepared, f"UPDATE sentences SET text = 'Weather.' WHERE text = 'Changed {context}.'")


def test_a_kill_between_batches_is_made_good_by_the_next_start(
    prepared: Database, bare_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload, system = read(prepared), make(bare_folder, tmp_path, context="yes")
    table = "sentence_vectors_bare_fp32_sentences"

    def killed(encoder: object, texts: object) -> object:
        for number, batch in enumerate(encode_sentences(encoder, texts, token_budget=1)):  # type: ignore[arg-type,var-annotated]
            if number == 3:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr(stored, "encode_sentences", killed)
    with pytest.raises(KeyboardInterrupt):
        system.index(prepared, workload, Silent())
    assert count(prepared, table) > 0
    monkeypatch.undo()
    resumed = system.index(prepared, workload, Silent())
    assert (resumed.added, resumed.existing) == (5, 3)
    assert count(prepared, table) == sum(map(len, ABSTRACTS.values()))


def test_sentences_behind_the_limit_are_recorded_and_pair_with_nothing(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(build_toy_encoder(tmp_path / "short", sentence_transformers_layout=False))
    cut: list[SentenceBatch[object]] = []

    def short(encoder: object, texts: object) -> object:
        limited = load_encoder(resolve_model(folder), "fp32", pooling="mean", max_tokens=13)
        for batch in encode_sentences(limited, texts):  # type: ignore[arg-type,var-annotated]
            cut.append(batch)
            yield batch

    monkeypatch.setattr(stored, "encode_sentences", short)
    workload, system = read(prepared), make(folder, tmp_path, context="yes")
    system.index(prepared, workload, Silent())
    lost = sum(int((batch.token_counts == 0).sum()) for batch in cut)
    assert lost > 0
    assert system.describe(prepared, workload).parameters["sentences_behind_limit"] == lost
    # Title and first sentence of paper 1 are twelve tokens: its method lies behind them.
    ranked = rank(system, prepared, workload)
    # Paper 1's sentence of its method is behind the limit.
    assert "1_method" not in ranked
    assert "1_background" in ranked


def test_a_corpus_without_sentences_is_refused(prepared: Database, bare_folder: str, tmp_path: Path) -> None:
    workload = read(prepared, "scifact")
    with pytest.raises(RunError, match="no candidate of scifact has a sentence in the table sentences"):
        make(bare_folder, tmp_path).index(prepared, workload, Silent())
    with pytest.raises(RunError, match="no candidate of scifact has a sentence in the table sentences"):
        make(bare_folder, tmp_path, context="yes").index(prepared, workload, Silent())


def test_a_query_that_is_no_paper_is_one_sentence_alone_and_has_no_context(
    prepared: Database, bare_folder: str, tmp_path: Path
) -> None:
    change(
        prepared,
        "INSERT INTO sentences (paper_id, section_number, position, text) "
        "SELECT paper_id, 0, 1, abstract FROM papers WHERE source_id IN ('p1', 'p2', 'p10')",
    )
    workload = read(prepared, "scifact")
    system = make(bare_folder, tmp_path)
    assert system.index(prepared, workload, Silent()).added == 2  # one of them is the query's text
    ranked = rank(system, prepared, workload)
    assert list(ranked) == ["q1"]
    # Equal scores: the source id that is greater byte by byte comes first.
    assert list(ranked["q1"]) == ["p2", "p10", "p1"]
    assert ranked["q1"]["p2"] == ranked["q1"]["p10"] == pytest.approx(1.0)
    with pytest.raises(RunError, match="no query of scifact has a sentence of a paper"):
        make(bare_folder, tmp_path, context="yes").index(prepared, workload, Silent())


def test_an_option_that_is_none_is_refused(bare_folder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="context is 'maybe'; expected yes or no"):
        make(bare_folder, tmp_path, context="maybe")
    with pytest.raises(InputError, match="candidates is 'some'; expected all or facet"):
        make(bare_folder, tmp_path, candidates="some")
