"""JSON Lines by the block: whatever the lines are, the outcome is that of parsing them one by one."""

import gzip
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, LoadError
from pinakes.loaders import beir, staging
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import blocks, columnar
from pinakes.loaders.reading.columnar import read_columnar
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.streams import read_lines
from pinakes.loaders.s2orc import graph_citations, graph_papers, metadata
from pinakes.loaders.staging import STAGED, Chunk, take_record
from tests.long import long

LAYOUTS = {
    "metadata": metadata.build_layout(("outbound", "inbound")),
    "papers": graph_papers.PAPERS,
    "abstracts": graph_papers.ABSTRACTS,
    "citations": graph_citations.CITATIONS,
    "beir": beir._PAPERS,
}


def _rarely(wrong: st.SearchStrategy[Any], right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 40).flatmap(lambda dice: wrong if dice == 17 else right)


# Surrogates, NUL, white space of all sorts, and letters whose lower case is longer or ASCII.
TEXTS = st.text(st.sampled_from("aB1. \t\n\r\x1f\x85\u2003\xa0é漢🎓İK\\\"'/"), max_size=6)
BAD_TEXTS = st.text(st.sampled_from("a\x00\ud800 \udc00"), max_size=3)
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | TEXTS | BAD_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
NUMERIC_IDS = st.integers(0, 10**4)
IDS = _rarely(st.sampled_from(["a", " a ", "", "W7", "007"]), NUMERIC_IDS.map(str))
NUMBERED = _rarely(IDS, NUMERIC_IDS)
YEARS = st.none() | st.just(0) | st.integers(1, 9999)
ANY_YEARS = _rarely(st.sampled_from([-1, 10_001, "1999", " 2001 ", "", "x", 2001.0]), YEARS)


