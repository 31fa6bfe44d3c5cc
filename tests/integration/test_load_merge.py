"""Child rows of papers, and citations: replaced, resolved and counted, the same on both databases."""

from typing import Any, cast

import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import LoadError
from pinakes.load.load import FileSummary
from pinakes.loaders.base import ASSESSMENTS, PAPER_CHILDREN, WHOLE_PAPER
from pinakes.loaders.staging import STAGED, Rows
from pinakes.report.status import find_orphans
from pinakes.schema import integrity, metadata
from pinakes.schema.base import key_column, optional, reference
from tests.integration.toy_loading import Files, cite, load_records, toy_paper
from tests.loading import dump_tables

pytestmark = pytest.mark.in_turn


def _counts(files: list[FileSummary]) -> list[tuple[int, int, int, int, int]]:
    return [(f.rows_in, f.rows_loaded, f.rows_updated, f.rows_unchanged, f.rows_rejected) for f in files]


def test_child_rows_are_replaced_where_they_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [
        toy_paper("a", "zoe ann", "Law Art", "10.1/a"),
        toy_paper("b", "ann"),
        toy_paper("c", "bob", "Law"),
    ]
    assert _counts(load_records(database, monkeypatch, "1", {"papers": papers})) == [(3, 3, 0, 0, 0)]
    newer = [
        toy_paper("c", "bob", "Law"),
        toy_paper("a", "ann zoe eve", "Law", "10.1/a"),
        toy_paper("b", "ann", dois="10.1/b"),
    ]
    assert _counts(load_records(database, monkeypatch, "2", {"papers": newer})) == [(3, 3, 2, 1, 0)]
    dumped = dump_tables(database)
    assert [(row[0], row[2], row[-1]) for row in dumped["papers"]] == [
        (1, "a", 3),
        (2, "b", 4),
        (3, "c", 3),
    ]
    assert dumped["authors"] == [
        (1, 1, "zoe", "Zoe"),
        (2, 1, "ann", "Ann"),
        (3, 1, "bob", "Bob"),
        (4, 1, "eve", "Eve"),
    ]
    assert [row[:3] for row in dumped["authorships"]] == [
        (1, 1, 2),
        (1, 2, 1),
        (1, 3, 4),
        (2, 1, 2),
        (3, 1, 3),
    ]
    assert dumped["paper_fields"] == [(1, "toy", "Law"), (3, "toy", "Law")]
    assert dumped["paper_identifiers"] == [(1, "doi", "10.1/a"), (2, "doi", "10.1/b")]


def test_papers_between_those_of_a_chunk_are_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def paper(name: str, author: str) -> Rows:
        return {**toy_paper(name, author, "Law", f"10.1/{name}"), **cite(name, f"cited by {name}")}

    load_records(database, monkeypatch, "1", {"papers": [paper(name, "ann") for name in "abcdef"]})
    before = dump_tables(database)
    newer = [paper("f", "zoe"), paper("a", "ann"), paper("c", "zoe")]
    assert _counts(load_records(database, monkeypatch, "2", {"papers": newer})) == [(3, 3, 2, 1, 0)]
    after = dump_tables(database)
    batches = {row[2]: (old[-1], row[-1]) for old, row in zip(before["papers"], after["papers"], strict=True)}
    assert batches == {"a": (1, 4), "b": (1, 1), "c": (2, 5), "d": (2, 2), "e": (3, 3), "f": (3, 4)}
    for table in ("authorships", "paper_identifiers", "paper_fields"):
        assert len(after[table]) == len(before[table]) == 6
        kept = [[row for row in dumped[table] if row[0] not in (3, 6)] for dumped in (before, after)]
        assert kept[0] == kept[1]
    assert len(after["citations"]) == len(before["citations"]) == 6
    assert [row[2] for row in after["authorships"]] == [1, 1, 2, 1, 1, 2]


