"""Classification and regression from the view of examples to the scores, on both databases."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from scipy import stats
from sklearn import metrics
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC, LinearSVR

from pinakes.database import Database
from pinakes.errors import BenchmarkError, EvaluationError, InputError, RunError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.progress import Progress
from pinakes.report.output import Output
from pinakes.report.present.evaluate import print_scores
from pinakes.run import run as run_module
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import delete_run
from pinakes.schema import corpora, labels, papers
from pinakes.systems.base import Embedded, IndexSummary, SystemDescription
from pinakes.workload.paper_texts import PaperTexts
from tests.benching import count

pytestmark = pytest.mark.in_turn

PAPERS, DIMENSIONS = 150, 6
CLASSES = ("alpha", "beta", "gamma")
HEAD = """
task = "{task}"
title = "Of a test"
citation = "none"
licence = "none"
corpus = "toy"
paper_template = "title_abstract"
headline_measure = "{measure}"
measures = ["{measure}"{more}]
"""
SELECT = """
SELECT
    papers.source_id AS query_id, papers.paper_id, labels.split, labels.position,
    {target}, papers.venue
FROM labels INNER JOIN papers ON labels.paper_id = papers.paper_id WHERE labels.task = '{task}'
"""
Write = Callable[..., None]


class Vectors:
    """A system with a vector for each paper, by its source id; those without one it leaves out."""

    name = "toy_vectors"
    can = frozenset({"embed"})

    def __init__(self, vectors: Mapping[str, Any]) -> None:
        self.vectors = vectors

    def index(self, database: Database, asked: PaperTexts, progress: Progress) -> IndexSummary:
        return IndexSummary(self.name, 0, 0, 0.0)

    def describe(self, database: Database, asked: PaperTexts) -> SystemDescription:
        return SystemDescription({"papers": len(self.vectors)}, "cpu", precision="fp32")

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        rows = [row for row, source_id in enumerate(texts.source_ids) if source_id in self.vectors]
        found = np.array([self.vectors[texts.source_ids[row]] for row in rows], dtype=np.float32)
        return Embedded(np.array(rows, dtype=np.intp), found.reshape(len(rows), -1))


def make_vectors() -> dict[str, Any]:
    """A vector a paper; the first three numbers lean to its class, the fourth to its number."""
    rng = np.random.default_rng(7)
    found = {}
    for number in range(PAPERS):
        vector = rng.normal(size=DIMENSIONS)
        vector[number % 3] += 1.2
        vector[3] += number / 40
        found[f"p{number}"] = vector.astype(np.float32)
    return found


@pytest.fixture
def held(database: Database) -> Database:
    """150 papers; their positions run against their ids; 100 are for training."""
    with database.begin() as session:
        named = {"title": "Toy", "version": "1", "licence": "none", "source": "none"}
        session.execute(sa.insert(corpora).values(corpus_id=1, name="toy", **named))
        numbers = np.arange(PAPERS)
        ids = [f"p{number}" for number in numbers]
        venues = ["odd" if number % 2 else "even" for number in numbers]
        owner = {"corpus_id": pa.array([1] * PAPERS, pa.int32()), "batch_id": pa.array([1] * PAPERS)}
        rows = pa.table({"paper_id": numbers, "source_id": ids, "title": ids, "venue": venues} | owner)
        session.insert(papers, rows)
        position = {number: PAPERS - number for number in numbers.tolist()}
        said: list[dict[str, Any]] = []
        for number in numbers.tolist():
            common = {"paper_id": number, "split": "test" if number >= 100 else "train"}
            common |= {"position": position[number], "quality": "gold", "producer": "test"}
            said.append(common | {"task": "kind", "label": CLASSES[number % 3], "value": None})
            said.append(common | {"task": "size", "label": "value", "value": float(number % 50)})
            said += [
                common | {"task": "topics", "label": f"t{topic}", "value": None}
                for topic in range(3)
                if (number >> topic) & 1
            ] or [common | {"task": "topics", "label": "none", "value": None}]
        session.insert(labels, pa.Table.from_pylist(said))
    return database


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a benchmark's folder, and has the system found under any name."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))

    def write(name: str, toml: str, sql: str, vectors: Mapping[str, Any] | None = None) -> None:
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "benchmark.toml").write_text(toml)
        (folder / name / "examples.sql").write_text(sql)
        system = Vectors(make_vectors() if vectors is None else vectors)
        monkeypatch.setattr(run_module, "find_system", lambda _name, _options: system)

    return write


def classify(more: str = "", measure: str = "F1_macro", others: str = ', "Accuracy"') -> str:
    return HEAD.format(task="classification", measure=measure, more=others) + more


KIND = SELECT.format(target="labels.label", task="kind")
SIZE = SELECT.format(target="labels.value", task="size")
TOPICS = SELECT.format(target="NULLIF(labels.label, 'none') AS label", task="topics")
REGRESS = HEAD.format(task="regression", measure="KendallTau", more=', "Pearson"')


def take(numbers: range) -> tuple[Any, Any]:
    """The vectors and classes of papers, in the order of their positions."""
    vectors, order = make_vectors(), list(reversed(numbers))
    return np.array([vectors[f"p{number}"] for number in order]), np.array([number % 3 for number in order])


def read(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def scores(database: Database, name: str) -> dict[tuple[str, str], float]:
    (result,) = evaluate(database, name)
    return {(score.subset, score.measure): score.value for score in result.aggregates()}


def test_a_probe_predicts_what_scikit_learn_predicts_and_is_scored_later(
    held: Database, write: Write
) -> None:
    few = '[probe]\nfew_shot = [{size = 20, iterations = 3}]\n[aggregation]\ngroup_by = ["venue"]\n'
    write("kind", classify(few), KIND)
    made = run(held, RunRequest("kind", "toy"))
    assert (made.queries_expected, made.queries_answered, made.hit_count) == (50, 50, 4 * 50)
    train, classes = take(range(100))
    test, true = take(range(100, PAPERS))
    search = GridSearchCV(LinearSVC(random_state=42), {"C": np.logspace(-2, 2, 5)}, cv=3).fit(train, classes)
    expected = search.predict(test)
    rows = read(held, "SELECT query_id, label FROM predictions WHERE setting = 'all' ORDER BY query_id")
    by_id = {f"p{number}": CLASSES[code] for number, code in zip(range(149, 99, -1), expected, strict=True)}
    assert dict(rows) == by_id
    ((c, train_count, leaked),) = read(
        held, "SELECT c, train_count, leaked FROM probes WHERE setting = 'all'"
    )
    assert (c, train_count, leaked) == (search.best_params_["C"], 100, 0)
    found = scores(held, "kind")
    assert found["all", "F1_macro"] == pytest.approx(metrics.f1_score(true, expected, average="macro"))
    odd = np.array([number % 2 == 1 for number in range(149, 99, -1)])
    assert found["venue=odd", "Accuracy"] == metrics.accuracy_score(true[odd], expected[odd])
    draws = []
    for _, held_out in list(StratifiedKFold(5).split(train, classes))[:3]:
        fitted = LinearSVC(random_state=42).fit(train[held_out], classes[held_out])
        draws.append(metrics.f1_score(true, fitted.predict(test), average="macro"))
    assert [found[f"20-shot/{number}", "F1_macro"] for number in (1, 2, 3)] == pytest.approx(draws)
    assert found["20-shot", "F1_macro"] == pytest.approx(np.mean(draws))
    before = read(held, "SELECT * FROM predictions ORDER BY setting, draw, query_id")
    assert run(held, RunRequest("kind", "toy")).existing
    again = run(held, RunRequest("kind", "toy", again=True))
    after = read(held, "SELECT * FROM predictions ORDER BY setting, draw, query_id")
    assert [row[1:] for row in after] == [row[1:] for row in before]
    assert scores(held, "kind") == found
    with held.begin() as session:
        delete_run(session, again.run_id)
    tables = ("runs", "predictions", "probes", "scores", "score_intervals")
    assert [count(held, table) for table in tables] == [0] * 5


def test_a_missing_vector_is_a_wrong_prediction_or_left_out_as_published(
    held: Database, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = make_vectors()
    for number in (0, 100, 101):
        del vectors[f"p{number}"]
    write("kind", classify(), KIND, vectors)
    corrected = run(held, RunRequest("kind", "toy"))
    published = run(held, RunRequest("kind", "toy", mode="published"))
    assert corrected.run_id != published.run_id
    assert (corrected.queries_answered, published.queries_answered) == (48, 48)
    assert read(held, "SELECT mode FROM runs ORDER BY run_id") == [("corrected",), ("published",)]
    facts = read(held, "SELECT train_count, train_missing, test_missing FROM probes ORDER BY run_id")
    assert facts == [(99, 1, 2), (99, 1, 2)]
    right = (
        "SELECT COUNT(*) FROM predictions INNER JOIN kind.examples USING (query_id, label) WHERE run_id = "
    )
    for result, of in zip(evaluate(held, "kind"), (50, 48), strict=True):
        ((hits,),) = read(held, f"{right}{result.run_id}")
        (accuracy,) = [score for score in result.aggregates() if score.measure == "Accuracy"]
        assert accuracy.value == hits / of
        assert (accuracy.queries_expected, accuracy.queries_answered) == (50, 48)
    print_scores(evaluate(held, "kind"), Output(), per_query=False)
    own, of_published = capsys.readouterr().out.split("Scores as the published code has them")
    assert ("run 1" in own, "run 2" in own) == (True, False)
    assert ("run 1" in of_published, "run 2" in of_published) == (False, True)
    with pytest.raises(InputError, match="a depth is of rankings; kind has the task classification"):
        run(held, RunRequest("kind", "toy", depth=3))
    with pytest.raises(UnknownNameError, match=r"mode 'quick'.*corrected, published"):
        run(held, RunRequest("kind", "toy", mode="quick"))


def test_a_published_mean_over_draws_is_of_rounded_percentages(held: Database, write: Write) -> None:
    write("kind", classify("[probe]\nfew_shot = [{size = 30, iterations = 9}]\n"), KIND)
    run(held, RunRequest("kind", "toy", mode="published"))
    found = scores(held, "kind")
    draws = [found[f"30-shot/{number}", "F1_macro"] for number in (1, 2, 3, 4)]
    assert ("30-shot/5", "F1_macro") not in found  # 100 papers make four folds of 30
    assert found["30-shot", "F1_macro"] == pytest.approx(
        np.mean([round(100 * one, 2) for one in draws]) / 100
    )


def test_several_labels_a_paper_are_predicted_one_row_each(held: Database, write: Write) -> None:
    more = "[probe]\nmulti_label = true\nfew_shot = [{size = 5, iterations = 2}]\n"
    write("topics", classify(more), TOPICS)
    made = run(held, RunRequest("topics", "toy"))
    assert (made.queries_expected, made.queries_answered) == (50, 50)
    answered = "SELECT COUNT(DISTINCT query_id) FROM predictions WHERE setting = 'all'"
    assert read(held, answered) == [(50,)]
    strange = "SELECT DISTINCT label FROM predictions ORDER BY label"
    assert {label for (label,) in read(held, strange)} <= {"", "t0", "t1", "t2"}
    pairs = {
        (query_id, label)
        for query_id, label in read(held, "SELECT query_id, label FROM predictions WHERE setting = 'all'")
    }
    true = {
        (f"p{number}", f"t{topic}") for number in range(100, 150) for topic in range(3) if number >> topic & 1
    }
    f1 = [
        2
        * sum(one in true for one in pairs if one[1] == label)
        / (sum(one[1] == label for one in pairs) + sum(one[1] == label for one in true))
        for label in ("t0", "t1", "t2")
    ]
    assert scores(held, "topics")["all", "F1_macro"] == pytest.approx(np.mean(f1))
    ((chosen,),) = read(held, "SELECT label_c FROM probes WHERE setting = 'all'")
    assert chosen.startswith('{"t0":')


def test_numbers_are_predicted_as_scikit_learn_predicts_them(held: Database, write: Write) -> None:
    write("size", REGRESS, SIZE)
    run(held, RunRequest("size", "toy"))
    train, _ = take(range(100))
    test, _ = take(range(100, PAPERS))
    targets = np.array([number % 50 for number in range(99, -1, -1)], dtype=float)
    true = np.array([number % 50 for number in range(149, 99, -1)], dtype=float)
    svr = LinearSVR(random_state=42, max_iter=100_000)
    search = GridSearchCV(svr, {"C": np.logspace(-4, 2, 7)}, cv=3).fit(train, targets)
    tau = stats.kendalltau(true, search.predict(test)).statistic
    assert scores(held, "size")["all", "KendallTau"] == pytest.approx(
        tau, abs=4 / (50 * 49 / 2)
    )  # a pair or two: the tolerance of the solvers
    assert read(held, "SELECT c FROM probes") == [(search.best_params_["C"],)]
    assert read(held, "SELECT DISTINCT label FROM predictions") == [("value",)]


def test_a_test_paper_that_is_trained_on_is_reported(held: Database, write: Write) -> None:
    both = (
        KIND
        + " UNION ALL "
        + KIND.replace("labels.split,", "'train' AS split,")
        + " AND papers.paper_id = 149"
    )
    write("kind", classify(), both)
    run(held, RunRequest("kind", "toy"))
    assert read(held, "SELECT leaked, train_count FROM probes") == [(1, 101)]


@pytest.mark.parametrize(
    ("toml", "sql", "message"),
    [
        (
            classify(),
            KIND + " AND labels.split = 'train'",
            r"kind has no test examples .* load its corpus toy",
        ),
        (classify(), KIND + " AND labels.split = 'test'", "kind has no train examples"),
        (
            classify(),
            KIND.replace("labels.split", "'dev' AS split"),
            "has the split dev; expected train and test",
        ),
        (
            classify(),
            TOPICS + " AND labels.label <> 'none'",
            r"has p\d+ twice in the split train.*multi_label",
        ),
        (classify(), KIND.replace("labels.label", "CAST(NULL AS VARCHAR) AS label"), "has no label for p"),
        (
            REGRESS,
            SIZE.replace("labels.value", "papers.title AS value"),
            "has the text 'p.*expected a number",
        ),
        (
            REGRESS,
            SIZE.replace("labels.value", "labels.value / 0e0 AS value"),
            "division by zero|no .*number for p",
        ),
        (
            classify("[probe]\nfew_shot = [{size = 20}]\n"),
            KIND,
            "few-shot setting .*expected size and iterations",
        ),
    ],
)
def test_examples_that_are_not_what_they_must_be_are_refused(
    held: Database, write: Write, toml: str, sql: str, message: str
) -> None:
    write("kind", toml, sql)
    with pytest.raises(Exception, match=message) as raised:  # a division by zero is the database's own error
        run(held, RunRequest("kind", "toy"))
    assert isinstance(raised.value, BenchmarkError) or "division" in str(raised.value)
    assert (count(held, "runs"), count(held, "predictions")) == (0, 0)


def test_vectors_that_cannot_be_used_are_refused(held: Database, write: Write) -> None:
    write("kind", classify(), KIND, make_vectors() | {"p5": np.full(DIMENSIONS, np.nan)})
    with pytest.raises(RunError, match="the vector of p5 by toy_vectors is not of finite numbers"):
        run(held, RunRequest("kind", "toy"))
    write("kind", classify(), KIND, {f"p{number}": np.ones(DIMENSIONS) for number in range(100)})
    with pytest.raises(RunError, match="no test paper of kind has a vector of toy_vectors"):
        run(held, RunRequest("kind", "toy"))
    assert (count(held, "runs"), count(held, "predictions")) == (0, 0)


def test_one_class_is_predicted_and_counted_and_constant_targets_have_no_order(
    held: Database, write: Write
) -> None:
    write("kind", classify(), KIND.replace("labels.label", "'alpha' AS label"))
    run(held, RunRequest("kind", "toy"))
    assert read(held, "SELECT DISTINCT label FROM predictions") == [("alpha",)]
    ((fits,),) = read(held, "SELECT one_class_fits FROM probes")
    assert fits > 0
    assert scores(held, "kind")["all", "Accuracy"] == 1.0
    write("size", REGRESS, SIZE.replace("labels.value", "CAST(3 AS DOUBLE PRECISION) AS value"))
    run(held, RunRequest("size", "toy"))
    with pytest.raises(EvaluationError, match="KendallTau is undefined: the 50 true numbers do not differ"):
        evaluate(held, "size")


def test_the_positive_class_must_be_one_of_the_examples(held: Database, write: Write) -> None:
    write("kind", classify('[probe]\npositive = "beta"\n', "F1_binary", ""), KIND)
    run(held, RunRequest("kind", "toy"))
    assert 0 < scores(held, "kind")["all", "F1_binary"] < 1
    write("kind", classify('[probe]\npositive = "delta"\n', "F1_binary", ""), KIND)
    with pytest.raises(
        EvaluationError, match=r"no example of the positive class 'delta'.*alpha, beta, gamma"
    ):
        evaluate(held, "kind")


def test_a_system_without_vectors_is_refused(
    held: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("kind", classify(), KIND)
    monkeypatch.setattr(Vectors, "can", frozenset({"rank"}))
    with pytest.raises(
        InputError, match="toy_vectors cannot give the vectors of papers, which the task class"
    ):
        run(held, RunRequest("kind", "toy"))
