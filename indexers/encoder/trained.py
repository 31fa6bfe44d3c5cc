"""The folder of an encoder that was trained here says of itself what a preset says of a published one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.model_settings import read_json

ENCODER_FILE: Final = "pinakes_encoder.json"
_SETTINGS: Final = ("paper_template", "query_template", "pooling", "normalize", "max_tokens", "distance")
_KNOWN: Final = {*_SETTINGS, "layout", "codes", "prefixes", "members"}
_LAYOUT: Final = 1


def write_trained(
    folder: Path,
    settings: Mapping[str, Any],
    codes: Sequence[str],
    prefixes: Mapping[str, str] | None = None,
    members: Mapping[str, str] | None = None,
) -> None:
    """Say what an encoder in `folder` is used with; `members` are paths within it, by code."""
    described = {
        "layout": _LAYOUT,
        "codes": list(codes),
        "prefixes": dict(prefixes or {}),
        "members": dict(members or {}),
        **{name: settings[name] for name in _SETTINGS},
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(described, indent=2, sort_keys=True) + "\n"
    (folder / ENCODER_FILE).write_text(text, encoding="utf-8")


def read_trained(folder: Path) -> dict[str, Any] | None:
    """The attributes of a `Preset` that the folder's file gives; None where it has no such file.

    Raises:
        IndexingError: the file is of a later layout, says what is not known here, or names a part outside.
    """
    path = folder / ENCODER_FILE
    if not path.is_file():
        return None
    described = read_json(path)
    if not isinstance(described, dict) or described.get("layout") != _LAYOUT or set(described) != _KNOWN:
        raise IndexingError(
            f"{path} is not as this version writes it; expected layout {_LAYOUT} with "
            f"{', '.join(sorted(_KNOWN))}. Train again, or use the version of Pinakes that wrote it"
        )
    members = described["members"]
    outside = [part for part in members.values() for place in part.split("+") if Path(place).name != place]
    if outside:
        raise IndexingError(
            f"{path} names {outside[0]}; expected folders beside it alone. Train again, or copy the whole "
            "folder"
        )
    found = {name: described[name] for name in _SETTINGS}
    found["prefixes"] = described["prefixes"]
    found["members"] = {
        code: "+".join(str(folder / place) for place in part.split("+")) for code, part in members.items()
    }
    return found
