"""What is put into a model beside its own weights: whatever the folder of an adapter holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pinakes.indexers.encoder.adapter_fusion import attach_fusion
from pinakes.indexers.encoder.adapter_settings import CONFIG_NAME, FUSION_CONFIG_NAME, PAL_CONFIG_NAME
from pinakes.indexers.encoder.adapters import attach_adapter
from pinakes.indexers.encoder.pals import attach_pals

_ATTACH: Final[dict[str, Callable[[Any, Path], None]]] = {
    CONFIG_NAME: attach_adapter,
    PAL_CONFIG_NAME: attach_pals,
    FUSION_CONFIG_NAME: attach_fusion,
}
"""the file that says what a folder holds -> what puts it into a BERT"""


def attach_parts(model: Any, folder: Path) -> None:
    """Put a folder's adapter, PALs or fusion into a BERT, or raise `IndexingError`."""
    named = next(name for name in _ATTACH if (folder / name).is_file())
    _ATTACH[named](model, folder)
