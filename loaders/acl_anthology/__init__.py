"""The ACL Anthology: the XML of its repository (`data/xml`) or its BibTeX files.

| module | reads |
|---|---|
| `collections` | `<collection>` documents: volumes, papers, abstracts |
| `bibliography` | `anthology.bib`, `anthology+abstracts.bib` |

A paper's id is the Anthology's: `P18-1001`, `W18-0102` (workshops have two digits for the volume), since 2020
`2020.acl-main.1`. Front matter is left out unless it is asked for; its authors are then the volume's editors.
Of a source that holds both, the XML is read, which is the Anthology's own; of several BibTeX files the one
with abstracts, which holds what the others hold.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.acl_anthology.bibliography import read_bibliography
from pinakes.loaders.acl_anthology.collections import read_collections
from pinakes.loaders.base import CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.archives import is_archive, list_members
from pinakes.loaders.reading.documents import find_documents
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.staging import Chunk

_OPTIONS: Final = {
    "format": "xml or bib; without it the XML where there is some, else the BibTeX",
    "front_matter": "yes: volumes' front matter too, with the editors as its authors; no is the default",
}


def describe_corpus(_source: Path | None, _options: Options) -> CorpusDescription:
    """The corpus acl-anthology."""
    return CorpusDescription(
        name="acl-anthology",
        title="ACL Anthology",
        licence="CC BY 4.0 (papers from 2016), CC BY-NC-SA 3.0 (papers before)",
        source="https://aclanthology.org/",
    )


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The collections of a folder or an archive in bundles, or the BibTeX file with the most in it.

    Raises:
        InputError: there is none, or an option has a value that it cannot have.
    """
    _wants_front_matter(options)
    wanted = options.get("format")
    if wanted is not None and wanted not in _FINDERS:
        raise InputError(f"format is {wanted!r}; expected {' or '.join(_FINDERS)}.")
    is_bib = source is not None and source.is_file() and ".bib" in source.name.lower()
    if wanted is None and not is_bib:
        try:
            return _find_collections(source)
        except InputError:
            pass  # then it may hold BibTeX; if not, that is what the user is told
    return _FINDERS[wanted or "bib"](source)


def _find_collections(source: Path | None) -> list[InputFile]:
    return find_documents(source, (".xml",), role="xml")


def _find_bibliographies(source: Path | None) -> list[InputFile]:
    files: list[InputFile] = []
    for file in find_line_files(source, suffixes=(".bib",)):
        if file.path is None or not is_archive(file.path):
            files.append(InputFile(file.path, file.name, "bib"))
            continue
        members = [name for name in list_members(file.path) if ".bib" in name.lower()]
        files += [InputFile(file.path, f"{file.name}/{name}", "bib", member=name) for name in members]
    if not files:
        raise InputError(f"{source} holds neither the Anthology's XML nor a BibTeX file.")
    return [file for file in files if "+abstracts" in file.name] or files


_FINDERS: Final = {"xml": _find_collections, "bib": _find_bibliographies}


def _wants_front_matter(options: Options) -> bool:
    wanted = options.get("front_matter", "no")
    if wanted not in ("yes", "no"):
        raise InputError(f"front_matter is {wanted!r}; expected yes or no.")
    return wanted == "yes"


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """One record a paper."""
    read = read_collections if file.role == "xml" else read_bibliography
    return gather_chunks(read(file, _wants_front_matter(options)), first_row=first_row)


LOADER: Final = Loader(
    name="acl-anthology",
    summary="the ACL Anthology: its XML, or anthology.bib and anthology+abstracts.bib",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options=_OPTIONS,
)
