"""Variants by code: each paper has one row of each code that was asked for, or the reason why not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes import schema
from pinakes.database import Database
from pinakes.errors import InputError, PinakesError
from pinakes.report.status import find_orphans, read_status
from pinakes.texts import derive as module
from pinakes.texts.derive import Derived, derive
from pinakes.texts.generator import Generator
from tests.benching import change
from tests.integration.toy_codes_of_texts import make_generator, make_variants
from tests.integration.toy_loading import Files, load_records, toy_paper
from tests.loading import dump_tables
from tests.long import alternate
from tests.templates import Templates

pytestmark = pytest.mark.in_turn

TITLES = {"a": "Paper 1", "b": "Two", "c": None, "d": "Paper 4", "e": "kill"}
VARIANTS = [
    ("a", "LOWER", "paper 1", "x"),
    ("a", "NUMBER", "1", None),
    ("a", "UPPER", "PAPER 1", "X"),
    ("b", "LOWER", "two", "x"),
    ("b", "UPPER", "TWO", "X"),
    ("d", "LOWER", "paper 4", "x"),
    ("d", "NUMBER", "4", None),
    ("d", "UPPER", "PAPER 4", "X"),
    ("e", "LOWER", "kill", "x"),
    ("e", "UPPER", "KILL", "X"),
]
ABSENT = [
    ("b", "NUMBER", "no digit"),
    ("c", "LOWER", "no title"),
    ("c", "NUMBER", "no title"),
    ("c", "UPPER", "no title"),
    ("e", "NUMBER", "no digit"),
]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that make rows find the toy generator."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])


def fill(database: Database, _folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        load_titles(database, patched, "1", TITLES)


@pytest.fixture(params=["duckdb", "postgresql"])
def toy(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Database]:
    """A corpus of five papers, of which one has no text at all."""
    with templates.copy(request.param, fill, of="tables") as opened:
        yield opened


def load_titles(
    database: Database, monkeypatch: pytest.MonkeyPatch, digest: str, titles: dict[str, str | None]
) -> None:
    papers = [toy_paper(name, title=title, abstract="x" if title else None) for name, title in titles.items()]
    load_records(database, monkeypatch, digest, {"papers": papers})


def read(database: Database, table: str, *columns: str, producer: str = "toy 1") -> list[tuple[Any, ...]]:
    query = (
        f"SELECT source_id, code, {', '.join(f'made.{name}' for name in columns)} FROM {table} AS made "
        "INNER JOIN papers ON made.paper_id = papers.paper_id WHERE producer = :producer "
        "ORDER BY source_id, code"
    )
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query, {"producer": producer})]


def read_made(database: Database) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    return read(database, "paper_variants", "title", "abstract"), read(database, "absent_variants", "reason")


@pytest.mark.in_turn
@pytest.mark.parametrize(("jobs", "size"), alternate([1, 2], [1_000, 2]))
def test_each_paper_has_each_code_or_the_reason_why_not(toy: Database, jobs: int, size: int) -> None:
    derived = derive(toy, "toy", make_generator(), jobs=jobs, papers_per_batch=size)
    assert derived == Derived(5, 15)
    assert read_made(toy) == (VARIANTS, ABSENT)
    assert derive(toy, "toy", make_generator(), jobs=jobs) == Derived(0, 0)
    assert find_orphans(toy) == {}


def test_a_code_that_is_asked_for_later_is_the_only_one_made(toy: Database) -> None:
    derive(toy, "toy", make_generator("UPPER"))
    change(toy, "UPDATE paper_variants SET title = 'kept' WHERE code = 'UPPER'")
    change(toy, "DELETE FROM absent_variants WHERE code = 'UPPER'")
    assert derive(toy, "toy", make_generator()) == Derived(5, 4 + 4 + 3 + 2 - 2)
    variants, absent = read_made(toy)
    assert variants == [(*row[:2], "kept", *row[3:]) if row[1] == "UPPER" else row for row in VARIANTS]
    assert absent == ABSENT


def test_a_changed_paper_is_made_anew_and_others_rows_stay(
    toy: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive(toy, "toy", make_generator())
    derive(toy, "toy", make_generator("UPPER", producer="toy 2"))
    change(toy, "INSERT INTO paper_variants (paper_id, code, title) VALUES (1, 'UPPER', 'mine')")
    load_titles(toy, monkeypatch, "2", {**TITLES, "a": "Changed", "f": "Paper 6"})
    states = [
        {
            "corpus": "toy",
            "table_name": table,
            "producer": producer,
            "papers": papers,
            "rows_derived": rows,
            "stale_papers": stale,
            "stale_rows": stale_rows,
        }
        for table, producer, papers, rows, stale, stale_rows in [
            ("absent_variants", "toy 1", 3, 5, 0, 0),
            ("absent_variants", "toy 2", 1, 1, 0, 0),
            ("paper_variants", "toy 1", 4, 10, 1, 3),
            ("paper_variants", "toy 2", 4, 4, 1, 1),
        ]
    ]
    assert read_status(toy)["derived_rows"] == states
    assert derive(toy, "toy", make_generator()) == Derived(2, 6)
    variants, absent = read_made(toy)
    assert variants[:2] == [("a", "LOWER", "changed", "x"), ("a", "UPPER", "CHANGED", "X")]
    assert variants[2:] == [
        *VARIANTS[3:],
        ("f", "LOWER", "paper 6", "x"),
        ("f", "NUMBER", "6", None),
        ("f", "UPPER", "PAPER 6", "X"),
    ]
    assert absent == [("a", "NUMBER", "no digit"), *ABSENT]
    assert [row["stale_rows"] for row in read_status(toy)["derived_rows"]] == [0, 0, 0, 1]
    assert read(toy, "paper_variants", "title", producer="user") == [("a", "UPPER", "mine")]
    assert read(toy, "paper_variants", "title", producer="toy 2")[0] == ("a", "UPPER", "PAPER 1")


def test_a_code_in_both_tables_is_made_anew(toy: Database) -> None:
    derive(toy, "toy", make_generator())
    change(
        toy,
        "INSERT INTO absent_variants (paper_id, code, reason, producer, text_digest) "
        "SELECT paper_id, code, 'wrong', producer, text_digest FROM paper_variants WHERE paper_id = 1 "
        "AND code = 'UPPER'",
    )
    assert derive(toy, "toy", make_generator()) == Derived(1, 1)
    assert read_made(toy) == (VARIANTS, ABSENT)


@pytest.mark.in_turn
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stopped_derivation_goes_on_with_what_is_left(toy: Database, jobs: int) -> None:
    change(toy, "UPDATE papers SET title = 'stop' WHERE source_id = 'd'")
    with pytest.raises(RuntimeError, match="stop"):
        derive(toy, "toy", make_generator(behaviour="stop"), jobs=jobs, papers_per_batch=1)
    assert {row[0] for rows in read_made(toy) for row in rows} == {"a", "b", "c"}
    assert derive(toy, "toy", make_generator()) == Derived(2, 6)


def test_a_process_that_is_killed_is_an_error_that_says_what_to_do(toy: Database) -> None:
    with pytest.raises(PinakesError, match=r"was killed.*Start the same command again"):
        derive(toy, "toy", make_generator(behaviour="kill"), jobs=2, papers_per_batch=1)
    derive(toy, "toy", make_generator())
    assert read_made(toy) == (VARIANTS, ABSENT)


def test_texts_are_cut_into_batches_by_their_length(toy: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHARACTERS_PER_BATCH", 12)
    given: list[list[int]] = []

    def make(papers: Any) -> Any:
        given.append(papers["paper_id"].to_pylist())
        return make_variants("", papers)

    toy_generator = make_generator()
    derive(toy, "toy", Generator("toy 1", toy_generator.table, make, toy_generator.codes))
    assert given == [[1, 2, 3], [4], [5]]  # of 8 + 4 + 0, 8 and 5 characters
    assert read_made(toy) == (VARIANTS, ABSENT)


def test_rows_are_not_stored_where_what_they_were_made_with_holds_no_more(toy: Database) -> None:
    generator = Generator(
        "toy 1", schema.paper_variants, make_generator().make, ("UPPER",), still_holds=lambda _session: False
    )
    with pytest.raises(PinakesError, match="another process has made some since"):
        derive(toy, "toy", generator)
    assert read_made(toy) == ([], [])


def test_what_a_generator_with_codes_must_not_make_is_refused(toy: Database) -> None:
    with pytest.raises(PinakesError, match="other codes than it was asked for"):
        derive(toy, "toy", make_generator(behaviour="forget"))
    wrong = Generator("toy 1", schema.sentences, make_generator().make, ("UPPER",))
    with pytest.raises(InputError, match="sentences has no codes"):
        derive(toy, "toy", wrong)
    with pytest.raises(InputError, match="--jobs is 0; expected a whole number from 1"):
        derive(toy, "toy", make_generator(), jobs=0)


def test_what_another_has_made_since_is_not_made_again(toy: Database) -> None:
    given: list[tuple[int, str]] = []

    def make(papers: Any) -> Any:
        given.extend(zip(papers["paper_id"].to_pylist(), papers["codes"].to_pylist(), strict=True))
        if given == [(1, "UPPER,LOWER,NUMBER")]:
            change(toy, "UPDATE papers SET title = 'Changed' WHERE paper_id = 2")
            derive(toy, "toy", make_generator())
            change(toy, "DELETE FROM paper_variants WHERE paper_id = 4 AND code = 'LOWER'")
        return make_variants("", papers)

    generator = Generator("toy 1", schema.paper_variants, make, make_generator().codes)
    assert derive(toy, "toy", generator, papers_per_batch=1) == Derived(2, 4)
    assert given == [(1, "UPPER,LOWER,NUMBER"), (4, "LOWER")]
    assert find_orphans(toy) == {}


def test_two_derivations_at_once_end_as_one(toy: Database) -> None:
    """What one has stored while the other made the same is replaced, not doubled."""

    def make(papers: Any) -> Any:
        derive(toy, "toy", make_generator("LOWER", "UPPER"))
        return make_variants("", papers)

    derive(toy, "toy", Generator("toy 1", schema.paper_variants, make, make_generator().codes))
    assert read_made(toy) == (VARIANTS, ABSENT)
    assert find_orphans(toy) == {}


def test_deleted_papers_take_the_rows_of_every_table_along(
    toy: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive(toy, "toy", make_generator())
    analyses = Generator(
        "analysis 1",
        schema.text_analyses,
        lambda papers: papers.select(["paper_id"]).append_column("analysis", papers["title"]),
    )
    assert derive(toy, "toy", analyses) == Derived(4, 4)
    deleted: Files = {
        "deletions": [{"deletions": [{"kind": "papers", "key": key} for key in ("a", "b", "c")]}]
    }
    load_records(toy, monkeypatch, "2", deleted)
    for table in ("paper_variants", "absent_variants", "text_analyses"):
        assert {row[0] for row in dump_tables(toy)[table]} <= {4, 5}
    assert find_orphans(toy) == {}


def test_an_analysis_of_an_older_text_is_not_given(toy: Database) -> None:
    analyses = Generator(
        "analysis 1",
        schema.text_analyses,
        lambda papers: papers.select(["paper_id"]).append_column("analysis", papers["title"]),
    )
    derive(toy, "toy", analyses)
    change(toy, "UPDATE papers SET title = 'Newer' WHERE source_id = 'a'")
    given: list[tuple[str, str]] = []

    def make(papers: Any) -> Any:
        given.extend(zip(papers["source_id"].to_pylist(), papers["analysis"].to_pylist(), strict=True))
        return make_variants("", papers)

    variants = Generator("toy 1", schema.paper_variants, make, make_generator().codes, "analysis 1")
    assert derive(toy, "toy", variants) == Derived(4, 12)
    assert given == [("b", "Two"), ("c", None), ("d", "Paper 4"), ("e", "kill")]
