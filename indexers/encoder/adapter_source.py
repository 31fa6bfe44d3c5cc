"""Where an adapter lies: a local folder, or an id on the model hub, which may carry `@revision`."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_settings import (
    CONFIG_NAME,
    CONVERT,
    FETCH_AND_CONVERT,
    FUSION_CONFIG_NAME,
    FUSION_WEIGHTS_NAME,
    PAL_CONFIG_NAME,
    PAL_WEIGHTS_NAME,
    PICKLED_NAME,
    WEIGHTS_NAME,
    find_fused,
)
from pinakes.indexers.encoder.hub import download_folder

_HUB_ID: Final = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")


@dataclass(frozen=True, slots=True)
class AdapterSource:
    """Where an adapter lies.

    Attributes:
        folder: the local folder that holds the configuration and weights of an adapter, PALs or a fusion.
        revision: the hub's commit; None for a folder, whose digest then stands for it.
        origin: the folder or the hub id that it was found by.
    """

    folder: Path
    revision: str | None
    origin: str

    def digest(self) -> str:
        """sha256, in hex, of the configuration and the weights."""
        found = hashlib.sha256()
        for path in list_files(self.folder):
            found.update(path.read_bytes())
        return found.hexdigest()


def list_files(folder: Path) -> list[Path]:
    """The files that say what is put into a model, and its weights; of a fusion those of its adapters too."""
    if (folder / PAL_CONFIG_NAME).is_file():
        return [folder / PAL_CONFIG_NAME, folder / PAL_WEIGHTS_NAME]
    if (folder / FUSION_CONFIG_NAME).is_file():
        fused = [path for adapter in find_fused(folder).values() for path in list_files(adapter)]
        return [folder / FUSION_CONFIG_NAME, folder / FUSION_WEIGHTS_NAME, *fused]
    return [folder / CONFIG_NAME, folder / WEIGHTS_NAME]


def resolve_adapter(adapter: str, download: bool) -> AdapterSource:
    """The source of a local folder, or of a hub id, whose safetensors weights are downloaded where missing.

    Raises:
        IndexingError: there is no such folder, a download fails, or the weights are in a pickle file alone;
            the message then has the command that converts it.
    """
    folder = Path(adapter).expanduser()
    if folder.is_dir():
        return AdapterSource(_require_safetensors(folder, ""), None, adapter)
    hub_id, _, revision = adapter.partition("@")
    if not _HUB_ID.match(hub_id):
        raise IndexingError(
            f"there is no adapter {adapter!r}; expected a local folder that exists, or a hub id such as "
            "organisation/adapter@revision"
        )
    folder = download_folder(hub_id, revision or None, download)
    return AdapterSource(_require_safetensors(folder, hub_id), folder.name, hub_id)


def _require_safetensors(folder: Path, hub_id: str) -> Path:
    missing = [os.path.relpath(path, folder) for path in list_files(folder) if not path.is_file()]
    if not missing:
        return folder
    found = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    what = f"the adapter {hub_id}" if hub_id else f"the adapter's folder {folder}"
    if missing == [WEIGHTS_NAME] and (hub_id or (folder / PICKLED_NAME).is_file()):
        command = FETCH_AND_CONVERT.format(hub_id=hub_id) if hub_id else CONVERT.format(folder=folder)
        raise IndexingError(
            f"{what} has no {WEIGHTS_NAME} (its folder holds {found}): weights in pickle files, which can "
            f"run code, are never read. Convert it once, on a machine whose owner trusts its makers, by "
            f"{command}"
        )
    raise IndexingError(
        f"{what} has no {' and no '.join(missing)} (it holds {found}); expected an adapter as the library "
        "`adapters` saves it with use_safetensors=True. Save or download it again"
    )
