"""What an encoder is trained from: a transformer, or for a fusion one with an adapter for each format."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_fusion import find_adapters
from pinakes.indexers.encoder.adapter_source import list_files
from pinakes.indexers.encoder.model import digest_weights
from pinakes.indexers.encoder.model_settings import read_model_settings
from pinakes.indexers.encoder.trained import read_trained
from pinakes.indexers.training.settings import Method


@dataclass(frozen=True, slots=True)
class Base:
    """Where a base lies.

    Attributes:
        folder: as it was named.
        transformer: the folder of the transformer's own files.
        adapters: the folder of each format's adapter, by code; empty: it has none.
    """

    folder: Path
    transformer: Path
    adapters: Mapping[str, Path] = field(default_factory=dict)

    def describe(self) -> dict[str, str]:
        """The sha256, in hex, of the transformer's weights, and of all adapters where it has any.

        Apart, so that fusions of adapters of several seeds are of one base.
        """
        digest = digest_weights(self.transformer)
        if not self.adapters:
            return {"base": digest}
        found = hashlib.sha256()
        for code, folder in self.adapters.items():
            found.update(code.encode())
            for path in list_files(folder):
                found.update(path.read_bytes())
        return {"base": digest, "adapters": found.hexdigest()}


def find_base(folder: Path, method: Method, codes: Sequence[str]) -> Base:
    """The base in a folder, for a method and the codes of the tasks' formats.

    Raises:
        IndexingError: it has a part for each format, which only a fusion trains from, and only where these
            are adapters that the tasks' formats are among; or a fusion would have one format.
    """
    described = read_trained(folder)
    members = described["members"] if described else {}
    if method == "fusion" and len(members or codes) < 2:
        raise IndexingError(
            f"a fusion has the format {', '.join(members or codes)} alone; expected two or more, since it "
            "mixes what adapters make. Name tasks of other formats too, or train with the method adapters"
        )
    if not members:
        return Base(folder, read_model_settings(folder).transformer)
    found = find_adapters(members)
    if method != "fusion" or found is None:
        raise IndexingError(
            f"{folder} has a part for each format ({', '.join(members)}); expected a base without. Name what "
            "it was trained from; with adapters it is a base of the method fusion alone"
        )
    absent = [code for code in codes if code not in found.adapters]
    if absent:
        raise IndexingError(
            f"{folder} has no adapter for {', '.join(absent)} (it has {', '.join(found.adapters)}); expected "
            "one for each format of the tasks. Leave out those tasks, or train adapters on them first"
        )
    return Base(folder, read_model_settings(found.base).transformer, found.adapters)
