"""Extraction of sentences from the tables to scores, on both databases."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import (
    BenchmarkError,
    EvaluationError,
    InputError,
    RegressionError,
    RunError,
    UnknownNameError,
)
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.gates import check_gates, read_gate
from pinakes.index.index import index
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.sentence_scorers.vectors import compare_vectors
from pinakes.progress import say_nothing
from pinakes.records import Score
from pinakes.report.present.gates import require_level
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.tasks.base import choose_corpus
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.summaries import SummaryQuestions, read_summaries
from tests.benching import change, count
from tests.summary_worlds import CORRECTED, PRODUCER, SMALL, Cited, add_world
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

Rows = list[tuple[object, ...]]


def read(database: Database, mode: str = "corrected") -> SummaryQuestions:
    benchmark = replace(open_benchmark(database, "sciqfs"), mode=mode)
    return read_summaries(database, choose_corpus(database, benchmark, "toy"), "", "")


def read_view(database: Database, columns: str, view: str) -> Rows:
    open_benchmark(database, "sciqfs")
    with database.read() as session:
        found = session.fetch_arrow(f"SELECT {columns} FROM sciqfs.{view}")
    rows = [
        tuple(round(value, 12) if isinstance(value, float) else value for value in row.values())
        for row in found.to_pylist()
    ]
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row])


def test_examples_are_read_with_their_documents_labels_and_sides(database: Database) -> None:
    add_world(database)
    asked = read(database)
    assert [(one.query_id, one.part, one.labels.tolist()) for one in asked.examples] == [
        ("p1|r1", "test", [True, False, False, False]),
        ("p1|r2", "test", [True, False, False, True]),
        ("p2|r1", "test", [False, False, True]),
        ("p2|r3", "test", [False, False, False]),
        ("p3|r4", "train", [True, True, False]),
        ("p4|r5", "dev", [False, True]),
    ]
    assert [(one.source_id, len(one.sentences)) for one in asked.documents] == [
        ("p1", 4),
        ("p2", 3),
        ("p3", 3),
        ("p4", 2),
    ]
    first = asked.documents[0]
    assert (first.sections.tolist(), first.positions.tolist()) == ([1, 1, 2, 2], [1, 2, 1, 2])
    assert first.sentences[3] == "Papers cite works."
    assert (asked.queries_expected, asked.candidates_expected, asked.candidates_without_text) == (4, 14, 0)
    assert asked.benchmark.producers == (PRODUCER,)


def test_the_digest_is_the_same_on_both_databases_and_whatever_our_ids_are(
    both_databases: tuple[Database, Database],
) -> None:
    for first_id, database in zip((1, 50), both_databases, strict=True):
        add_world(database, first_id=first_id)
    first, second = (read(database).digest for database in both_databases)
    assert first == second
    # what a run is scored by is no part of what it was asked; what a system learns from is
    change(
        both_databases[0],
        "DELETE FROM summary_labels WHERE paper_id = 1 AND position = 1 AND section_number = 2",
    )
    assert read(both_databases[0]).digest == first
    change(both_databases[0], "DELETE FROM summary_labels WHERE paper_id = 3 AND position = 1")
    assert read(both_databases[0]).digest != first


def test_published_reads_the_first_512_sentences_and_splits_by_example(database: Database) -> None:
    long = [[f"Sentence {number} of many." for number in range(600)]]
    cited = {"r1": Cited("sentence", [1, 512, 513, 600], by_example="train")}
    add_world(database, {"p1": (long, cited), "p2": ([["One."]], {"r2": Cited("one", [1])})})
    asked = read(database, "published")
    assert [(one.part, np.flatnonzero(one.labels).tolist()) for one in asked.examples] == [
        ("train", [0, 511]),
        ("test", [0]),
    ]
    assert len(asked.documents[0].sentences) == 512
    with database.read() as session:
        assert session.fetch_arrow(asked.select_paper_texts(("train",))).num_rows == 512
        assert session.fetch_arrow(asked.select_paper_texts(("test",))).num_rows == 1
    assert len(read(database).documents[0].sentences) == 600


def test_a_gate_fails_where_a_count_of_undefined_values_rises_and_not_where_it_falls(
    database: Database,
) -> None:
    add_world(database)
    run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    evaluate(database, "sciqfs")
    gates = [read_gate(text) for text in ("Flat=1", "AP=0.01")]
    assert check_gates(database, ["sciqfs"], gates).drops == []
    now = "UPDATE scores SET value = {} WHERE query_id IS NULL AND measure = '{}'"
    change(database, now.format(0, "Flat"))
    assert check_gates(database, ["sciqfs"], gates).drops == []
    change(database, now.format(3, "Flat"))
    (drop,) = check_gates(database, ["sciqfs"], gates).drops
    assert (drop.measure, drop.accepted, drop.value, drop.lower_is_better) == ("Flat", 1.0, 3.0, True)
    change(database, now.format(0.01, "AP"))
    checked = check_gates(database, ["sciqfs"], gates)
    with pytest.raises(RegressionError) as caught:
        require_level(checked, [], say_nothing)
    first, second = [line for line in str(caught.value).splitlines() if line.startswith("sciqfs, ")]
    assert "sciqfs, Flat, sentence_tfidf" in first
    assert first.endswith(", lower is better)")
    assert "lower" not in second


def test_a_run_is_made_once_and_scored(database: Database) -> None:
    add_world(database)
    made = run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    assert (made.existing, made.queries_expected, made.queries_answered, made.hit_count) == (False, 4, 4, 14)
    assert run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy")).existing
    (result,) = evaluate(database, "sciqfs")
    found = {score.measure: score for score in result.scores if score.query_id is None}
    by_query = {(one.measure, one.query_id): one.value for one in result.scores if one.query_id}
    # p1|r2 asks "works that papers cite": sentence 4 has two of its words, 1 one
    assert {query: value for (measure, query), value in by_query.items() if measure == "AP"} == {
        "p1|r1": 1.0,
        "p1|r2": 1.0,
        "p2|r1": 1.0,
    }
    assert found["AP"] == Score("AP", "all", None, 1.0, 3, 3)
    assert found["AP[undefined]"] == Score("AP[undefined]", "all", None, 1.0, 4, 4)
    assert found["AUC[undefined]"].value == 1.0
    assert found["AP[2SE]"].value == 0.0
    # "nothing of it" shares no word with a sentence of p2
    assert found["Flat"] == Score("Flat", "all", None, 1.0, 4, 4)
    assert found["AUC[global]"].queries_expected == 4
    assert set(found) == set(open_benchmark(database, "sciqfs").measures)
    assert count(database, "sentence_scores") == 14
    assert count(database, "trained_models") == 0


def test_both_databases_give_the_same_scores(both_databases: tuple[Database, Database]) -> None:
    found = []
    for database in both_databases:
        add_world(database)
        for system in ("sentence_tfidf", "sentence_bm25", "sentence_logistic"):
            run(database, RunRequest("sciqfs", system, corpus="toy"))
        found.append([(one.system, one.scores, one.intervals) for one in evaluate(database, "sciqfs")])
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_the_values_of_c_are_the_trials_of_a_regression(database: Database) -> None:
    add_world(database)
    run(database, RunRequest("sciqfs", "sentence_logistic", corpus="toy"))
    with database.read() as session:
        rows = session.rows("SELECT trial, settings, chosen FROM trained_models ORDER BY trial")
    assert [(row["trial"], row["settings"], row["chosen"]) for row in rows][:2] == [
        (1, '{"c":0.0001,"folds":5}', True),
        (2, '{"c":0.001,"folds":5}', False),
    ]


def test_a_missing_answer_counts_as_zero(database: Database) -> None:
    add_world(database)
    run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    change(database, "DELETE FROM sentence_scores WHERE query_id = 'p2|r1'")
    (result,) = evaluate(database, "sciqfs", measures=["AP", "AUC", "ROUGE1@1[query]"])
    assert [one for one in result.aggregates() if one.measure != "ROUGE1@1[query]"] == [
        Score("AP", "all", None, 2 / 3, 3, 2),
        Score("AUC", "all", None, 2 / 3, 3, 2),
    ]
    rouge = {one.query_id: one.value for one in result.scores if one.measure == "ROUGE1@1[query]"}
    assert rouge["p2|r1"] == 0.0


def test_what_a_user_may_not_ask_is_explained(database: Database) -> None:
    add_world(database)
    with pytest.raises(InputError, match=r"expected --corpus with one of toy \(6 examples\)"):
        run(database, RunRequest("sciqfs", "sentence_tfidf"))
    with pytest.raises(UnknownNameError, match="unknown corpus 'other'; known: toy"):
        run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="other"))
    with pytest.raises(InputError, match="bm25 cannot score the sentences of papers for a query"):
        run(database, RunRequest("sciqfs", "bm25", corpus="toy"))
    run(database, RunRequest("sciqfs", "sentence_bm25", corpus="toy"))
    with pytest.raises(UnknownNameError, match="unknown measure 'nDCG@10'; known: AP, "):
        evaluate(database, "sciqfs", measures=["nDCG@10"])
    change(database, "UPDATE summary_splits SET part = 'dev' WHERE part = 'test' AND scheme = 'by_paper'")
    with pytest.raises(BenchmarkError, match=r"by_paper of toy has no test example \(5 dev, 1 train\)"):
        run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    change(database, f"DELETE FROM summary_labels WHERE labeller = '{CORRECTED}'")
    with pytest.raises(
        BenchmarkError, match="no example of toy has the labeller 'greedy rouge2 f rouge_score"
    ):
        run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))


def test_examples_of_several_producers_are_told_apart(database: Database) -> None:
    add_world(database)
    with database.begin() as session:
        for table in ("summary_examples", "summary_labels", "summary_splits"):
            names = [
                row["column_name"]
                for row in session.rows(
                    "SELECT column_name FROM information_schema.columns WHERE table_name = :name "
                    "ORDER BY ordinal_position",
                    {"name": table},
                )
            ]
            chosen = ", ".join("'summaries 2'" if name == "producer" else name for name in names)
            session.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {chosen} FROM {table}")
    with pytest.raises(InputError, match="several producers, 'summaries 1 toy'; 'summaries 2'"):
        run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    request = RunRequest("sciqfs", "sentence_tfidf", corpus="toy", producer="summaries 2")
    assert run(database, request).queries_answered == 4
    assert len(evaluate(database, "sciqfs")) == 1


def test_examples_that_do_not_fit_their_sentences_are_refused(database: Database) -> None:
    add_world(database)
    run(database, RunRequest("sciqfs", "sentence_tfidf", corpus="toy"))
    change(database, "DELETE FROM sentences WHERE paper_id = 2 AND position = 3")
    with pytest.raises(
        BenchmarkError, match=r"p2\|r1 is an example of 3 sentences, and the paper has 2 of toy 1"
    ):
        read(database)
    change(database, "UPDATE summary_examples SET sentences = 2 WHERE paper_id = 2")
    with pytest.raises(BenchmarkError, match=r"a label of p2\|r1 is of a sentence that its paper has not"):
        read(database)
    change(database, "DELETE FROM summary_labels WHERE paper_id = 2")
    with pytest.raises(EvaluationError, match="scores a sentence that sciqfs does not ask of toy any longer"):
        evaluate(database, "sciqfs")
    change(database, "DELETE FROM summary_splits WHERE paper_id = 2")
    with pytest.raises(
        BenchmarkError, match=r"2 examples of toy are on no side of the split by_paper, as p2\|r1"
    ):
        read(database)


HOSTILE = {
    "p1": ([["Нейронные сети.", "神经网络", "A sentence."]], {"r1": Cited("neural networks", [2])}),
    "p2": ([["", "  ", "!!! ..."]], {"r1": Cited("?!", [1])}),
    "p3": ([], {"r1": Cited("a query", [])}),
    "p4": ([["One. " * 20_000, "Two."]], {"r1": Cited("one " * 1_000, [1, 2])}),
    "p5": ([["a b.", "c d."]], {"r2": Cited("words of training", [1], by_paper="train")}),
}


# p1 shares no term with its query, p2 has none; "one" of p4 is no trigram of the training sentences and a
# stop word of English; a regression also reads where a sentence stands
FLAT = {
    ("sentence_tfidf", "words"): 2.0,
    ("sentence_tfidf", "chars"): 3.0,
    ("sentence_bm25", None): 3.0,
    ("sentence_logistic", None): 0.0,
}


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("sentence_tfidf", {"analysis": "words"}),
        ("sentence_tfidf", {"analysis": "chars", "fitted_on": "training"}),
        ("sentence_bm25", {"fitted_on": "training"}),
        ("sentence_logistic", {}),
    ],
)
def test_bad_texts_have_defined_scores(
    duckdb_database: Database, tmp_path: Path, system: str, options: dict[str, str]
) -> None:
    add_world(duckdb_database, HOSTILE)
    request = RunRequest("sciqfs", system, SystemOptions(tmp_path, parameters=options), corpus="toy")
    made = run(duckdb_database, request)
    # p3 has no sentence: nothing is stored of it
    assert (made.queries_expected, made.queries_answered, made.hit_count) == (4, 3, 8)
    (result,) = evaluate(duckdb_database, "sciqfs")
    found = {one.measure: one for one in result.aggregates()}
    assert (found["AP"].queries_expected, found["AUC"].queries_expected) == (3, 2)
    assert (found["AP[undefined]"].value, found["AUC[undefined]"].value) == (1.0, 2.0)
    assert all(np.isfinite(one.value) for one in result.scores)
    assert found["Flat"].value == FLAT[system, options.get("analysis")]


def test_table_4_comes_from_sql(both_databases: tuple[Database, Database]) -> None:
    found = []
    for database in both_databases:
        add_world(database, {**SMALL, "p5": ([["a", "b", "c", "d"]], {"r1": Cited("q", [1, 2, 4])})})
        columns = (
            "mode, part, examples, without_positive, only_positive, mean, deviation, lowest, median, highest"
        )
        found.append(
            (
                read_view(database, columns, "positives"),
                read_view(database, "mode, part, length, spans, frequency", "spans"),
                read_view(database, "query_id, sentences, positives, fraction", "example_positives"),
                read_view(database, "statistic, length, printed, value", "published_positives"),
            )
        )
    assert found[0] == found[1]
    positives, spans, examples, _published = found[0]
    assert positives[0] == ("corrected", "dev", 1, 0, 0, 0.5, None, 0.5, 0.5, 0.5)
    mode, part, *counts, mean, deviation, lowest, median, highest = positives[1]
    fractions = [0.25, 0.5, 1 / 3, 0.0, 0.75]
    assert (mode, part, counts) == ("corrected", "test", [5, 1, 0])
    assert mean == pytest.approx(np.mean(fractions), abs=1e-12)
    assert deviation == pytest.approx(np.std(fractions, ddof=1), abs=1e-12)
    assert (lowest, median, highest) == (0.0, 0.333333333333, 0.75)
    assert [row for row in spans if row[:2] == ("corrected", "test")] == [
        ("corrected", "test", 1, 5, 0.833333333333),
        ("corrected", "test", 2, 1, 0.166666666667),
    ]
    assert ("p5|r1", 4, 3, 0.75) in examples


def test_sentences_are_encoded_once_and_compared_by_an_encoder(database: Database, tmp_path: Path) -> None:
    add_world(database)
    change(database, "UPDATE sentences SET text = 'We thank everyone.' WHERE paper_id = 2 AND position = 1")
    change(database, "UPDATE sentences SET text = '' WHERE paper_id = 2 AND position = 2")
    system = f"sentence_similarity:{build_toy_encoder(tmp_path / 'toy')}"
    options = SystemOptions(tmp_path, device="cpu", precision="fp32")
    request = RunRequest("sciqfs", system, options, corpus="toy")
    with pytest.raises(
        RunError, match="no text was encoded by toy_fp32 yet; do it with `pinakes index sciqfs "
    ):
        run(database, request)
    made = index(database, "sciqfs", system, options=options, corpus="toy")
    # 4 queries; of the 7 sentences of the test papers one is empty, and two are one text
    assert (made.added, made.existing) == (4 + 5, 0)
    assert index(database, "sciqfs", system, options=options, corpus="toy").existing == 9
    assert run(database, request).queries_answered == 4
    scores = dict(read_scores(database, 1))
    encoder = load_encoder(resolve_model(str(tmp_path / "toy")), "fp32")
    texts = ["weights of edges", "We thank everyone.", "Edges have weights."]
    vectors = [encoder.embed(encoder.tokenize([text]))[0] for text in texts]
    cosines = [float(compare_vectors(vectors[0], one[None], "cosine")[0]) for one in vectors[1:]]
    found = [scores["p2|r1", 1, position] for position in (1, 2, 3)]
    assert found == pytest.approx([cosines[0], min(cosines), cosines[1]], abs=1e-5)
    published = replace(request, mode="published")
    index(database, "sciqfs", system, options=options, corpus="toy", mode="published")
    run(database, published)
    changed = dict(read_scores(database, 2))
    assert {key: max(value, 0.0) for key, value in scores.items() if key in changed} == changed


def read_scores(database: Database, run_id: int) -> Iterator[tuple[tuple[str, int, int], float]]:
    """Query, section and position of each sentence that a run scores, and the score."""
    with database.read() as session:
        rows = session.rows(f"SELECT * FROM sentence_scores WHERE run_id = {run_id} ORDER BY query_id")
    for row in rows:
        yield (row["query_id"], row["section_number"], row["position"]), row["score"]
