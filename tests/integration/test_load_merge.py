"""What hangs on a paper, and citations: replaced, resolved and counted, the same on both databases."""

from collections.abc import Iterator
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import LoadError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.gathering import gather_chunks
from pinakes.loaders.staging import STAGED, Accepted, Chunk, Rows
from pinakes.pipeline import load as load_module
from pinakes.pipeline.load import FileSummary, LoadRequest, load
from tests.loading import dump_tables

Files = dict[str, list[Rows]]
"""role -> records"""


def _load(
    database: Database, monkeypatch: pytest.MonkeyPatch, digest: str, files: Files
) -> list[FileSummary]:
    """Load records that are at hand, as files of that digest."""

    def find_files(_source: object, _options: Options) -> list[InputFile]:
        return [InputFile(None, role, role, digest=digest) for role in files]

    def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
        records = [Accepted(number, rows) for number, rows in enumerate(files[file.role], start=1)]
        return gather_chunks(records, first_row=first_row, chunk_rows=2)

    loader = Loader("toy", "", lambda _source, _options: CorpusDescription("toy"), find_files, read_chunks)
    monkeypatch.setattr(load_module, "find_loader", lambda _name: loader)
    return load(database, LoadRequest("toy")).files


def _paper(source_id: str, authors: str = "", fields: str = "", dois: str = "", **columns: Any) -> Rows:
    return {
        "papers": [{"source_id": source_id, **columns}],
        "authorships": [
            {"source_id": source_id, "position": n, "author_source_id": name, "author_name": name.title()}
            for n, name in enumerate(authors.split(), start=1)
        ],
        "fields": [{"source_id": source_id, "field": name, "assigned_by": "toy"} for name in fields.split()],
        "identifiers": [{"source_id": source_id, "scheme": "doi", "identifier": doi} for doi in dois.split()],
    }


def _citation(citing: str, cited: str, context: str | None = None) -> Rows:
    return {"citations": [{"citing_source_id": citing, "reference_key": cited, "context": context}]}


def _counts(files: list[FileSummary]) -> list[tuple[int, int, int, int, int]]:
    return [(f.rows_in, f.rows_loaded, f.rows_updated, f.rows_unchanged, f.rows_rejected) for f in files]


def test_what_hangs_on_a_paper_is_replaced_where_it_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [_paper("a", "zoe ann", "Law Art", "10.1/a"), _paper("b", "ann"), _paper("c", "bob", "Law")]
    assert _counts(_load(database, monkeypatch, "1", {"papers": papers})) == [(3, 3, 0, 0, 0)]
    newer = [
        _paper("c", "bob", "Law"),
        _paper("a", "ann zoe eve", "Law", "10.1/a"),
        _paper("b", "ann", dois="10.1/b"),
    ]
    assert _counts(_load(database, monkeypatch, "2", {"papers": newer})) == [(3, 3, 2, 1, 0)]
    dumped = dump_tables(database)
    assert [(row[0], row[2], row[-1]) for row in dumped["papers"]] == [
        (1, "a", 3),
        (2, "b", 4),
        (3, "c", 2),
    ]
    assert dumped["authors"] == [
        (1, 1, "ann", "Ann"),
        (2, 1, "zoe", "Zoe"),
        (3, 1, "bob", "Bob"),
        (4, 1, "eve", "Eve"),
    ]
    assert dumped["authorships"] == [(1, 1, 1), (1, 2, 2), (1, 3, 4), (2, 1, 1), (3, 1, 3)]
    assert dumped["paper_fields"] == [(1, "toy", "Law"), (3, "toy", "Law")]
    assert dumped["paper_identifiers"] == [(1, "doi", "10.1/a"), (2, "doi", "10.1/b")]


def test_citations_are_kept_once_and_resolved_when_the_cited_paper_comes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    citations = [
        _citation("a", "b"),
        _citation("a", "x", "As X says."),
        _citation("z", "a"),
        _citation("b", "x"),
        _citation("a", "x", "As X says."),
    ]
    first = _load(database, monkeypatch, "1", {"papers": [_paper("a"), _paper("b")], "citations": citations})
    assert _counts(first) == [(2, 2, 0, 0, 0), (5, 4, 0, 0, 1)]
    dumped = dump_tables(database)
    assert dumped["cited_references"] == [
        (1, 1, "b", None, None, None, 2),
        (2, 1, "x", None, None, None, None),
    ]
    assert [row[:5] for row in dumped["citations"]] == [
        (1, 1, 1, None, None),
        (2, 1, 2, None, "As X says."),
        (3, 2, 2, None, None),
        (4, 1, 2, None, "As X says."),
    ]
    assert [(row[1], row[3]) for row in dumped["rejected_rows"]] == [(3, "unknown_paper")]
    second = _load(
        database, monkeypatch, "2", {"papers": [_paper("x")], "citations": [*citations, _citation("x", "a")]}
    )
    assert _counts(second) == [(1, 1, 0, 0, 0), (6, 5, 0, 4, 1)]
    dumped = dump_tables(database)
    assert len(dumped["citations"]) == 5
    assert [(row[2], row[-1]) for row in dumped["cited_references"]] == [("b", 2), ("x", 3), ("a", 1)]


def test_a_record_may_name_several_unknown_papers_and_is_rejected_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"citing_source_id": name, "reference_key": "a"} for name in ("z", "y", "a")]
    files = _load(database, monkeypatch, "1", {"papers": [_paper("a")], "citations": [{"citations": rows}]})
    assert _counts(files)[1] == (1, 0, 0, 0, 1)
    dumped = dump_tables(database)
    assert "citations" not in dumped
    assert "cited_references" not in dumped
    assert [row[4] for row in dumped["rejected_rows"]] == [
        "the row names a paper that the corpus does not hold: y"
    ]


def test_merging_gives_the_same_rows_on_both_databases(
    both_databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Files = {
        "papers": [_paper("é", "Zoe ann Ärni", "b B a"), _paper("B", "b B", "x"), _paper("a")],
        "citations": [
            {
                "citations": [
                    {"citing_source_id": "a", "reference_key": name} for name in ("é", "b", "B", "10", "9")
                ]
            },
            _citation("B", "a", "one"),
        ],
        "queries": [{"queries": [{"query_id": name, "paper_source_id": "a"}]} for name in ("é", "b", "B")],
    }
    dumped = []
    for database in both_databases:
        _load(database, monkeypatch, "1", files)
        dumped.append(dump_tables(database))
    assert dumped[0] == dumped[1]
    assert [row[2] for row in dumped[0]["cited_references"]] == ["10", "9", "B", "b", "é", "a"]


def test_a_table_that_its_role_does_not_go_with_is_a_defect_that_is_named(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LoadError, match=r"a file of queries cannot hold .*papers; expected queries"):
        _load(database, monkeypatch, "1", {"queries": [_paper("a")]})
    with pytest.raises(
        LoadError, match="no merge for the role 'sections'; known: citations, judgments, papers"
    ):
        _load(database, monkeypatch, "1", {"sections": [{}]})


def test_every_staged_table_has_a_role_or_hangs_on_papers() -> None:
    from pinakes.loaders.merge import _CHILDREN, _MERGES

    assert {*_CHILDREN, *_MERGES} == set(STAGED)
