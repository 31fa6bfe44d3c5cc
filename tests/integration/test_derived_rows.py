"""Derived rows: a load leaves those of other producers alone, and says which are of an older text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes import schema
from pinakes.database import Database
from pinakes.errors import InputError, PinakesError, UnknownNameError
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.report.output import Output
from pinakes.report.present.load import print_load
from pinakes.report.status import find_orphans, read_status
from pinakes.texts.derive import Derived, Generator, derive
from tests.benching import change
from tests.integration.toy_loading import Files, load_records, toy_paper
from tests.loading import dump_tables, paper, write_beir

pytestmark = pytest.mark.in_turn

Rows = list[dict[str, Any]]


def make_variants(row: dict[str, Any]) -> Rows:
    """Two variants of a paper: without its abstract, without its title."""
    same = {"paper_id": row["paper_id"]}
    return [{**same, "code": "T", "title": row["title"]}, {**same, "code": "A", "abstract": row["abstract"]}]


def make_sentences(row: dict[str, Any]) -> Rows:
    words = enumerate((row["abstract"] or "").split(), start=1)
    return [
        {"paper_id": row["paper_id"], "section_number": 0, "position": number, "text": word}
        for number, word in words
    ]


def make_label(row: dict[str, Any]) -> Rows:
    size = float(len(row["title"] or ""))
    told = {"task": "length", "split": "all", "label": "value", "quality": "silver"}
    return [{"paper_id": row["paper_id"], "value": size, **told}]


class Toy:
    """A generator of a table's rows that remembers which papers it was given, and may stop."""

    def __init__(
        self, table: sa.Table, make: Callable[[dict[str, Any]], Rows], producer: str = "toy 1"
    ) -> None:
        self.table, self.make, self.producer = table, make, producer
        self.given: list[int] = []
        self.stops_at: int | None = None

    def __call__(self, papers: pa.Table) -> pa.Table:
        if self.stops_at in papers["paper_id"].to_pylist():
            raise RuntimeError("killed")
        self.given += papers["paper_id"].to_pylist()
        columns = {column.name: pa.string() for column in self.table.columns}
        columns |= {
            "paper_id": pa.int64(),
            "section_number": pa.int32(),
            "position": pa.int32(),
            "value": pa.float64(),
        }
        made = [made for row in papers.to_pylist() for made in self.make(row)]
        names = list(made[0]) if made else ["paper_id"]
        names += sorted({name for row in made for name in row} - set(names))
        return pa.Table.from_pylist(made, pa.schema([(name, columns[name]) for name in names]))

    def derive(self, database: Database, size: int = 2) -> Derived:
        self.given = []
        return derive(database, "toy", Generator(self.producer, self.table, self), papers_per_batch=size)


GENERATORS = {
    "variants": (schema.paper_variants, make_variants, 2),
    "sentences": (schema.sentences, make_sentences, 2),
    "labels": (schema.labels, make_label, 1),
}


def load_toy(database: Database, folder: Path, *papers: dict[str, Any]) -> LoadSummary:
    return load(database, LoadRequest("beir", write_beir(folder, papers), corpus="toy"))


def read_states(database: Database) -> Rows:
    return read_status(database)["derived_rows"]


def count_rows(database: Database, table: sa.Table) -> dict[int, int]:
    query = sa.select(table.c.paper_id, sa.func.count().label("n")).group_by(table.c.paper_id)
    with database.read() as session:
        return {row["paper_id"]: row["n"] for row in session.rows(query.order_by(table.c.paper_id))}


def test_a_load_leaves_variants_that_others_have_written(database: Database, tmp_path: Path) -> None:
    load_toy(database, tmp_path, paper(1), paper(2))
    change(database, "INSERT INTO paper_variants (paper_id, code, title) VALUES (1, 'T', 'x'), (2, 'T', 'y')")
    load_toy(database, tmp_path, paper(1, title="Newer"), paper(2), paper(3))
    assert [row[:2] for row in dump_tables(database)["paper_variants"]] == [(1, "T"), (2, "T")]
    assert read_states(database) == []  # nobody says of which text they are


