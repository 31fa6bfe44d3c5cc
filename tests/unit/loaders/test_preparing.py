"""What of a merge is done where a chunk is read: keys encoded, what may be refused kept as it stood."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from pinakes.loaders.merge.context import UNKNOWN, Keys, encode_keys, list_distinct
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


def test_child_rows_name_the_papers_of_their_records_without_a_hash() -> None:
    def say(source_id: str) -> Rows:
        fields = [{"source_id": source_id, "field": field, "assigned_by": "mag"} for field in ("x", "y")]
        return {"papers": [{"source_id": source_id, "title": "T"}], "fields": fields}

    chunk = gather(say("b"), {"citations": [{"citing_source_id": "a", "reference_key": "c"}]}, say("a"))
    owners = prepare_chunk(chunk, LOADER, "").tables["fields"]["source_id"].combine_chunks()
    assert owners.dictionary.to_pylist() == ["b", "a"]
    assert owners.indices.to_pylist() == [0, 0, 1, 1]
    # A row of another paper than its record's, and one of a record without a paper.
    other = {"papers": [{"source_id": "c", "title": "T"}], "fields": say("b")["fields"]}
    for rows in (
        [say("b"), other],
        [say("b"), {"fields": say("b")["fields"]}],
        [{"fields": other["fields"]}],
    ):
        plain = prepare_chunk(gather(*rows), LOADER, "").tables["fields"]["source_id"]
        assert plain.type == pa.string()
        assert set(plain.to_pylist()) == {"b"}


def test_mentions_are_encoded_and_a_chunk_without_any_stays_as_it_is() -> None:
    chunk = gather({"citations": [{"citing_source_id": "a", "reference_key": "b"}]})
    mentions = prepare_chunk(chunk, LOADER, "").tables["citations"]
    assert pa.types.is_dictionary(mentions.schema.field("reference_key").type)
    assert mentions["reference_key"].to_pylist() == ["b"]
    empty = Chunk(0, 0, {"citations": STAGED["citations"].empty_table()})
    assert prepare_chunk(empty, LOADER, "").tables == empty.tables


def test_encoded_keys_are_listed_and_found_as_plain_ones_are() -> None:
    plain = pa.chunked_array([["b", "a", "b", "c"], ["a", "d"]])
    encoded = encode_keys(pa.table({"key": plain}), ["key"])["key"]
    with_null = pa.chunked_array([["b", None, "a"]]).dictionary_encode()
    other = pa.chunked_array([["a", "e"]])
    assert list_distinct([encoded]).to_pylist() == ["b", "a", "c", "d"]
    assert list_distinct([encoded[1:4]]).to_pylist() == ["a", "b", "c"]
    assert list_distinct([encoded[:3]]).to_pylist() == ["b", "a"]
    assert list_distinct([with_null]).to_pylist() == ["b", "a"]
    assert list_distinct([other, encoded]).to_pylist() == ["a", "e", "b", "c", "d"]
    assert list_distinct([]).to_pylist() == list_distinct([encoded[:0]]).to_pylist() == []
    for keys in (list_distinct([encoded]), list_distinct([other, encoded])):
        named = Keys(keys, np.arange(len(keys)))
        for column in (
            encoded,
            encoded[1:4],
            encoded[:2],  # as its first keys
            encoded[:0],
            with_null,
            encode_keys(pa.table({"key": other}), ["key"])["key"],
        ):
            ids = named.find(pa.chunked_array([pa.array(column.to_pylist(), pa.string())]))
            assert named.find(column).tolist() == ids.tolist()
            assert [None if id_ == UNKNOWN else keys[id_].as_py() for id_ in ids] == [
                key if key in keys.to_pylist() else None for key in column.to_pylist()
            ]
