"""Measures of stored rankings against ir-measures, on both databases."""

import importlib.util
import random
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.run.import_run import ImportRequest, import_run
from tests.measuring import ask

MEASURES = [
    "AP", "AP@20", "Accuracy@10", "Bpref", "Compat", "IPrec@0.1", "Judged@10", "P@5", "R@10", "RR", "RR@3",
    "Rprec", "SetAP", "SetF", "SetF(beta=2.0)", "SetP", "SetR", "Success@1", "infAP", "nDCG@10",
    "nDCG(judged_only=True)@10",
]  # fmt: skip
BY_CWL = ["BPM(max_rel=2)@5", "INST(max_rel=2)", "NERR10(max_rel=2)", "RBP(rel=1)", "SDCG(max_rel=2)@10"]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "measures",
    [
        MEASURES,
        pytest.param(
            BY_CWL,
            marks=pytest.mark.skipif(
                importlib.util.find_spec("cwl") is None, reason="cwl-eval of the extra dev is not installed"
            ),
        ),
    ],
    ids=["own", "cwl"],
)
def test_scores_of_a_stored_run_are_those_of_ir_measures(
    prepared: Database, tmp_path: Path, measures: list[str]
) -> None:
    judged = read_judgments(prepared)
    drawn = random.Random(5)
    answered = sorted(judged)[:-2]
    # few scores, so that many are equal; papers that nobody judged among them; two queries without an answer
    scores = {query: draw(drawn, list_papers(prepared), judged[query]) for query in answered}
    path = tmp_path / "run.txt"
    path.write_text(
        "".join(
            f"{query} Q0 {paper} {rank} {score} t\n"
            for query, papers in scores.items()
            for rank, (paper, score) in enumerate(papers.items(), start=1)
        )
    )
    import_run(prepared, ImportRequest("synthetic", "theirs", [path]))
    (result,) = evaluate(prepared, "synthetic", measures=measures)
    ours = {
        (score.measure, score.query_id): score.value
        for score in result.scores
        if score.query_id is not None and score.subset == "all"
    }
    assert ours == pytest.approx(ask(judged, scores, measures), abs=1e-12)


def draw(drawn: random.Random, papers: list[str], judged: dict[str, int]) -> dict[str, float]:
    chosen = {*drawn.sample(papers, 40), *drawn.sample(sorted(judged), len(judged) // 2)}
    return {paper: drawn.choice([0.5, 1.0, 1.5, 2.0]) for paper in sorted(chosen)}


def list_papers(database: Database) -> list[str]:
    with database.read() as session:
        rows = session.rows(
            "SELECT source_id FROM papers INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id "
            "WHERE corpora.name = 'synthetic'"
        )
    return sorted(row["source_id"] for row in rows)


def read_judgments(database: Database) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    with database.read() as session:
        for row in session.rows(
            "SELECT judgments.query_id, papers.source_id, judgments.grade FROM synthetic.judgments "
            "INNER JOIN papers ON judgments.paper_id = papers.paper_id"
        ):
            judged.setdefault(row["query_id"], {})[row["source_id"]] = row["grade"]
    return judged
