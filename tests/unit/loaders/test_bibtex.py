"""BibTeX entries, names and LaTeX."""

import pytest

from pinakes.loaders.reading.bibtex import (
    MAX_ENTRY_BYTES,
    Entry,
    decode_latex,
    parse_entry,
    split_entries,
    split_names,
)
from pinakes.loaders.staging import RecordError


def _split(text: bytes) -> list[tuple[int, str, bytes]]:
    return list(split_entries(enumerate(text.split(b"\n"), start=1)))


def test_entry_ends_before_the_next_one_whatever_it_lacks() -> None:
    assert _split(b"noise\n@A{x, t = {never\n@b(y)\nmore") == [
        (2, "a", b"@A{x, t = {never"),
        (3, "b", b"@b(y)\nmore"),
    ]


def test_entry_without_an_end_is_cut_at_the_limit() -> None:
    ((_, _, raw),) = _split(b"@a{x, t = {" + b"\nyyyyyyyyy" * (MAX_ENTRY_BYTES // 9))
    assert len(raw) < 2 * MAX_ENTRY_BYTES


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("@a{k}", {}),
        ("@a{k,}", {}),
        ("@a(k, t = {x})", {"t": "x"}),
        ("@a{k, T = {a {b} \"c\"}, t = {second}}", {"t": 'a {b} "c"'}),
        ('@a{k, t = "a {"} b", y = 2000}', {"t": 'a {"} b', "y": "2000"}),
        ("@a{k, m = jul # { 5}, p = acl\n}\nrest", {"m": "jul 5", "p": "ACL"}),
        ("@a{k t = {no comma}}", {"t": "no comma"}),
        ("@string{acl = {ACL}}", {"acl": "ACL"}),
    ],
)  # fmt: skip
def test_fields_are_read_as_written(text: str, fields: dict[str, str]) -> None:
    assert parse_entry(text, {"acl": "ACL"}).fields == fields


def test_entry_knows_its_type_and_key() -> None:
    entry = parse_entry("@InProceedings{ a:b/c-1 , year = 1}")
    assert entry == Entry("inproceedings", "a:b/c-1", {"year": "1"})


@pytest.mark.parametrize(
    "text",
    ["@a{k, t = {x", '@a{k, t = "x', "@a{k, t = }", "@a{k, t = {x}", "@a{k, t {x}}", '@a{k, t = "a}"}', "x"],
)
def test_damaged_entry_is_rejected(text: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_entry(text)
    assert caught.value.reason == "malformed_line"


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("", []),
        ("Andy Sand and B. And", ["Andy Sand", "B. And"]),
        ("{Barnes and Noble} and de la Cruz, Ana", ["Barnes and Noble", "Ana de la Cruz"]),
        ("M{\\\"u}ller, J{\\'o}n\n and\n others", ["Jón Müller"]),
    ],
)
def test_names_are_split_outside_braces(written: str, names: list[str]) -> None:
    assert split_names(written) == names


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"{\'E}va \'{e}t\'e", "Éva été"),
        (r"M{\"u}ller, Sa{\v{s}}a, Fran{\c{c}}ois, {\r a}", "Müller, Saša, François, å"),
        (r"Na{\"\i}ve {\o}re {\AA} Erd{\H o}s", "Naïve øre Å Erdős"),
        (r"Nguy{\~{\^e}}n", "Nguyễn"),
        (r"10{\%} {\&} \$5 \_ \#1 \{a\}", "10% & $5 _ #1 {a}"),
        (r"a~b -- c --- d ``e''", "a b – c — d “e”"),
        (r"\textit{it} \emph{em}{\textasciitilde}5", "it em~5"),
        (r"{A}cl $x_{1}~y$ {b}", r"Acl $x_{1}~y$ b"),
        (r"\cite{x} \unknown", r"\citex \unknown"),
        ("\\", "\\"),
    ],
)
def test_latex_becomes_plain_text(written: str, text: str) -> None:
    assert decode_latex(written) == text
