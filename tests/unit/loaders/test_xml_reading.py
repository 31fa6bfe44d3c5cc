"""XML is read without its dangers: nothing is resolved, nothing is fetched, nothing is lost."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import etree

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.xml_reading import element_text, parse_xml, read_elements
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows
from tests.fuzzing import mutations


def _text(raw: bytes) -> str | None:
    return element_text(parse_xml(raw))


def test_text_is_all_text_below_with_white_space_collapsed() -> None:
    assert _text(
        b"\n <?xml version='1.0'?>\n<t> A\n<i>fine</i><b>r</b>\ttitle <e/>.<!-- no --><?no no?></t>"
    ) == ("A finer title .")
    assert element_text(None) is None
    assert element_text(None, "none") == "none"
    assert element_text(parse_xml(b"<t> <b/> </t>"), "none") == "none"


def test_a_declared_encoding_is_kept() -> None:
    assert _text("<?xml version='1.0' encoding='ISO-8859-1'?><t>Zürich</t>".encode("latin-1")) == "Zürich"
    assert _text("<?xml version='1.0' encoding='UTF-16'?><t>Zürich</t>".encode("utf-16")) == "Zürich"
    assert _text(b"\xef\xbb\xbf<t>x</t>") == "x"


def test_named_characters_of_a_dtd_that_is_not_loaded_become_characters() -> None:
    assert _text(b'<!DOCTYPE t SYSTEM "jats.dtd"><t>&alpha;&nbsp;&amp; &own;</t>') == "α & &own;"


BOMB = b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "raw",
    [
        BOMB + b"<t>&b;</t>",
        BOMB + b'<t b="&b;"/>',
        b'<!DOCTYPE t [<!ENTITY f SYSTEM "file:///etc/passwd">]><t>&f;</t>',
        b'<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]><t/>',
    ],
)
def test_a_document_that_declares_entities_is_rejected(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(RecordError, match="declares entities") as caught:
        parse_xml(raw)
    assert caught.value.reason == "not_xml"
    file = tmp_path / "a.xml"
    file.write_bytes(raw)
    (record,) = read_elements(InputFile(file, "a.xml", "papers"), "t", _keep)
    assert isinstance(record, Rejected)
    assert (record.reason, record.message) == ("not_xml", "the document declares entities; expected none")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"text",
        b"<t>",
        b"<t></u>",
        b"<t/><t/>",
        b"<t>\x00</t>",
        b"<t>\xff</t>",
        b"<t a='1' a='2'/>",
        b"<?xml version='1.0' encoding='nonsense'?><t/>",
        b"<a>" * 100_000,
        b"&",
        b"<t>&",
    ],
)
def test_what_is_no_xml_is_rejected(raw: bytes) -> None:
    with pytest.raises(RecordError) as caught:
        parse_xml(raw)
    assert caught.value.reason == "not_xml"


def _keep(element: etree._Element) -> Rows:
    found = element_text(element)
    if found is None:
        raise RecordError("missing_field", "no text")
    return {"papers": [{"source_id": found}]}


def _make_input(path: Path, content: bytes) -> InputFile:
    path.write_bytes(content)
    return InputFile(path, path.name, "papers")


SET = b"<set><group><p>1</p><q>no</q><p> </p></group>\n<p>3 <i>x</i></p></set>"


def test_every_element_of_the_tag_is_a_record(tmp_path: Path) -> None:
    for name, content in (("a.xml", SET), ("a.xml.gz", gzip.compress(SET))):
        assert list(read_elements(_make_input(tmp_path / name, content), "p", _keep)) == [
            Accepted(1, {"papers": [{"source_id": "1"}]}, "set/group/p[1]", b"<p>1</p>"),
            Rejected(2, "set/group/p[2]", "missing_field", "no text", "<p> </p>"),
            Accepted(3, {"papers": [{"source_id": "3 x"}]}, "set/p[3]", b"<p>3 <i>x</i></p>"),
        ]


def test_a_tag_may_stand_in_any_namespace(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "a.xml", b'<s xmlns="urn:a"><p>1</p></s>')
    (record,) = read_elements(file, "{*}p", _keep)
    assert (record.location, record.row_number) == ("s/p[1]", 1)
    assert list(read_elements(file, "p", _keep)) == []


@pytest.mark.parametrize("rest", [b"", b"</wrong>", b"<p>3</q>", b"&", b"\x00", b"<p>\xff</p></set>"])
def test_what_stands_before_the_damage_is_kept_and_the_rest_is_one_rejected_record(
    tmp_path: Path, rest: bytes
) -> None:
    file = _make_input(tmp_path / "a.xml", b"<set><p>1</p><p>2</p>" + rest)
    *kept, last = read_elements(file, "p", _keep)
    assert [record.location for record in kept] == ["set/p[1]", "set/p[2]"]
    assert isinstance(last, Rejected)
    assert (last.row_number, last.location, last.reason) == (3, "after 2 p", "not_xml")


def test_a_file_of_any_size_is_read_in_little_memory(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "a.xml", b"<s>" + b"<p>text</p>" * 50_000 + b"</s>")
    assert sum(1 for _ in read_elements(file, "p", _keep)) == 50_000


def test_a_file_that_is_cut_short_or_missing_raises(tmp_path: Path) -> None:
    file = _make_input(tmp_path / "a.xml.gz", gzip.compress(SET)[:-4])
    with pytest.raises(LoadError, match="damaged or cut short"):
        list(read_elements(file, "p", _keep))
    with pytest.raises(InputError, match="there is no file"):
        list(read_elements(InputFile(tmp_path / "none.xml", "none.xml", "papers"), "p", _keep))


@settings(max_examples=100)
@given(data=mutations(b"<?xml version='1.0'?>\n<set>" + b"<p id='1'>text <i>x</i></p>" * 8 + b"</set>"))
def test_a_damaged_document_gives_records_without_a_gap(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    records = list(read_elements(_make_input(tmp_path_factory.mktemp("xml") / "a.xml", data), "p", _keep))
    assert [record.row_number for record in records] == list(range(1, len(records) + 1))
    try:
        whole = parse_xml(data)
    except RecordError:
        assert isinstance(records[-1], Rejected)
    else:
        assert len(records) == len(list(whole.iter("p")))
