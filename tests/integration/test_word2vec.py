"""Word vectors are trained once for the texts that are there, and stale ones are refused."""

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import IndexingError, InputError, RunError
from pinakes.progress import Silent
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import select_candidate_texts
from pinakes.systems.base import Ranking, System, SystemOptions
from pinakes.systems.registry import find_system
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.workload import Workload, read_workload
from tests.benching import change, count

pytestmark = pytest.mark.in_turn


def make(tmp_path: Path, name: str = "word2vec", **parameters: str) -> System:
    return find_system(name, SystemOptions(tmp_path, parameters={"dimensions": "8", **parameters}))


def read(database: Database, benchmark: str = "synthetic") -> Workload:
    return read_workload(database, read_benchmark(benchmark))


def rank(system: System, database: Database, workload: Workload) -> list[Ranking]:
    rankings = list(system.rank(database, workload, Silent()))
    for ranking in rankings:
        order = np.lexsort((workload.tie_order[ranking.rows], -ranking.scores))
        assert order.tolist() == list(range(len(order)))
    return rankings


def test_both_weightings_share_one_index_and_rank_alike_on_both_databases(
    both_prepared: tuple[Database, Database], tmp_path: Path
) -> None:
    found = {}
    for number, database in enumerate(both_prepared):
        workload, folder = read(database), tmp_path / str(number)
        assert make(folder).index(database, workload, Silent()).added == 300
        assert make(folder, "word2vec_tfidf").index(database, workload, Silent()).existing == 300
        for name in ("word2vec", "word2vec_tfidf"):
            system = make(folder, name)
            rankings = rank(system, database, workload)
            assert len(rankings) == 49  # the words of one query of 50 are all too rare
            found[number, name] = [
                (ranking.query_id, ranking.rows.tolist(), ranking.scores.tolist()) for ranking in rankings
            ]
        assert count(database, "side_indexes WHERE kind = 'word2vec'") == 1
    for name in ("word2vec", "word2vec_tfidf"):
        assert found[0, name] == found[1, name]
    assert found[0, "word2vec"] != found[0, "word2vec_tfidf"]


@pytest.mark.parametrize("name", ["lsa", "term_vectors"])
def test_vectors_of_counted_terms_are_the_same_on_both_databases(
    both_prepared: tuple[Database, Database], tmp_path: Path, name: str
) -> None:
    found = []
    for number, database in enumerate(both_prepared):
        workload, system = read(database), make(tmp_path / str(number), name)
        assert system.index(database, workload, Silent()).added == 300
        assert system.index(database, workload, Silent()).existing == 300
        rankings = [(one.query_id, one.rows.tolist()) for one in rank(system, database, workload)]
        chosen = sa.select(select_candidate_texts(workload.benchmark, "title_abstract").subquery().c.paper_id)
        with database.read() as session:
            texts = PaperTexts.read(session, workload.benchmark, "title_abstract", chosen)
        embedded = system.embed(database, texts, Silent())
        assert embedded.vectors.shape == (len(embedded.rows), 8)
        assert len(embedded.rows) > 200
        found.append((rankings, embedded.rows.tolist(), embedded.vectors.tolist()))
    assert found[0] == found[1]


def test_a_pool_of_its_own_is_ranked_like_a_part_of_the_whole(prepared: Database, tmp_path: Path) -> None:
    system, workload = make(tmp_path, trained_on="synthetic"), read(prepared, "csfcube")
    system.index(prepared, workload, Silent())
    for ranking in rank(system, prepared, workload):
        assert set(ranking.rows) <= set((workload.pools or {})[ranking.query_id])
        assert (ranking.scores <= 0).all()  # minus a distance


def test_texts_that_changed_make_the_index_stale_until_it_is_built_again(
    prepared: Database, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="there is no word2vec index of the corpus synthetic"):
        make(tmp_path).describe(prepared, read(prepared))
    make(tmp_path).index(prepared, read(prepared), Silent())
    make(tmp_path).describe(prepared, read(prepared))
    change(prepared, "UPDATE papers SET title = 'A title of its own' WHERE source_id = 'syn-00000007'")
    with pytest.raises(RunError, match=r"other texts .*--system word2vec --option dimensions=8`"):
        make(tmp_path).describe(prepared, read(prepared))
    with pytest.raises(RunError, match="other texts or settings"):
        make(tmp_path, dimensions="9").describe(prepared, read(prepared))
    assert make(tmp_path).index(prepared, read(prepared), Silent()).added == 300
    make(tmp_path).describe(prepared, read(prepared))
    assert len(list((tmp_path / "word2vec").iterdir())) == 1


def test_a_kill_while_training_leaves_nothing_that_could_be_searched(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    workload = read(prepared)
    monkeypatch.setattr("pinakes.indexers.word2vec._train", killed)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path).index(prepared, workload, Silent())
    with pytest.raises(RunError, match="there is no word2vec index"):
        list(make(tmp_path).rank(prepared, workload, Silent()))
    monkeypatch.undo()
    assert make(tmp_path).index(prepared, workload, Silent()).added == 300
    assert rank(make(tmp_path), prepared, workload)


def test_a_damaged_index_is_never_ranked_by(prepared: Database, tmp_path: Path) -> None:
    workload = read(prepared)
    make(tmp_path).index(prepared, workload, Silent())
    (file,) = tmp_path.rglob("vectors.safetensors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexingError, match=r"is damaged: vectors\.safetensors changed after the build"):
        list(make(tmp_path).rank(prepared, workload, Silent()))


def test_a_corpus_that_is_not_loaded_cannot_be_trained_on(prepared: Database, tmp_path: Path) -> None:
    known = "csfcube, scifact, synthetic"
    with pytest.raises(RunError, match=f"no corpus absent is loaded .* expected one of {known}"):
        make(tmp_path, trained_on="absent").index(prepared, read(prepared), Silent())


def test_dimensions_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dimensions is '0'; expected a whole number from 1 to 4096"):
        make(tmp_path, dimensions="0")


def test_the_published_distance_is_the_default_and_another_can_be_requested_for(
    prepared: Database, tmp_path: Path
) -> None:
    workload = read(prepared)
    make(tmp_path).index(prepared, workload, Silent())
    assert make(tmp_path).describe(prepared, workload).parameters["distance"] == "l2"
    options = SystemOptions(tmp_path, distance="cosine", parameters={"dimensions": "8"})
    described = find_system("word2vec_tfidf", options).describe(prepared, workload).parameters
    assert (described["distance"], described["weights"]) == ("cosine", "tfidf")
