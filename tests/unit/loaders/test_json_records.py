"""Big JSON arrays and objects are cut into records as they are read."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import json_splitter
from pinakes.loaders.reading.json_records import read_json_array, read_json_members
from pinakes.loaders.staging import Accepted, Rejected, Rows
from tests.fuzzing import mutations


def _file(path: Path, content: bytes) -> InputFile:
    path.write_bytes(content)
    return InputFile(path, path.name, "papers")


def _keep(key: str, value: Any) -> Rows:
    return {"papers": [{"key": key, "value": value}]}


def _members(path: Path, content: bytes) -> list[tuple[Any, ...]]:
    """(location, key, value) of an accepted record, (location, reason, raw) of a rejected one."""
    records = list(read_json_members(_file(path, content), _keep))
    assert [record.row_number for record in records] == list(range(1, len(records) + 1))
    for record in records:
        if isinstance(record, Accepted):
            assert record.first_byte is not None
            assert content[record.first_byte : record.end_byte] == record.raw
    return [
        (record.location, *record.rows["papers"][0].values())
        if isinstance(record, Accepted)
        else (record.location, record.reason, record.raw)
        for record in records
    ]


@pytest.mark.parametrize(
    ("content", "members"),
    [
        (b"[]", []),
        (b" \n{ }\n", []),
        (b"\xef\xbb\xbf[1]", [("[0]", "0", 1)]),
        (b'[1, "a,]", [2, [3]], {"b": "}\\"{"}]', [
            ("[0]", "0", 1),
            ("[1]", "1", "a,]"),
            ("[2]", "2", [2, [3]]),
            ("[3]", "3", {"b": '}"{'}),
        ]),
        (b'{"a": 1, "b\\"": {"c": []}}', [(".a", "a", 1), ('.b\\"', 'b"', {"c": []})]),
        (b'["\\\\", "\\\\\\""]', [("[0]", "0", "\\"), ("[1]", "1", '\\"')]),
    ],
)  # fmt: skip
def test_the_members_of_the_outermost_value_are_the_records(
    tmp_path: Path, content: bytes, members: list[tuple[Any, ...]]
) -> None:
    assert _members(tmp_path / "a.json", content) == members


@pytest.mark.parametrize(
    ("content", "members"),
    [
        (b"[1, nonsense, 3]", [("[0]", "0", 1), ("[1]", "not_json", "nonsense"), ("[2]", "2", 3)]),
        (b"[1, , 3]", [("[0]", "0", 1), ("[1]", "not_json", ""), ("[2]", "2", 3)]),
        (b"[1,]", [("[0]", "0", 1), ("[1]", "not_json", "")]),
        (b"[1, 2", [("[0]", "0", 1), ("after 1 records", "not_json", " 2")]),
        (b"[1, ", [("[0]", "0", 1), ("after 1 records", "not_json", " ")]),
        (b'[1, {"a', [("[0]", "0", 1), ("after 1 records", "not_json", ' {"a')]),
        (b'[1, "a\\', [("[0]", "0", 1), ("after 1 records", "not_json", ' "a\\')]),
        (b"[1]]", [("[0]", "0", 1), ("after 1 records", "not_json", "]")]),
        (b"[1][2]", [("[0]", "0", 1), ("after 1 records", "not_json", "[2]")]),
        (b"[1}", [("[0]", "0", 1), ("after 1 records", "not_json", "")]),
        (b'{"a": 1, 2, "b": 3}', [(".a", "a", 1), ("[1]", "not_json", "2"), (".b", "b", 3)]),
        (b'["\xff", 2]', [("[0]", "invalid_utf8", '"\\xff"'), ("[1]", "1", 2)]),
    ],
)
def test_what_is_damaged_is_rejected_and_the_rest_kept(
    tmp_path: Path, content: bytes, members: list[tuple[Any, ...]]
) -> None:
    assert _members(tmp_path / "a.json", content) == members


@pytest.mark.parametrize("content", [b"", b"  ", b"1", b'"a"', b"null", b"<xml/>"])
def test_what_is_neither_array_nor_object_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="is not JSON, or neither an array nor an object"):
        _members(tmp_path / "a.json", content)


def test_an_array_of_records_owes_objects(tmp_path: Path) -> None:
    file = _file(tmp_path / "a.json", b'[{"a": 1}, [2]]')
    first, second = read_json_array(file, lambda record: {"papers": [record]})
    assert isinstance(first, Accepted)
    assert first.rows == {"papers": [{"a": 1}]}
    assert second == Rejected(2, "[1]", "not_an_object", "a JSON list, expected an object", "[2]", 11, 14)


def test_a_member_that_is_too_large_is_rejected_with_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_splitter, "MAX_MEMBER_BYTES", 5_000)
    monkeypatch.setattr(json_splitter, "_READ_BYTES", 100)
    for large in (b'"' + b'\\"],' * 5_000 + b'"', b"[" + b'"],",' * 5_000 + b"1]"):
        members = _members(tmp_path / "a.json", b"[1, " + large + b", 3]")
        shown = (b" " + large)[:1_000].decode()
        assert members == [("[0]", "0", 1), ("[1]", "too_large", shown), ("[2]", "2", 3)]


@settings(max_examples=200)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab,[]{}"\\é', max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('a"\\,]', max_size=3), inner),
        max_leaves=20,
    ).filter(lambda value: isinstance(value, list | dict)),
    size=st.integers(1, 20),
)
def test_any_json_is_cut_as_a_whole_parse_would(
    tmp_path_factory: pytest.TempPathFactory, value: Any, size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_splitter, "_READ_BYTES", size)
        members = _members(tmp_path_factory.mktemp("cut") / "a.json", orjson.dumps(value))
    pairs = enumerate(value) if isinstance(value, list) else value.items()
    assert [(key, member) for _, key, member in members] == [(str(key), member) for key, member in pairs]


@settings(max_examples=100)
@given(data=mutations(orjson.dumps([{"id": n, "t": f'T "{n}"', "l": [[n], {"x": "]"}]} for n in range(12)])))
def test_a_damaged_array_gives_a_rejected_record_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    try:
        members = _members(tmp_path_factory.mktemp("damaged") / "a.json", data)
    except InputError:
        return
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError:
        assert any(member[1] in ("not_json", "invalid_utf8") for member in members)
    else:
        assert [value for _, _, value in members] == list(whole)
