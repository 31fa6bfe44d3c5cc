"""What a folder of corpora says of itself: `corpora.json`, written last, names each file that counts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.schema import SCHEMA_VERSION
from pinakes.version import VERSION
from pinakes.writing.folders import Folder, is_address

MANIFEST: Final = "corpora.json"
FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a table's rows of one corpus, of one bucket or (None) of all."""

    name: str
    table: str
    corpus: str
    bucket: int | None
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The corpora of a folder: name -> rows by table, those without a file among them; and the files."""

    corpora: Mapping[str, Mapping[str, int]]
    files: Sequence[CorpusFile]


def write_manifest(folder: Folder, manifest: Manifest) -> None:
    """Write the manifest."""
    content = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "pinakes": VERSION, **asdict(manifest)}
    folder.write_file(MANIFEST, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def read_manifest(folder: Folder) -> Manifest:
    """The manifest of a folder whose files are all there, of their sizes.

    Raises:
        InputError: there is none, it is of another schema version, or a file is not there whole.
        PinakesError: the object store cannot be used.
    """
    if is_address(folder.address):
        folder.prepare()  # finds within seconds that a store is not there
    where = f"{folder.address} has no corpora"
    try:
        found: dict[str, Any] = json.loads(folder.read_file(MANIFEST))
        version = (found["format"], found["schema_version"])
        files = [CorpusFile(**one) for one in found["files"]]
        manifest = Manifest(found["corpora"], files)
    except FileNotFoundError as error:
        raise InputError(
            f"{where}: expected {MANIFEST}, as `pinakes export partitioned` writes it."
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{where}: {MANIFEST} is damaged ({error}); export them again.") from error
    if version != (FORMAT, SCHEMA_VERSION):
        raise InputError(
            f"{where} of this version: expected format {FORMAT} and schema version {SCHEMA_VERSION}, found "
            f"{version[0]} and {version[1]}. Export them again with this Pinakes."
        )
    sizes = folder.list_files()
    lost = [one.name for one in files if sizes.get(one.name) != one.bytes]
    if lost:
        raise InputError(
            f"{folder.address} is not whole: {len(lost)} files are not there as they were written, the first "
            f"{lost[0]}. Export the corpora again."
        )
    return manifest