@pytest.mark.parametrize("rows_a_mention", [8, 0])
def test_citations_are_kept_once_and_resolved_when_the_papers_come(
    database: Database, monkeypatch: pytest.MonkeyPatch, rows_a_mention: int
) -> None:
    """Mentions that are there are found on Postgres as the planner thinks best, or (0) by an index alone."""
    monkeypatch.setattr("pinakes.loaders.merge.citations._ROWS_A_MENTION", rows_a_mention)
    citations = [
        cite("a", "b"),
        cite("a", "x", "As X says."),
        cite("z", "a"),
        cite("b", "x"),
        cite("a", "x", "As X says."),
    ]
    first = load_records(
        database, monkeypatch, "1", {"papers": [toy_paper("a"), toy_paper("b")], "citations": citations}
    )
    assert _counts(first) == [(2, 2, 0, 0, 0), (5, 5, 0, 0, 0)]
    dumped = dump_tables(database)
    assert dumped["cited_references"] == [
        (1, 1, "b", None, None, None, 2, "source_id"),
        (2, 1, "x", None, None, None, None, None),
        (3, 1, "a", None, None, None, 1, "source_id"),
    ]
    assert [row[:5] for row in dumped["citations"]] == [
        (1, 1, 1, None, None),
        (2, 1, 2, None, "As X says."),
        (4, 2, 2, None, None),
        (5, 1, 2, None, "As X says."),
    ]
    assert [row[:4] for row in dumped["pending_citations"]] == [(3, 1, "z", 3)]
    more = [*citations, cite("x", "a")]
    second = load_records(
        database, monkeypatch, "2", {"papers": [toy_paper("x"), toy_paper("z")], "citations": more}
    )
    assert _counts(second) == [(2, 2, 0, 0, 0), (6, 6, 0, 5, 0)]
    dumped = dump_tables(database)
    assert [row[:3] for row in dumped["citations"]] == [
        (1, 1, 1),
        (2, 1, 2),
        (3, 4, 3),
        (4, 2, 2),
        (5, 1, 2),
        (6, 3, 3),
    ]
    assert "pending_citations" not in dumped
    assert [(row[2], row[-2]) for row in dumped["cited_references"]] == [("b", 2), ("x", 3), ("a", 1)]


def test_the_mentions_of_a_paper_s_own_record_are_replaced_with_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cite(*cited: str) -> Rows:
        rows = [{"citing_source_id": "a", "reference_key": key} for key in cited]
        return {**toy_paper("a"), "citations": rows}

    load_records(database, monkeypatch, "1", {"papers": [cite("b", "c", "c"), toy_paper("b")]})
    same = load_records(database, monkeypatch, "2", {"papers": [cite("c", "b", "c"), toy_paper("b")]})
    assert _counts(same) == [(2, 2, 0, 2, 0)]
    newer = load_records(database, monkeypatch, "3", {"papers": [cite("c", "d"), toy_paper("b")]})
    assert _counts(newer) == [(2, 2, 1, 1, 0)]
    with database.read() as session:
        cited = session.rows(
            "SELECT reference_key FROM citations INNER JOIN cited_references "
            "ON citations.reference_id = cited_references.reference_id ORDER BY citation_id"
        )
    assert [row["reference_key"] for row in cited] == ["c", "d"]


def test_a_record_may_name_several_unknown_papers_and_is_rejected_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"query_id": "q", "source_id": name, "assessor": "x", "split": "test", "grade": 1}
        for name in ("z", "y", "a")
    ]
    files: Files = {
        "papers": [toy_paper("a")],
        "judgments": [{"queries": [{"query_id": "q"}], "judgments": rows}],
    }
    assert _counts(load_records(database, monkeypatch, "1", files))[1] == (1, 0, 0, 0, 1)
    dumped = dump_tables(database)
    assert not dumped.keys() & {"judgments", "benchmark_queries"}
    assert [row[4] for row in dumped["rejected_rows"]] == [
        "the row names a paper that the corpus does not hold: y"
    ]


def test_a_record_that_needs_a_refused_one_is_refused_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade = {"query_id": "q", "assessor": "x", "split": "test", "grade": 1}
    records: list[Rows] = [
        {"papers": [{"source_id": "a"}], "labels": [_label("b")]},
        {"queries": [{"query_id": "q", "paper_source_id": "a"}]},
        {"judgments": [{**grade, "source_id": "c"}], "mentioned_papers": [{"source_id": "c"}]},
    ]
    with monkeypatch.context():
        files = load_records(database, monkeypatch, "1", {"records": records})
    assert _counts(files) == [(3, 0, 0, 0, 3)]
    assert dump_tables(database).keys() & {"papers", "labels", "judgments", "benchmark_queries"} == set()


def _label(source_id: str) -> dict[str, Any]:
    return {"task": "t", "source_id": source_id, "split": "all", "label": "l", "quality": "gold"}


def test_mentioned_papers_fill_gaps_and_replace_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Files = {
        "papers": [toy_paper("a", title="A")],
        "mentions": [
            {"mentioned_papers": [{"source_id": "a", "title": "Other", "abstract": "Text"}]},
            {"mentioned_papers": [{"source_id": "b", "title": "B"}, {"source_id": "b", "year": 1999}]},
            {"mentioned_papers": [{"source_id": "b", "title": "Not B", "abstract": "Late"}]},
        ],
    }
    load_records(database, monkeypatch, "1", files)
    dumped = dump_tables(database)
    assert [row[2:6] for row in dumped["papers"]] == [("a", "A", "Text", None), ("b", "B", "Late", 1999)]


