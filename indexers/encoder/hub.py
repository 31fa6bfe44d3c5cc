"""Folders of the model hub, from the local cache or downloaded: safetensors weights and settings alone."""

from pathlib import Path
from typing import Final

from pinakes.errors import IndexingError

DOWNLOADED_FILES: Final = ["*.safetensors", "*.json", "vocab.txt", "merges.txt", "*.model"]
OTHER_RUNTIMES: Final = ["onnx/*", "openvino/*"]


def download_folder(hub_id: str, revision: str | None, download: bool) -> Path:
    """The folder of a model at a revision; its name is the commit.

    Raises:
        IndexingError: it is not in the local cache and cannot be downloaded, or must not be.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        path = snapshot_download(
            hub_id,
            revision=revision,
            allow_patterns=DOWNLOADED_FILES,
            ignore_patterns=OTHER_RUNTIMES,
            local_files_only=not download,
        )
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        if not download:
            raise IndexingError(
                f"the model {hub_id} at revision {revision or 'main'} is not on this machine"
            ) from error
        raise IndexingError(
            f"the model {hub_id} at revision {revision or 'main'} is neither in the local cache nor to be "
            f"had from the hub ({str(error).splitlines()[0]}); check the id and the revision, or give a "
            "local folder that holds the model"
        ) from error
    return Path(path)
