"""Functions in LLVM's language: their machine code is kept, and what is damaged is made again."""

import ctypes
from pathlib import Path

import pytest

from pinakes import machine_code

pytestmark = pytest.mark.skipif(
    not machine_code.has_instructions("sse2"), reason="for x86-64 processors, with llvmlite"
)

TEXT = "define i64 @add_one(i64 %value) {\n  %next = add i64 %value, 1\n  ret i64 %next\n}\n"
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def test_machine_code_is_kept_and_a_damaged_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "find_cache_folder", lambda name: tmp_path)
    assert machine_code.compile_function(TEXT, "add_one", SIGNATURE)(41) == 42
    (kept,) = tmp_path.iterdir()
    content = kept.read_bytes()
    for damaged in (content[:-1], content[:40], b"", content[:-9] + bytes(9)):
        kept.write_bytes(damaged)
        assert machine_code.compile_function(TEXT, "add_one", SIGNATURE)(41) == 42
        assert kept.read_bytes() == content
    compiled: list[Path] = []
    monkeypatch.setattr(machine_code, "_write_code", lambda path, code: compiled.append(path))
    assert machine_code.compile_function(TEXT, "add_one", SIGNATURE)(1) == 2
    assert compiled == []
    machine_code.compile_function(TEXT.replace("value, 1", "value, 2"), "add_one", SIGNATURE)
    assert len(compiled) == 1
    assert compiled != [kept]


def test_without_a_cache_folder_code_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "find_cache_folder", lambda name: None)
    assert machine_code.compile_function(TEXT, "add_one", SIGNATURE)(1) == 2


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"index0": ("1", "48K"), "index2": ("2", "2048K"), "index3": ("3", "32768K")}, 2 << 20),
        ({"index1": ("2", "512K")}, 512 << 10),
        ({"index0": ("1", "32K"), "index2": ("two", "1M")}, 0),
        ({"index2": ("2", "")}, 0),
        ({}, 0),
    ],
)
def test_the_second_cache_is_what_linux_says_it_is(
    files: dict[str, tuple[str, str]], expected: int, tmp_path: Path
) -> None:
    for name, (level, size) in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "level").write_text(level + "\n")
        (tmp_path / name / "size").write_text(size + "\n")
    assert machine_code.read_second_cache(tmp_path) == expected
