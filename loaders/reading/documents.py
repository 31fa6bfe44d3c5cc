"""Documents that are a file each: one file, a folder of them, or an archive of them, as few input files.

A folder's documents are read in bundles, so that millions of small files do not become millions of batches.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.archives import is_archive, is_hidden, iterate_members, list_members
from pinakes.loaders.reading.compression import decompress, strip_compression
from pinakes.loaders.reading.finding import take_of_format
from pinakes.loaders.reading.streams import RAW_BYTES, CutLine, digest_file, open_stream
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw, take_record

MAX_DOCUMENT_BYTES: Final = 64 << 20
BUNDLE_DOCUMENTS: Final = 1_000
REJECTED_BYTES: Final = 100_000
"""How much of a rejected document is kept."""


def find_documents(
    source: Path | None, suffixes: Sequence[str] = (".xml",), role: str = "papers"
) -> list[InputFile]:
    """The documents of a file, a folder or an archive, as few input files.

    One document is an input file of its own, whatever its name ends in. A folder's documents, with those of
    the folders below it, are taken in the order of their paths, in bundles of `BUNDLE_DOCUMENTS`; an archive,
    also one in the folder, is one input file. Names may end in a compression's suffix as well. Hidden files
    are left out.
    """
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected documents ({', '.join(suffixes)}).")
    if source.is_file():
        single = InputFile(source, source.name, role)
        found = _take_archive(suffixes, single) if is_archive(source) else single
        return [found] if found is not None else _refuse_empty(source, suffixes)
    names = _list_files(source)
    documents = [name for name in names if _is_document(name, suffixes)]
    archives = [InputFile(source / name, name, role) for name in names if is_archive(Path(name))]
    bundles = [
        bundle_documents(source, tuple(documents[start : start + BUNDLE_DOCUMENTS]), role)
        for start in range(0, len(documents), BUNDLE_DOCUMENTS)
    ]
    taken = take_of_format(archives, partial(_take_archive, suffixes), bundles)
    return taken or _refuse_empty(source, suffixes)


def _refuse_empty(source: Path, suffixes: Sequence[str]) -> list[InputFile]:
    raise InputError(f"{source} holds no document; expected files that end in {', '.join(suffixes)}.")


def _is_document(name: str, suffixes: Sequence[str]) -> bool:
    lowered = name.lower()
    return not is_archive(Path(name)) and strip_compression(lowered).endswith(tuple(suffixes))


def _list_files(folder: Path) -> list[str]:
    """The files below the folder, as paths within it, in the order of their bytes."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__MACOSX"]
        below = Path(parent).relative_to(folder)
        found += [(below / name).as_posix() for name in names if not name.startswith(".")]
    return sorted(found, key=os.fsencode)


def _take_archive(suffixes: Sequence[str], file: InputFile) -> InputFile | None:
    """The archive with its documents; None where it has none."""
    members = list_members(file.expect_path())
    documents = tuple(name for name in members if _is_document(name, suffixes) and not is_hidden(name))
    return replace(file, documents=documents) if documents else None


def bundle_documents(folder: Path, documents: tuple[str, ...], role: str) -> InputFile:
    """The folder's documents as one input file, which is known by their names and contents."""
    content = hashlib.sha256()
    for document in documents:
        content.update(os.fsencode(f"{document}\0{digest_file(folder / document)}\n"))
    name = documents[0] if len(documents) == 1 else f"{documents[0]} to {documents[-1]}"
    return InputFile(folder, show_raw(name), role, documents=documents, digest=content.hexdigest())


def read_documents(file: InputFile, parse: Callable[[bytes, str], Rows]) -> Iterator[Accepted | Rejected]:
    """One record a document: what `parse` makes of its bytes and name; its location is its name."""
    for number, (name, raw) in enumerate(load_documents(file), start=1):
        yield take_large_record(number, name, raw, partial(_parse_whole, parse, raw, name))


def take_large_record(
    number: int, location: str, raw: bytes, parse: Callable[[], Rows]
) -> Accepted | Rejected:
    """`staging.take_record` of a document, of which the beginning alone is kept."""
    record = take_record(number, location, raw[:REJECTED_BYTES], parse)
    if isinstance(record, Rejected):
        return record
    # A chunk holds thousands of records: of an accepted one, its head says which it was.
    return Accepted(number, record.rows, location, raw[:RAW_BYTES], size=len(raw))


def _parse_whole(parse: Callable[[bytes, str], Rows], raw: bytes, name: str) -> Rows:
    check_whole(raw)
    return parse(raw, name)


def check_whole(raw: bytes) -> None:
    """Raise `RecordError` where a document was cut because it is too large."""
    if isinstance(raw, CutLine):
        raise RecordError("too_large", f"the document has more than {MAX_DOCUMENT_BYTES} bytes")


def reject_document(number: int, name: str, raw: bytes, error: RecordError) -> Rejected:
    """The rejection of a whole document, of which the first bytes are kept."""
    return Rejected(number, name, error.reason, str(error), show_raw(raw[:RAW_BYTES]))


def load_documents(file: InputFile) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each document; of one beyond `MAX_DOCUMENT_BYTES` the first, as a `CutLine`.

    It raises what `open_documents` raises.
    """
    for name, stream in open_documents(file):
        with stream:
            raw = stream.read(MAX_DOCUMENT_BYTES + 1)
        yield name, CutLine(raw[:RAW_BYTES]) if len(raw) > MAX_DOCUMENT_BYTES else raw


def open_documents(file: InputFile) -> Iterator[tuple[str, IO[bytes]]]:
    """The name and the open stream of each document; one is to be read before the next is asked for."""
    path = file.expect_path()
    if not file.documents:
        yield file.name, open_stream(file)
    elif is_archive(path):
        wanted = frozenset(file.documents)
        for member in iterate_members(path):
            if member.name in wanted:
                yield member.name, decompress(member.stream, member.name)
    else:
        for name in file.documents:
            yield name, open_stream(InputFile(path / name, name, file.role))
