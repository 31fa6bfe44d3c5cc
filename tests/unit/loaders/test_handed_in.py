"""Files handed in = files read + files named as not read: every loader, in folders and in archives."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, PinakesError
from pinakes.load.load import LoadRequest
from pinakes.loaders.registry import LOADERS
from tests.long import long, sample
from tests.sources import SOURCES, HandedIn, copy_folder, hand_in, list_all_files, pack_folder
from tests.writing import write_files

PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20)
STRAYS: Final[dict[str, object]] = {
    "README.md": "# The corpus\n\nRead me first.\n",
    "manifest.json": b'{"files": ["a", "b"], "version": 1}\n',
    "figure.png": PNG,
    "nothing.md": b"",
    "export.ris": "TY  - JOUR\nTI  - A title\nER  -\n",
}
HIDDEN: Final[dict[str, object]] = {
    ".DS_Store": b"\0\1",
    "__MACOSX/._x.xml": b"\0\5\x16\7",
    ".cache/a.json": "{}",
}
EXPECTED: Final = {
    "README.md": "unknown_name",
    "figure.png": "unknown_name",
    "nothing.md": "empty",
    "export.ris": "unknown_name",
    ".DS_Store": "hidden",
    "__MACOSX/._x.xml": "hidden",
    ".cache/a.json": "hidden",
}
_STRANGE: Final = frozenset({"README.md", "figure.png", "export.ris"})
ANY_NAME: Final = {
    "sentence-selections": _STRANGE,
    "trec": _STRANGE,
    "trec with documents": _STRANGE - {"README.md"},
    "trec of Genomics": _STRANGE,
    "trec of OHSUMED": _STRANGE,
}
"""source whose loader looks into files of any name -> those that it looks into"""
FOLDERS: Final = [name for name, request in SOURCES.items() if request.source is not None]
ARCHIVES: Final = [
    "acl-anthology",
    "acl-anthology as BibTeX",
    "arxiv",
    "beir",
    "csv",
    "grobid",
    "jats",
    "jsonl",
    "jsonl with a mapping",
    "parquet",
    "pubmed",
    "pubmed as text",
    "s2orc",
    "s2orc of 2019",
    "s2orc of 2020",
    "s2orc with diffs",
    "s2orc-json",
    "science-parse",
    "scisumm",
    "smart",
    "trec",
    "trec with documents",
    "trec of Genomics",
    "trec of OHSUMED",
    "tweetpap",
    "unarxive",
]
"""sources whose loader takes an archive of them"""


@pytest.mark.parametrize("name", sample(FOLDERS, 3))
def test_a_folder_with_unrelated_files_loads_what_is_there_and_names_the_rest(
    tmp_path: Path, name: str
) -> None:
    folder = copy_folder(SOURCES[name], tmp_path)
    request = replace(SOURCES[name], source=folder)
    before = hand_in(request)
    write_files(folder, {**STRAYS, **HIDDEN})
    _check(name, before, hand_in(request), list_all_files(folder))


@pytest.mark.parametrize("suffix", [long(".zip"), ".tar.gz"])
@pytest.mark.parametrize("name", sample(ARCHIVES, 2))
def test_an_archive_with_unrelated_files_loads_what_is_there_and_names_them(
    tmp_path: Path, name: str, suffix: str
) -> None:
    folder = copy_folder(SOURCES[name], tmp_path)
    request = replace(SOURCES[name], source=pack_folder(folder, suffix))
    before = hand_in(request)
    write_files(folder, {**STRAYS, **HIDDEN})
    path = pack_folder(folder, suffix)
    found = hand_in(request)
    prefix = f"{path.name}/"
    plain = replace(
        found,
        read=frozenset(one.removeprefix(prefix) for one in found.read),
        unread={one.removeprefix(prefix): reason for one, reason in found.unread.items()},
    )
    was_unread = {one.removeprefix(prefix): reason for one, reason in before.unread.items()}
    _check(name, replace(before, unread=was_unread), plain, list_all_files(folder))


@pytest.mark.parametrize("name", sorted({*FOLDERS} - {*ARCHIVES}))
def test_an_archive_is_refused_where_the_loader_takes_none(tmp_path: Path, name: str) -> None:
    path = pack_folder(copy_folder(SOURCES[name], tmp_path), ".zip")
    with pytest.raises(InputError):
        hand_in(replace(SOURCES[name], source=path))


def _check(name: str, before: HandedIn, after: HandedIn, handed_in: set[str]) -> None:
    assert after.read | after.unread.keys() == handed_in
    assert not after.read & after.unread.keys()
    assert after.rows == before.rows
    assert before.rows
    expected = EXPECTED | dict.fromkeys(ANY_NAME.get(name, ()), "other_content") | before.unread
    assert {name: reason for name, reason in after.unread.items() if name != "manifest.json"} == expected
    if "manifest.json" in after.read:
        assert len(after.rejected) > len(before.rejected)
    else:
        assert after.unread["manifest.json"] in ("unknown_name", "other_content")


def test_every_loader_is_handed_a_folder() -> None:
    assert {SOURCES[name].loader for name in FOLDERS} == {*LOADERS} - {"synthetic", "ir-datasets"}


@pytest.mark.parametrize("name", sample(sorted({SOURCES[name].loader: name for name in FOLDERS}.values()), 3))
@settings(max_examples=2, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_file_is_passed_over_in_silence(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = copy_folder(SOURCES[name], tmp_path_factory.mktemp("handed"))
    suffixes = sorted({path.suffix for path in folder.rglob("*") if path.suffix} | {".md", ".zip", ".gz"})
    folders = sorted({path.parent.relative_to(folder).as_posix() for path in folder.rglob("*")})
    contents = [b"", PNG, b"{}\n", b"a,b\n1,2\n", b"<x/>", *(path.read_bytes() for path in _list_own(folder))]
    names = st.builds(
        "{}/{}{}{}".format,
        st.sampled_from([*folders, "new", ".hidden", "__MACOSX"]),
        st.sampled_from(["a", "b", "._c", "_d"]),
        st.sampled_from(suffixes),
        st.sampled_from(["", "", "", ".gz"]),
    )
    strays = data.draw(st.dictionaries(names, st.sampled_from(contents), max_size=6))
    for stray, content in strays.items():
        if not (folder / stray).exists():
            (folder / stray).parent.mkdir(parents=True, exist_ok=True)
            (folder / stray).write_bytes(content)
    suffix = data.draw(st.sampled_from([None, ".zip", ".tar"])) if name in ARCHIVES else None
    _check_law(SOURCES[name], folder, suffix)


def _list_own(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())[:3]


def _check_law(request: LoadRequest, folder: Path, suffix: str | None) -> None:
    """Each file is on one side, or the load is refused with a message."""
    source = folder if suffix is None else pack_folder(folder, suffix)
    try:
        found = hand_in(replace(request, source=source))
    except PinakesError:
        return
    handed_in = list_all_files(folder)
    opened = {name for name in handed_in if any(one.startswith(f"{name}/") for one in found.read)}
    prefix = "" if suffix is None else f"{source.name}/"
    named = {one.removeprefix(prefix) for one in found.read | found.unread.keys()}
    assert {one for one in named if one in handed_in} == handed_in - opened
    assert not found.read & found.unread.keys()


def test_a_list_of_a_packed_collection_that_is_a_copy_is_named_once(tmp_path: Path) -> None:
    folder = copy_folder(SOURCES["smart"], tmp_path)
    (lists,) = [path for path in folder.iterdir() if "qrel" in path.name.lower() or path.suffix == ".REL"]
    (folder / f"{lists.name}.OLD").write_bytes(lists.read_bytes())
    path = pack_folder(folder, ".zip")
    unread = hand_in(replace(SOURCES["smart"], source=path)).unread
    assert [name for name in unread if lists.name in name] == [f"{path.name}/{lists.name}.OLD"]
