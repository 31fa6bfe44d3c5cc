"""Draws recorded under a name, and what becomes of them when a corpus goes."""

from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.removal.remove import remove_corpus
from pinakes.report.status import find_orphans
from pinakes.schema import training_instances, training_omissions, training_tasks, trainings
from pinakes.train.data import Draw, DrawOptions
from pinakes.train.draw import draw
from pinakes.train.record import record_draw
from pinakes.train.summarise import TaskSummary, summarise
from tests.training_worlds import World

pytestmark = pytest.mark.in_turn

TABLES = (trainings, training_tasks, training_omissions, training_instances)


def write_worlds(database: Database) -> tuple[World, World]:
    described = {name: {"title": f"Title {name}", "year": 2000 + place} for place, name in enumerate("abc")}
    dated = World(database, "dated", {**described, "d": "Title d"})
    judged = World(database, "scirepeval-search", {name: f"Judged {name}" for name in "ab"})
    judged.judge("train", "search", {"q1": {"a": 1, "b": 0}})
    return dated, judged


def draw_both(database: Database, seed: int = 1) -> Draw:
    return draw(database, ["year:dated", "scirepeval_search"], DrawOptions(seed, validation=0.0))


def find_own_orphans(database: Database) -> dict[str, int]:
    """But for the file that the worlds' rows are not of."""
    found = find_orphans(database)
    return {name: count for name, count in found.items() if not name.endswith(".batch_id")}


def read_rows(database: Database, table: sa.Table) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(sa.select(table).order_by(*table.primary_key))


def test_a_draw_is_recorded_with_its_counts_reasons_and_instances(initialised: Database) -> None:
    dated, judged = write_worlds(initialised)
    drawn = draw_both(initialised)
    assert record_draw(initialised, "first", drawn) == 1
    (training,) = read_rows(initialised, trainings)
    assert (training["name"], training["seed"], training["draw_digest"]) == ("first", 1, drawn.digest)
    assert training["asked"] == (
        '{"tasks":["year:dated","scirepeval_search"],"held_out":[],"most":600000,'
        '"triplets_per_query":5,"validation":0.0}'
    )
    counted = [tuple(row.values()) for row in read_rows(initialised, training_tasks)]
    assert counted == [
        (1, "scirepeval_search", 2, "SRCH", "triplets", 0, 3, 1, 0),
        (1, "year:dated", 1, "RGN", "number", 0, 3, 3, 0),
    ]
    left_out = [tuple(row.values()) for row in read_rows(initialised, training_omissions)]
    assert left_out == [(1, "year:dated", "papers without a label or a number", 1)]
    triplet, *numbers = read_rows(initialised, training_instances)
    assert tuple(triplet.values()) == (
        *(1, "scirepeval_search", "train", 1, judged.corpus_id, "q1", None),
        *(judged.ids["a"], judged.ids["b"], None, None),
    )
    assert [row["position"] for row in numbers] == [1, 2, 3]
    assert {dated.names[row["query_paper_id"]]: row["value"] for row in numbers} == {"a": 0, "b": 0.5, "c": 1}
    assert find_own_orphans(initialised) == {}


def test_the_same_draw_is_recorded_once_and_another_takes_its_place(initialised: Database) -> None:
    write_worlds(initialised)
    first = draw_both(initialised)
    assert record_draw(initialised, "one", first) == record_draw(initialised, "one", first) == 1
    before = [read_rows(initialised, table) for table in TABLES]
    assert record_draw(initialised, "two", draw_both(initialised, seed=2)) == 2
    assert record_draw(initialised, "one", draw_both(initialised, seed=3)) == 1
    assert [row["seed"] for row in read_rows(initialised, trainings)] == [3, 2]
    assert len(read_rows(initialised, training_instances)) == 8
    record_draw(initialised, "one", first)
    after = [[row for row in read_rows(initialised, table) if row["training_id"] == 1] for table in TABLES]
    assert after == before


def test_a_removed_corpus_takes_its_instances_and_the_counts_stay(initialised: Database) -> None:
    write_worlds(initialised)
    record_draw(initialised, "first", draw_both(initialised))
    counted = read_rows(initialised, training_tasks)
    removed = remove_corpus(initialised, "scirepeval-search")
    assert removed.deleted["training_instances"] == 1
    assert {row["task"] for row in read_rows(initialised, training_instances)} == {"year:dated"}
    assert read_rows(initialised, training_tasks) == counted
    assert find_own_orphans(initialised) == {}


def test_a_draw_without_a_name_is_not_recorded(initialised: Database) -> None:
    write_worlds(initialised)
    with pytest.raises(InputError, match="a training needs a name"):
        record_draw(initialised, " ", draw_both(initialised))
    assert read_rows(initialised, trainings) == []


def test_a_summary_says_what_was_drawn_and_what_was_not(initialised: Database) -> None:
    write_worlds(initialised)
    missing = {"papers without a label or a number": 1}
    assert summarise(draw_both(initialised)) == (
        TaskSummary("year:dated", "RGN", "number", (), 3, 3, 0, missing),
        TaskSummary("scirepeval_search", "SRCH", "triplets", (), 3, 1, 0, {}),
    )