@pytest.mark.in_turn
@pytest.mark.parametrize("name", GENERATORS)
def test_a_reload_marks_the_rows_of_changed_papers_and_deletes_none(
    database: Database, tmp_path: Path, name: str
) -> None:
    table, make, rows = GENERATORS[name]
    toy = Toy(table, make)
    load_toy(database, tmp_path, paper(1), paper(2), paper(3))
    assert toy.derive(database) == Derived(3, 3 * rows)
    before = dump_tables(database)[table.name]
    summary = load_toy(
        database, tmp_path, paper(1), paper(2, title="Newer", text="Two words"), paper(3), paper(4)
    )
    assert dump_tables(database)[table.name] == before
    stale = {"table_name": table.name, "producer": "toy 1", "stale_papers": 1, "stale_rows": rows}
    assert summary.stale == [stale]
    assert read_states(database) == [{"corpus": "toy", "papers": 3, "rows_derived": 3 * rows, **stale}]
    assert toy.derive(database) == Derived(2, 2 * rows)
    assert toy.given == [2, 4]
    assert count_rows(database, table) == dict.fromkeys([1, 2, 3, 4], rows)
    assert [row["stale_rows"] for row in read_states(database)] == [0]
    assert toy.derive(database) == Derived(0, 0)
    assert load_toy(database, tmp_path, paper(1), paper(2), paper(3), paper(4)).stale[0]["stale_papers"] == 1
    assert find_orphans(database) == {}


def test_a_text_that_comes_back_makes_its_rows_current_again(database: Database, tmp_path: Path) -> None:
    load_toy(database, tmp_path, paper(1))
    Toy(schema.paper_variants, make_variants).derive(database)
    assert load_toy(database, tmp_path, paper(1, text="Other")).stale
    assert load_toy(database, tmp_path, paper(1)).stale == []


def test_the_border_of_title_and_abstract_is_part_of_the_text(database: Database, tmp_path: Path) -> None:
    load_toy(database, tmp_path, paper(1, title="a b", text="c"))
    Toy(schema.paper_variants, make_variants).derive(database)
    assert load_toy(database, tmp_path, paper(1, title="a", text="b c")).stale[0]["stale_papers"] == 1


def test_a_killed_derivation_goes_on_with_the_papers_that_are_left(
    database: Database, tmp_path: Path
) -> None:
    load_toy(database, tmp_path, *map(paper, range(1, 8)))
    toy = Toy(schema.paper_variants, make_variants)
    toy.stops_at = 5
    with pytest.raises(RuntimeError, match="killed"):
        toy.derive(database)
    assert count_rows(database, schema.paper_variants) == dict.fromkeys([1, 2, 3, 4], 2)
    toy.stops_at = None
    assert toy.derive(database) == Derived(3, 6)
    assert toy.given == [5, 6, 7]