def test_deletions_take_papers_and_mentions_back(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    cited = {"citations": [{"citing_source_id": "b", "reference_key": "a", "source_reference_id": "c1"}]}
    files: Files = {
        "papers": [toy_paper("a", "zoe", "Law", "10.1/a"), toy_paper("b")],
        "citations": [cited, cite("b", "b")],
        "deletions": [
            {"deletions": [{"kind": "papers", "key": "a"}]},
            {"deletions": [{"kind": "papers", "key": "never there"}]},
            {"deletions": [{"kind": "citations", "key": "c1"}]},
        ],
    }
    counts = _counts(load_records(database, monkeypatch, "1", files))
    assert counts[2] == (3, 3, 2, 1, 0)
    dumped = dump_tables(database)
    assert [row[2] for row in dumped["papers"]] == ["b"]
    assert not dumped.keys() & {"authorships", "paper_fields", "paper_identifiers"}
    assert [row[:3] for row in dumped["citations"]] == [(2, 2, 2)]


def test_merging_gives_the_same_rows_on_both_databases(
    both_databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Files = {
        "papers": [toy_paper("é", "Zoe ann Ärni", "b B a"), toy_paper("B", "b B", "x"), toy_paper("a")],
        "citations": [
            {
                "citations": [
                    {"citing_source_id": "a", "reference_key": name} for name in ("é", "b", "B", "10", "9")
                ]
            },
            cite("B", "a", "one"),
        ],
        "queries": [{"queries": [{"query_id": name, "paper_source_id": "a"}]} for name in ("é", "b", "B")],
    }
    dumped = []
    for database in both_databases:
        load_records(database, monkeypatch, "1", files)
        dumped.append(dump_tables(database))
    assert dumped[0] == dumped[1]
    assert [row[2] for row in dumped[0]["cited_references"]] == ["é", "b", "B", "10", "9", "a"]


def test_child_rows_come_with_their_paper(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    stray: Rows = {"fields": [{"source_id": "a", "field": "Law", "assigned_by": "toy"}]}
    with pytest.raises(LoadError, match="stages fields of a paper that it does not stage"):
        load_records(database, monkeypatch, "1", {"papers": [stray]})


def test_every_staged_table_is_merged() -> None:
    others = {"papers", "mentioned_papers", "references", "reference_identifiers", "deletions"}
    others |= {"sentence_selections", "left_out"}
    assert {*PAPER_CHILDREN, *ASSESSMENTS, *others} == set(STAGED)


def test_identifiers_of_a_paper_mentioned_in_passing_are_added(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(source_id: str, sha: str) -> Rows:
        identifiers = [{"source_id": source_id, "scheme": "s2", "identifier": sha}]
        return {"mentioned_papers": [{"source_id": source_id}], "identifiers": identifiers}

    files: Files = {
        "papers": [toy_paper("a", dois="10.1/a")],
        "names": [name("a", "one"), name("a", "two"), name("b", "three")],
    }
    load_records(database, monkeypatch, "1", files)
    assert dump_tables(database)["paper_identifiers"] == [
        (1, "doi", "10.1/a"),
        (1, "s2", "one"),
        (1, "s2", "two"),
        (2, "s2", "three"),
    ]


def forget_the_tables() -> None:
    """Make again what a process keeps of the tables that it declares."""
    integrity.list_integrity_checks.cache_clear()
    integrity._select_filled.cache_clear()


def test_a_new_child_table_is_declared_and_no_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = reference("paper_id", "papers.paper_id", on_delete="CASCADE")
    toys = sa.Table(
        "paper_toys", metadata, owner, key_column("toy", "", sa.Text), optional("size", sa.Text, "")
    )
    names = ("source_id", "toy", "size")
    staged = pa.schema([("row_number", pa.int64()), *((name, pa.string()) for name in names)])
    monkeypatch.setitem(STAGED, "toys", staged)
    monkeypatch.setitem(cast(dict[str, sa.Table], PAPER_CHILDREN), "toys", toys)
    described = WHOLE_PAPER | {"toys"}

    def tell(digest: str, *records: Rows) -> tuple[int, ...]:
        files = load_records(database, monkeypatch, digest, {"papers": list(records)}, described)
        return _counts(files)[0]

    def own(source_id: str, **sizes: str) -> Rows:
        rows = [{"source_id": source_id, "toy": toy, "size": size} for toy, size in sizes.items()]
        return {**toy_paper(source_id), "toys": rows}

    try:
        forget_the_tables()
        with database.begin() as session:
            toys.create(session.connection)
        assert tell("1", own("a", car="big", doll="small"), own("b", car="big")) == (2, 2, 0, 0, 0)
        assert tell("2", own("a", car="big", kite="new"), own("b", car="big")) == (2, 2, 1, 1, 0)
        assert dump_tables(database)["paper_toys"] == [
            (1, "car", "big"),
            (1, "kite", "new"),
            (2, "car", "big"),
        ]
        assert tell("3", {"deletions": [{"kind": "papers", "key": "a"}]}) == (1, 1, 1, 0, 0)
        assert dump_tables(database)["paper_toys"] == [(2, "car", "big")]
        with database.begin() as session:
            session.execute("UPDATE paper_toys SET paper_id = 99")
        assert find_orphans(database) == {"paper_toys.paper_id": 1}
    finally:
        metadata.remove(toys)
        forget_the_tables()
