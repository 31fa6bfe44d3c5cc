"""Extraction of sentences from the tables to scores, on both databases."""


from pinakes.database import Database
from pinakes.tasks.base import choose_corpus
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.summaries import SummaryQuestions, read_summaries
from tests.summary_worlds import add_world


def read(database: Database, mode: str = "corrected") -> SummaryQuestions:
    from dataclasses import replace

    benchmark = replace(open_benchmark(database, "sciqfs"), mode=mode)
    return read_summaries(database, choose_corpus(database, benchmark, "toy"), "", "")


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