def test_producers_with_rows_of_one_code_stand_side_by_side(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(title: str, *codes: str) -> Files:
        variants = [{"source_id": "a", "code": code, "title": f"{code} said"} for code in codes]
        return {"papers": [{**toy_paper("a", title=title), "variants": variants}, toy_paper("b", title="B")]}

    first, second = (Toy(schema.paper_variants, make_variants, name) for name in ("toy 1", "toy 2"))
    load_records(database, monkeypatch, "1", tell("A", "T", "S"))
    first.derive(database)
    second.derive(database)
    load_records(database, monkeypatch, "2", tell("Newer", "T"))
    first.derive(database)
    assert first.given == [1]
    with database.read() as session:
        query = "SELECT producer, code, title FROM paper_variants WHERE paper_id = 1 ORDER BY producer, code"
        found = [tuple(row.values()) for row in session.rows(query)]
    assert found == [
        ("toy", "T", "T said"),
        ("toy 1", "A", None),
        ("toy 1", "T", "Newer"),
        ("toy 2", "A", None),
        ("toy 2", "T", "A"),
    ]
    assert [(row["producer"], row["stale_papers"]) for row in read_states(database)] == [
        ("toy 1", 0),
        ("toy 2", 1),
    ]
    assert find_orphans(database) == {}


def test_deleted_papers_take_their_derived_rows_along(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Files = {
        "papers": [toy_paper("a", title="A", abstract="x y"), toy_paper("b", title="B", abstract="z")]
    }
    load_records(database, monkeypatch, "1", files)
    for table, make, _ in GENERATORS.values():
        Toy(table, make).derive(database)
    load_records(database, monkeypatch, "2", {"deletions": [{"deletions": [{"kind": "papers", "key": "a"}]}]})
    for table, _, _ in GENERATORS.values():
        assert list(count_rows(database, table)) == [2]
    assert find_orphans(database) == {}


def test_one_split_of_a_text_is_read(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"source_id": "a", "section_number": 0, "position": 1, "text": "One two."}]
    papers = [
        {**toy_paper("a", abstract="One two."), "sentences": said},
        toy_paper("b", abstract="Three four."),
    ]
    load_records(database, monkeypatch, "1", {"papers": papers})
    for producer in ("z split", "toy split"):
        Toy(schema.sentences, make_sentences, producer).derive(database)
    with database.read() as session:
        query = "SELECT paper_id, producer, text FROM distinct_sentences ORDER BY paper_id, position"
        found = [tuple(row.values()) for row in session.rows(query)]
    assert found == [(1, "toy", "One two."), (2, "toy split", "Three"), (2, "toy split", "four.")]


def test_a_paper_that_is_gone_gets_no_rows(database: Database, tmp_path: Path) -> None:
    load_toy(database, tmp_path, paper(1), paper(2))

    def make(row: dict[str, Any]) -> Rows:
        change(database, "DELETE FROM papers WHERE paper_id = 1")
        return make_variants(row)

    assert Toy(schema.paper_variants, make).derive(database) == Derived(2, 2)
    assert list(count_rows(database, schema.paper_variants)) == [2]


@pytest.mark.parametrize("producer", ["", " ", "user", "beir"])
def test_a_producer_has_a_name_of_its_own(database: Database, producer: str) -> None:
    with pytest.raises(InputError, match="cannot be the producer"):
        Toy(schema.paper_variants, make_variants, producer).derive(database)


def test_a_table_without_a_producer_is_refused(database: Database) -> None:
    with pytest.raises(InputError, match="expected one of paper_variants, sentences, labels"):
        Toy(schema.papers, make_variants).derive(database)
    with pytest.raises(UnknownNameError, match="corpus"):
        Toy(schema.paper_variants, make_variants).derive(database)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("table", "make", "message"),
    [
        (schema.paper_variants, lambda row: [{"paper_id": 99, "code": "T"}], "papers that it was not given"),
        (schema.paper_variants, lambda row: 2 * make_variants(row), "two rows with the same paper_id, code"),
        (
            schema.sentences,
            lambda row: [{**made, "section_number": 1} for made in make_sentences(row)],
            "sentences of another section",
        ),
    ],
)
def test_what_a_generator_must_not_make_is_refused(
    database: Database, tmp_path: Path, table: sa.Table, make: Callable[[dict[str, Any]], Rows], message: str
) -> None:
    load_toy(database, tmp_path, paper(1))
    with pytest.raises(PinakesError, match=message):
        Toy(table, make).derive(database)
    assert table.name not in dump_tables(database)


def test_a_load_reports_rows_of_an_older_text(database: Database, tmp_path: Path) -> None:
    told: list[str] = []
    load_toy(database, tmp_path, paper(1))
    Toy(schema.paper_variants, make_variants).derive(database)
    print_load(load_toy(database, tmp_path, paper(1, text="Other")), Output(), say=told.append)
    assert told == ["2 rows of paper_variants by toy 1 are of an older text: make them again"]