def _record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Records with each field, or without it, or with junk in it; and sometimes with a field beyond."""
    held = {name: _rarely(JUNK, values) for name, values in fields.items()}
    expected = {name: held.pop(name) for name in list(held) if name.endswith("id")}
    owing = st.fixed_dictionaries(expected, optional={**held, "beyond": JUNK})
    return _rarely(st.fixed_dictionaries({}, optional={**expected, **held}), owing)


def _texts(**more: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {"title": st.none() | TEXTS, **more}


DOIS = st.none() | st.sampled_from(["10.1/A", "doi:10.1/b", " https://doi.org/10.2/É", "10.1/ a", "x"])
NUMBERS = st.none() | st.sampled_from(["12", "mag: 12", "", "PMC5", "1\u0661"])
NAMES = st.fixed_dictionaries(
    {},
    optional={
        "first": st.none() | TEXTS,
        "middle": st.none() | st.lists(st.none() | TEXTS, max_size=3),
        "last": st.none() | TEXTS,
        "suffix": st.just(""),
    },
)
LISTS = st.none() | st.lists(_rarely(JUNK, TEXTS | IDS), max_size=3)
RECORDS = {
    "metadata": _record(
        paper_id=IDS,
        abstract=st.none() | TEXTS,
        year=ANY_YEARS,
        doi=DOIS,
        arxiv_id=st.sampled_from([None, "1501.00001", "arXiv:1501.00001v2", "hep-th/9901001"]),
        acl_id=st.sampled_from([None, "P19-1001", "2020.acl-main.1", "2020.acl-main.1/"]),
        mag_id=NUMBERS,
        pmc_id=NUMBERS,
        venue=st.none() | TEXTS,
        journal=st.none() | TEXTS,
        authors=st.none() | st.lists(_rarely(JUNK, NAMES), max_size=3),
        mag_field_of_study=LISTS,
        outbound_citations=LISTS,
        inbound_citations=LISTS,
        **_texts(),
    ),
    "papers": _record(
        corpusid=NUMBERED,
        externalids=st.none() | _record(DOI=DOIS, MAG=NUMBERS, DBLP=st.sampled_from(["conf/acl/X20", "x"])),
        url=st.sampled_from([None, f"https://x/paper/{'a1' * 20}", f"é/{'a1' * 20}", f"/{'a1' * 20}\n", "x"]),
        authors=st.none()
        | st.lists(_rarely(JUNK, _record(authorId=st.none() | IDS, name=TEXTS)), max_size=3),
        venue=st.none() | TEXTS,
        journal=st.none() | _record(name=TEXTS),
        year=ANY_YEARS,
        citationcount=st.none() | st.integers(-5, 2**31),
        s2fieldsofstudy=st.none()
        | st.lists(_rarely(JUNK, _record(category=TEXTS, source=st.none() | TEXTS)), max_size=3),
        **_texts(),
    ),
    "abstracts": _record(corpusid=NUMBERED, abstract=st.none() | TEXTS),
    "citations": _record(
        citationid=NUMBERED,
        citingcorpusid=NUMBERED,
        citedcorpusid=st.none() | NUMERIC_IDS,
        isinfluential=st.none() | st.booleans(),
        contexts=st.none() | st.lists(TEXTS, max_size=3),
        intents=st.none() | st.lists(st.none() | st.lists(st.none() | TEXTS, max_size=3), max_size=3),
    ),
    "beir": _record(
        _id=IDS, text=st.none() | TEXTS, metadata=st.none() | _record(year=ANY_YEARS), **_texts()
    ),
}


def _dump(record: dict[str, Any], style: int) -> bytes:
    """The record as JSON, in the ways that parsers differ about: repeated keys, NaN, white space."""
    line = json.dumps(record, ensure_ascii=bool(style % 2)).encode("utf-8", "surrogatepass")
    if style == 4:
        line = line[:-1] + (b", " if record else b"") + b'"beyond": NaN}'
    if style == 5 and record:
        line = line[:-1] + b", " + line[1:]
    return line + (b" " if style == 6 else b"\r" if style == 7 else b"")


ODD_LINES = st.sampled_from(
    [
        b"",
        b" ",
        b"{",
        b"}",
        b"[]",
        b"null",
        b'{"corpusid": 1}{"corpusid": 2}',
        b'{"corpusid":',
        b"3}",
        b"\xef\xbb\xbf{}",
        b'{"title": "\xff"}',
        b'{"beyond": ' + b"[" * 2_000 + b"]" * 2_000 + b"}",
        b'{"beyond": -Infinity}',
        b'{"year": NaN}',
        b'{"a":1}\x00{"a":1}',
    ]
)


def _lines(name: str) -> st.SearchStrategy[bytes]:
    records = st.builds(_dump, RECORDS[name], st.integers(0, 40))
    lines = st.lists(_rarely(ODD_LINES, records), max_size=8)
    return st.builds(lambda found, end: b"\n".join(found) + end, lines, st.sampled_from([b"", b"\n"]))


Outcome = tuple[dict[str, list[dict[str, Any]]], list[tuple[Any, ...]], int]


def _collect(chunks: Iterator[Chunk]) -> Outcome:
    """Staged rows, rejected records, and the number of records."""
    staged: dict[str, list[dict[str, Any]]] = {}
    rejected: list[tuple[Any, ...]] = []
    rows_in = 0
    for chunk in chunks:
        rows_in += chunk.rows_in
        rejected += [(r.row_number, r.location, r.reason, r.message, r.raw) for r in chunk.rejected]
        for table, rows in chunk.tables.items():
            assert rows.schema == STAGED[table]
            rows.validate(full=True)
            staged.setdefault(table, []).extend(rows.to_pylist())
    return {table: rows for table, rows in staged.items() if rows}, rejected, rows_in


def _read_both(name: str, data: bytes, block_bytes: int, first_row: int = 1) -> tuple[Outcome, Outcome]:
    layout = LAYOUTS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        path.write_bytes(data)
        file = InputFile(path, path.name, "papers")
        records = (
            take_record(number, f"line {number}", line, partial(columnar._parse_line, line, layout))
            for number, line in read_lines(file)
        )
        exact = gather_chunks(records, first_row=first_row)
        return _collect(read_columnar(file, first_row, layout, block_bytes=block_bytes)), _collect(exact)


@pytest.mark.parametrize("examples", [25, long(50)])
@pytest.mark.parametrize("name", LAYOUTS)
def test_blocks_give_what_single_lines_give(
    name: str, examples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "EXACT_LINES", 1)  # so that all that is plain goes the fast way
    plain = []
    read_plain = columnar._read_plain

    def count(*arguments: Any) -> Chunk:
        plain.append(read_plain(*arguments))
        return plain[-1]

    monkeypatch.setattr(columnar, "_read_plain", count)

    @settings(max_examples=examples)
    @given(data=_lines(name), block_bytes=st.sampled_from([1, 50, 400, 1 << 20]), first_row=st.integers(1, 4))
    def check(data: bytes, block_bytes: int, first_row: int) -> None:
        assume(not data.lstrip().startswith(b"["))  # an array is read member by member
        fast, exact = _read_both(name, data, block_bytes, first_row)
        assert fast == exact

    check()
    assert sum(chunk.rows_in for chunk in plain) > examples // 2


@pytest.mark.parametrize("count", [1, 3, 300])
def test_unread_lists_of_nothing_but_null_end_no_load(count: int) -> None:
    data = b"".join(b'{"corpusid": %d, "beyond": [null, null]}\n' % number for number in range(count))
    fast, exact = _read_both("papers", data, 1 << 20)
    assert fast == exact


def _make_input(path: Path, records: list[dict[str, Any] | bytes]) -> InputFile:
    lines = [record if isinstance(record, bytes) else orjson.dumps(record) for record in records]
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return InputFile(path, path.name, "papers")


def _papers(numbers: range) -> list[dict[str, Any] | bytes]:
    return [{"_id": f"p{number}", "title": f"Title {number}"} for number in numbers]


BEIR = LAYOUTS["beir"]


def test_one_bad_line_sends_few_others_the_slow_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = []
    parse = BEIR.parse
    layout = replace(BEIR, parse=lambda record: slow.append(record) or parse(record))  # type: ignore[func-returns-value]
    monkeypatch.setattr(columnar, "EXACT_LINES", 10)
    records = _papers(range(1000))
    records[700] = b"no JSON"
    chunks = list(read_columnar(_make_input(tmp_path / "x.jsonl", records), 1, layout))
    assert sum(chunk.rows_in for chunk in chunks) == 1000
    assert [(row.row_number, row.reason) for chunk in chunks for row in chunk.rejected] == [(701, "not_json")]
    assert len(slow) < 10


def test_a_line_is_shown_where_it_stands_when_requested_for(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "x.jsonl", _papers(range(5)))
    first, second, *_ = read_columnar(file, 1, BEIR, block_bytes=80)
    third = second.origins[3]
    assert (first.last_row, third.location, third.raw) == (2, "line 3", b'{"_id":"p2","title":"Title 2"}')
    assert (list(second.origins), len(second.origins)) == ([3, 4, 5], 3)
    for outside in (2, 6):
        with pytest.raises(KeyError):
            second.origins[outside]


def test_chunks_say_which_bytes_they_stand_for(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "x.jsonl.gz", [*_papers(range(3)), b"", b"no JSON", *_papers(range(3, 5))])
    chunks = list(read_columnar(file, 1, BEIR, block_bytes=80))
    data = gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes())
    parts = [data[chunk.first_byte : chunk.end_byte] for chunk in chunks]
    assert (b"".join(parts), len(parts)) == (data, 3)
    assert [len(part.split(b"\n")) - 1 - part.count(b"\n\n") for part in parts] == [
        chunk.rows_in for chunk in chunks
    ]


@pytest.mark.parametrize("block_bytes", [40, 80, 10_000])
@pytest.mark.parametrize("first_row", [1, 4])
def test_an_id_counts_as_seen_wherever_it_stood(tmp_path: Path, block_bytes: int, first_row: int) -> None:
    records = [*_papers(range(3)), *_papers(range(1, 5)), *_papers(range(1, 2))]
    chunks = list(
        read_columnar(_make_input(tmp_path / "x.jsonl", records), first_row, BEIR, block_bytes=block_bytes)
    )
    refused = [(row.row_number, row.reason, row.message) for chunk in chunks for row in chunk.rejected]
    said = "an earlier record of the same file has the same id"
    assert refused == [
        (number, "duplicate_id", f"{said}: p{name}") for number, name in ((4, 1), (5, 2), (8, 1))
    ]


def test_an_id_of_a_rejected_record_is_not_seen(tmp_path: Path) -> None:
    records: list[dict[str, Any] | bytes] = [{"_id": "p1", "title": []}, {"_id": "p1"}, {"_id": "p1"}]
    (chunk,) = read_columnar(_make_input(tmp_path / "x.jsonl", records), 1, BEIR)
    assert [(row.row_number, row.reason) for row in chunk.rejected] == [
        (1, "invalid_value"),
        (3, "duplicate_id"),
    ]


def test_what_no_field_holds_may_be_lenient_json(tmp_path: Path) -> None:
    deep = b"[" * 3_000 + b"]" * 3_000
    lines = [b'{"_id": "a", "x": NaN}', b'{"_id": "b", "x": -Infinity}', b'{"_id": "c", "x": %s}' % deep]
    for block_bytes in (1, 10_000):
        file = _make_input(tmp_path / "x.jsonl", [*lines, b'{"_id": NaN}', b'{"_id": "d", "x": NaN} {}'])
        chunks = list(read_columnar(file, 1, BEIR, block_bytes=block_bytes))
        ids = [row for chunk in chunks for row in chunk.tables.get("papers", {"source_id": []})["source_id"]]
        assert [str(found) for found in ids] == ["a", "b", "c"]
        assert [row.row_number for chunk in chunks for row in chunk.rejected] == [4, 5]


def test_a_line_that_is_too_large_is_rejected_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(columnar, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(blocks, "RAW_BYTES", 10)
    records: list[dict[str, Any] | bytes] = [{"_id": "a"}, {"_id": "b", "text": "x" * 300}, {"_id": "c"}]
    file = _make_input(tmp_path / "x.jsonl", records)
    for block_bytes in (50, 10_000):
        chunks = list(read_columnar(file, 1, BEIR, block_bytes=block_bytes))
        rejected = [row for chunk in chunks for row in chunk.rejected]
        assert [(row.row_number, row.reason, row.raw) for row in rejected] == [(2, "too_large", '{"_id":"b"')]
        tables = [chunk.tables["papers"] for chunk in chunks if "papers" in chunk.tables]
        assert [number for table in tables for number in table["row_number"].to_pylist()] == [1, 3]
        assert chunks[-1].end_byte == file.path.stat().st_size if file.path else False


def test_a_file_cut_short_gives_its_whole_lines(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "x.jsonl.gz", _papers(range(100)))
    path = tmp_path / "x.jsonl.gz"
    whole = gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=0, mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    chunks = read_columnar(file, 1, BEIR, block_bytes=400)
    assert [next(chunks).last_row for _ in range(5)] == [12, 24, 36, 49, 50]
    with pytest.raises(LoadError, match=r"x\.jsonl\.gz is damaged or cut short: it breaks off after line 50"):
        next(chunks)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*none\.jsonl"):
        list(read_columnar(InputFile(tmp_path / "none.jsonl", "none.jsonl", ""), 1, BEIR))


def test_no_record_is_lost_where_few_lines_fill_many_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_BYTES", 50)
    records: list[dict[str, Any] | bytes] = [*_papers(range(6)), *_papers(range(3)), b"no JSON"]
    file = _make_input(tmp_path / "x.jsonl", records)
    for block_bytes in (100, 10_000):
        chunks = list(read_columnar(file, 1, BEIR, block_bytes=block_bytes))
        assert sum(chunk.rows_in for chunk in chunks) == 10
        assert [row.row_number for chunk in chunks for row in chunk.rejected] == [7, 8, 9, 10]
        assert [chunks[0].first_byte, chunks[-1].end_byte] == [0, (tmp_path / "x.jsonl").stat().st_size]


def _write_metadata(path: Path, records: list[dict[str, Any]]) -> InputFile:
    lines = (json.dumps({"paper_id": str(number), **one}) for number, one in enumerate(records, start=1))
    path.write_text("".join(f"{line}\n" for line in lines))
    return InputFile(path, path.name, "metadata_2020:none")


def _list_left_out(chunks: list[Chunk]) -> list[dict[str, Any]]:
    return [row for chunk in chunks for row in chunk.tables["left_out"].to_pylist()]


def test_records_that_leave_out_the_same_are_looked_at_once(tmp_path: Path) -> None:
    alike: list[dict[str, Any]] = [
        {
            "venue": "ACL",
            "journal": "CL",
            "flag": False,
            "url": "x",
            "authors": [{"last": "A", "orcid": "1"}],
        },
        {"venue": "ACL", "journal": "ACL", "flag": None, "url": "", "authors": [{"last": "A", "orcid": ""}]},
        {
            "inbound_citations": ["7"],
            "more": {"a": 1},
            "authors": [{"last": "A"}, {"last": "B", "orcid": "2"}],
        },
        {"inbound_citations": [], "more": {"a": None}},
        {"more": {}},
    ]
    file = _write_metadata(tmp_path / "a.jsonl", alike * 2_000)
    looked_at = []
    layout = metadata.build_layout(())

    def leave(record: dict[str, Any]) -> None:
        looked_at.append(record["paper_id"])
        layout.leave(record)

    found = _list_left_out(list(read_columnar(file, 1, replace(layout, leave=leave))))
    # An object of nulls may be an empty one: such records are looked at each.
    assert looked_at[:5] == ["1", "2", "3", "4", "5"]
    assert len(looked_at) == 3 + 2 * 2_000
    assert found == _list_left_out(list(read_columnar(file, 1, replace(layout, told_by=None))))
    assert len(found) == 2_000 * 9


@pytest.mark.parametrize("late", [{"new": 1}, {"flag": "yes"}, {"authors": [{"last": "A", "new": [0]}]}])
def test_a_field_that_comes_late_in_a_file_is_named(tmp_path: Path, late: dict[str, Any]) -> None:
    file = _write_metadata(
        tmp_path / "a.jsonl", [*([{"flag": True}] * 3_000), late, *([{"flag": 0.5}] * 3_000)]
    )
    layout = metadata.build_layout(())
    for block_bytes in (10_000, 1_000_000):
        found = _list_left_out(list(read_columnar(file, 1, layout, block_bytes=block_bytes)))
        single = replace(layout, told_by=None)
        assert found == _list_left_out(list(read_columnar(file, 1, single, block_bytes=block_bytes)))
        assert {row["kind"] for row in found if row["row_number"] == 3_001} == {
            "field authors.new" if "authors" in late else f"field {next(iter(late))}"
        }
