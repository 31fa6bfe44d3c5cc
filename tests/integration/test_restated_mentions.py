"""A newer version of a file that says mentions unchanged leaves their rows alone, and they are its own."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pinakes.database import Database, connect
from pinakes.load import load as load_module
from pinakes.loaders import staging
from pinakes.loaders.merge import papers as merge_module
from pinakes.loaders.merge.origins import restate
from pinakes.loaders.staging import Rows
from pinakes.removal.gc import collect_garbage
from pinakes.report.status import find_orphans
from pinakes.schema import citations, create_schema, metadata
from tests.integration.toy_loading import Files, load_files, toy_paper
from tests.long import long

pytestmark = pytest.mark.in_turn

PAPERS = "abcdef"
MENTIONS = "SELECT * FROM citation_batches ORDER BY citation_id"
OWN = frozenset({"citations"})


@pytest.fixture
def in_place() -> Iterator[Database]:
    """A database in which every mention's row is given the newer file."""
    with connect("duckdb:///:memory:") as opened:
        create_schema(opened)
        yield opened


def text(paper: str, *cited: str) -> Rows:
    """A full text's record: the paper and what it mentions; `x>y`: what another paper mentions."""
    pairs = [key.rpartition(">")[::2] for key in cited]
    rows = [{"citing_source_id": citing or paper, "reference_key": key} for citing, key in pairs]
    return {"papers": [{"source_id": paper}], "citations": rows}


def list_rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def test_a_newer_version_leaves_unchanged_mentions_alone_and_has_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"texts": [text("a", "b", "c"), text("b", "c"), text("c")]}
    load_files(database, monkeypatch, "1", files, OWN)
    before = list_rows(database, "SELECT * FROM citations ORDER BY citation_id")
    for digest in ("2", "3"):
        files["texts"].append(text(digest, "a"))
        load_files(database, monkeypatch, digest, files, OWN)
        assert list_rows(database, "SELECT * FROM citations ORDER BY citation_id")[:3] == before
        of_digest = (
            "SELECT citing_paper_id, file_digest FROM citation_batches INNER JOIN load_batches "
            "ON citation_batches.batch_id = load_batches.batch_id ORDER BY citation_id LIMIT 3"
        )
        assert list_rows(database, of_digest) == [(number, f"texts {digest}") for number in (1, 1, 2)]
    assert len(list_rows(database, "SELECT * FROM restated_citations")) == 3
    assert find_orphans(database) == {}


def test_what_the_newest_version_lacks_is_removed_whichever_version_said_it_last(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_files(database, monkeypatch, "0", {"papers": [toy_paper(paper) for paper in PAPERS]})
    whole = [text("a", "b"), text("b", "c"), text("c", "a")]
    for digest, records in (("1", whole), ("2", whole[:2]), ("3", whole[:1])):
        found = load_files(database, monkeypatch, digest, {"texts": records}, OWN).corrections
        assert sum(one.rows for one in found.lacking) == 3 - len(records)
    found = load_files(database, monkeypatch, "3", {"texts": whole[:1]}, OWN, replace=True).corrections
    assert found.removed == {"citations": 2}
    load_files(database, monkeypatch, "4", {"texts": [text("a", "d")]}, OWN)
    assert collect_garbage(database, Path("nowhere")).rows == {
        "rows of restated_citations, of mentions that are gone": 1
    }
    assert len(list_rows(database, MENTIONS)) == 1


def make_history(random: Random) -> Iterator[tuple[str, Files, bool, int]]:
    """Loads: digest, files, whether what they lack is removed, and after how many batches one is killed."""
    versions: dict[str, list[Rows]] = {}
    for step in range(random.randint(3, 6)):
        for name in random.choice([["texts/x"], ["texts/y"], ["texts/x", "texts/y"], ["texts/x"]]):
            held = {rows["papers"][0]["source_id"]: rows for rows in versions.get(name, [])}
            for paper in random.sample(PAPERS, 2):
                others = [f"{random.choice(PAPERS)}>{random.choice('klm')}"] if random.random() < 0.2 else []
                held[paper] = text(paper, *random.choices("klmn", k=random.randint(0, 3)), *others)
            held = {paper: rows for paper, rows in held.items() if random.random() < 0.8}
            if random.random() < 0.5 and versions.get("texts/x"):  # what the other file says too
                held |= {rows["papers"][0]["source_id"]: rows for rows in versions["texts/x"][:2]}
            versions[name] = list(held.values())
        asked = {name: records for name, records in versions.items() if random.random() < 0.8}
        yield f"{step}", asked, random.random() < 0.4, random.choice([0, 0, 1, 2, 3])


def load_killed(database: Database, patched: pytest.MonkeyPatch, step: tuple[str, Files, bool, int]) -> Any:
    """Load, killed after so many batches and started again; what it says."""
    digest, files, replace, killed_after = step
    load_chunk, left = load_module._load_chunk, [killed_after or 10**6]

    def die(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return load_chunk(*given, **named)

    with pytest.MonkeyPatch.context() as dying:
        dying.setattr(load_module, "_load_chunk", die)
        try:
            return load_files(database, patched, digest, files, OWN, replace=replace)
        except KeyboardInterrupt:
            pass
    return load_files(database, patched, digest, files, OWN, replace=replace)


def describe(database: Database) -> list[Any]:
    """Every mention with the batch it is of, what waits, and what other files say too."""
    mentions = (
        "SELECT citations.citation_id, citations.citing_paper_id, reference_id, citation_batches.batch_id "
        "FROM citations INNER JOIN citation_batches ON citations.citation_id = citation_batches.citation_id "
        "ORDER BY citations.citation_id"
    )
    others = "SELECT * FROM repeated_rows ORDER BY batch_id, table_name, row_digest"
    return [list_rows(database, query) for query in (mentions, others)]


@pytest.mark.parametrize("seeds", [(0, 1, 18), long(range(100))], ids=["few", "many"])
def test_mentions_are_of_the_file_that_they_would_be_of_if_each_row_were_changed(
    both_databases: tuple[Database, Database], in_place: Database, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        for database in (*both_databases, in_place):
            with database.begin() as session:
                for table in metadata.sorted_tables:
                    if table.name != "schema_version":
                        session.execute(table.delete())
        for step in make_history(Random(seed)):
            said = []
            for database in (*both_databases, in_place):
                with pytest.MonkeyPatch.context() as patched:
                    patched.setattr(staging, "TRANSACTION_ROWS", 1)
                    if database is in_place:
                        patched.setattr(merge_module, "restate_mentions", change_rows)
                    summary = load_killed(database, patched, step)
                counts = [(one.rows_updated, one.rows_unchanged) for one in summary.files]
                said.append([counts, summary.corrections, describe(database)])
            assert said[0] == said[1] == said[2], f"seed {seed}, step {step}"
        assert not list_rows(in_place, "SELECT * FROM restated_citations")
        for database in both_databases:
            assert find_orphans(database) == {}


def change_rows(session: Any, staged: Any, same: Any, context: Any) -> None:
    restate(session, citations, staged, same, context)
