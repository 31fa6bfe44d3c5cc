"""What of a merge is done where a chunk is read: keys encoded, what may be refused kept as it stood."""

from dataclasses import replace

import pyarrow as pa

from pinakes.loaders.merge.context import encode_keys
from pinakes.loaders.merge.preparing import prepare_chunk
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import STAGED, Accepted, Chunk, Origin, Rows

LOADER = replace(find_loader("s2orc"), describes=lambda _role: frozenset({"title"}), may_lack_text=False)


def gather(*rows: Rows) -> Chunk:
    records = [
        Accepted(number, one, f"line {number}", f"raw\x00{number}") for number, one in enumerate(rows, 1)
    ]
    (chunk,) = gather_chunks(records)
    return chunk


def test_a_record_without_a_text_is_kept_as_it_stood_and_others_are_not() -> None:
    chunk = gather({"papers": [{"source_id": "a", "title": "T"}]}, {"papers": [{"source_id": "b"}]})
    assert prepare_chunk(chunk, LOADER, "").origins == {2: Origin("line 2", "raw\\x002")}
    assert prepare_chunk(chunk, replace(LOADER, may_lack_text=True), "").origins == {}


def test_records_that_name_what_may_not_be_there_are_all_kept() -> None:
    variant = {"source_id": "a", "code": "c"}
    chunk = gather({"papers": [{"source_id": "a", "title": "T"}]}, {"variants": [variant]})
    assert list(prepare_chunk(chunk, LOADER, "").origins) == [1, 2]


def test_what_is_encoded_is_the_same_however_often_and_after_rows_are_left_out() -> None:
    rows = pa.table({"row_number": [1, 2, 3, 4], "key": ["x", "y", "x", "z"]})
    once = encode_keys(rows, ["key"])
    assert encode_keys(once, ["key"]).equals(once)
    for numbers in ([2, 3], [3, 4], [1, 2, 3, 4], []):
        kept = pa.compute.is_in(rows["row_number"], value_set=pa.array(numbers, pa.int64()))
        assert encode_keys(once.filter(kept), ["key"]).equals(encode_keys(rows.filter(kept), ["key"]))


def test_mentions_are_encoded_and_a_chunk_without_any_stays_as_it_is() -> None:
    chunk = gather({"citations": [{"citing_source_id": "a", "reference_key": "b"}]})
    mentions = prepare_chunk(chunk, LOADER, "").tables["citations"]
    assert pa.types.is_dictionary(mentions.schema.field("reference_key").type)
    assert mentions["reference_key"].to_pylist() == ["b"]
    empty = Chunk(0, 0, {"citations": STAGED["citations"].empty_table()})
    assert prepare_chunk(empty, LOADER, "").tables == empty.tables
