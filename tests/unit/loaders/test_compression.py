"""Compressed streams are read to their true end, and what is damaged says so."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, LoadError, OtherContentError
from pinakes.loaders.reading import compression
from pinakes.loaders.reading.breaks import BrokenStreamError
from pinakes.loaders.reading.compression import COMPRESSIONS, decompress
from pinakes.loaders.reading.lzw import LzwDecompressor
from tests.fuzzing import mutations
from tests.loading import DATA
from tests.writing import COMPRESS, compress_lzw

LINES = b"".join(f"line {number * 7919 % 1000}\n".encode() for number in range(300))


ENDED = tuple(suffix for suffix in COMPRESSIONS if suffix not in (".Z", ".z"))
"""Compressions with an end mark; of what `compress` wrote, only a cut within a code is seen."""


def _read(data: bytes, suffix: str) -> bytes:
    with decompress(io.BytesIO(data), f"a{suffix}") as stream:
        return stream.read()


def test_every_compression_is_tested() -> None:
    assert set(COMPRESS) == set(COMPRESSIONS)


def test_a_plain_name_is_handed_through() -> None:
    source = io.BytesIO(b"abc")
    assert decompress(source, "a.jsonl") is source


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("data", [b"", b"one", LINES, bytes(5_000_000)])
def test_what_was_compressed_comes_back(suffix: str, data: bytes) -> None:
    data = data if suffix in ENDED else data[:200_000]  # which the tests' own LZW takes long over
    assert _read(COMPRESS[suffix](data), suffix) == data


@pytest.mark.parametrize("suffix", ENDED)
def test_streams_in_a_row_are_read_as_one(suffix: str) -> None:
    assert _read(COMPRESS[suffix](b"one\n") + COMPRESS[suffix](b"two\n"), suffix) == b"one\ntwo\n"
    many = b"".join(COMPRESS[suffix](f"{number},".encode()) for number in range(500))
    assert _read(many, suffix) == b"".join(f"{number},".encode() for number in range(500))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_zeros_after_the_end_are_padding(suffix: str) -> None:
    assert _read(COMPRESS[suffix](b"one") + bytes(300_000), suffix) == b"one"


@pytest.mark.parametrize("suffix", ENDED)
def test_anything_else_after_the_end_is_damage(suffix: str) -> None:
    with pytest.raises(
        BrokenStreamError, match=rf"a\{suffix} is damaged or cut short: .*\. Fetch it again\."
    ):
        _read(COMPRESS[suffix](b"one") + b"something", suffix)


@pytest.mark.parametrize("suffix", ENDED)
def test_a_stream_cut_anywhere_raises(suffix: str) -> None:
    whole = COMPRESS[suffix](LINES)
    for end in range(len(whole)):
        with pytest.raises(LoadError, match="damaged or cut short"):
            _read(whole[:end], suffix)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_closing_the_stream_closes_its_source(suffix: str) -> None:
    source = io.BytesIO(COMPRESS[suffix](LINES))
    stream = decompress(source, f"a{suffix}")
    assert stream.readline() == b"line 0\n"
    stream.close()
    assert source.closed


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_stream_that_grows_beyond_measure_is_refused(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(compression, "BOMB_RATIO", 100)
    is_lzw = suffix in (".Z", ".z")
    bomb = _compress_zeros(10_000) if is_lzw else COMPRESS[suffix](bytes(50_000_000))
    with decompress(io.BytesIO(bomb), f"a{suffix}") as stream:
        assert len(stream.read(1 << 20)) == 1 << 20
        with pytest.raises(InputError, match=r"grows to more than 100 times .* decompression bomb"):
            stream.read()


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_small_stream_may_grow_as_it_likes(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "BOMB_RATIO", 1)
    assert len(_read(COMPRESS[suffix](bytes(1_000_000)), suffix)) == 1_000_000


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@settings(max_examples=60)
@given(data=st.data())
def test_damage_raises_or_leaves_the_content_whole(suffix: str, data: st.DataObject) -> None:
    damaged = data.draw(mutations(COMPRESS[suffix](LINES)))
    try:
        found = _read(damaged, suffix)
    except LoadError:
        return
    except OtherContentError:
        assert suffix in (".Z", ".z")
        return
    # Some have no checksum: there, a changed byte may stay unseen, as in a plain file.
    assert suffix in (".zst", ".Z", ".z") or found == LINES * (len(found) // len(LINES))


def _write_lines() -> bytes:
    """What was given to ncompress 4.2.4.6 for the files of tests/data/compress."""
    lines = "".join(f"line {number * 7919 % 1000}\n" for number in range(1200))
    return (lines + "".join(f"{n * n * 104729 % 99991:x};" for n in range(3000)) + lines).encode()


@pytest.mark.parametrize(
    ("name", "content"), [("empty", b""), ("lines.b12", _write_lines()), ("lines.b16", _write_lines())]
)
def test_what_the_program_compress_wrote_is_read(name: str, content: bytes) -> None:
    """Its files empty the table on the way."""
    path = DATA / "compress" / f"{name}.Z"
    assert _read(path.read_bytes(), ".Z") == content
    assert _read(path.read_bytes(), ".1z") == content


@settings(max_examples=40)
@given(
    content=st.one_of(st.binary(max_size=2_000), st.text("ab", max_size=5_000).map(str.encode)),
    bits=st.sampled_from((10, 12, 16)),
    can_clear=st.booleans(),
    part=st.integers(1, 300),
    most=st.integers(1, 300),
)
def test_lzw_gives_what_was_compressed_in_pieces_of_any_size(
    content: bytes, bits: int, can_clear: bool, part: int, most: int
) -> None:
    packed = io.BytesIO(compress_lzw(content, bits, can_clear=can_clear))
    reader = LzwDecompressor("a.Z")
    found = b""
    while not reader.eof:
        made = reader.decompress(packed.read(part) if reader.needs_input else b"", most)
        assert len(made) <= most
        found += made
    assert found == content


def test_of_lzw_a_cut_within_a_code_and_codes_that_mean_nothing_are_damage() -> None:
    whole = compress_lzw(LINES)
    with pytest.raises(BrokenStreamError, match="ends too early"):
        _read(whole[:-1], ".Z")
    for damaged, fault in (
        (b"\x1f\x9d\x91", "codes of 17 bits"),
        (b"\x1f\x9d\x88", "codes of 8 bits"),
        (b"\x1f\x9d", "ends too early"),
        (b"\x1f\x9d\x90\x01\x01", "code 257 at the beginning"),
        (b"\x1f\x9d\x90\x61\x04\x02", "code 258, of 257"),
    ):
        with pytest.raises(BrokenStreamError, match=fault):
            _read(damaged, ".Z")
    with pytest.raises(OtherContentError, match=r"a\.Z is not what compress"):
        _read(b"plain text", ".Z")


def _compress_zeros(codes: int) -> bytes:
    """Codes that stand for 1, 2, 3, … zeros."""
    packed, width, held = bytearray(b"\x1f\x9d\x90"), 9, []
    for code in range(codes):
        held.append(code + 256 if code else 0)
        if len(held) == 8:
            bits = sum(value << width * place for place, value in enumerate(held))
            packed += bits.to_bytes(width, "little")
            held = []
            width += 257 + code >> width
    return bytes(packed)


def test_the_table_of_lzw_stays_small_where_its_entries_are_long() -> None:
    reader = LzwDecompressor("a.Z")
    packed = _compress_zeros(10_000)
    made = reader.decompress(packed, 1 << 20)
    found = len(made)
    while made:
        assert not made.strip(b"\0")
        made = reader.decompress(b"", 1 << 20)
        found += len(made)
    assert found == 10_000 * 10_001 // 2
    assert sum(len(entry or b"") for entry in reader._table) <= 1 << 20
