"""The folder of an encoder that was trained here says of itself what a preset says of a published one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.model_settings import read_json

ENCODER_FILE: Final = "pinakes_encoder.json"
RECORD_FILE: Final = "training.json"
"""everything that made the weights; written last, so that a folder with it is whole"""
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


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRecord:
    """What the folder of a trained encoder says of its training.

    Attributes:
        folder: its path, as given.
        base, base_folder: the digest of the base's weights, and the name of its folder.
        tasks, formats: the names of what it was trained on, and the format of each.
        groups: task -> the code that it had in place of its format's; empty: all had their format's.
        settings: by name; `seed` is one.
        kept_epoch: code -> the epoch, from 1, whose weights are kept; empty: an earlier version trained it.
        losses, validation: the mean loss of each task in each step, and after each epoch (None: no instance).
        parameters, trained: numbers of the encoder, and those that were trained.
        elapsed_s: of all sittings.
    """

    folder: str
    base: str
    base_folder: str
    tasks: tuple[str, ...]
    formats: tuple[str, ...]
    groups: Mapping[str, str]
    settings: Mapping[str, Any]
    kept_epoch: Mapping[str, int]
    losses: Sequence[Sequence[float | None]]
    validation: Sequence[Sequence[float | None]]
    parameters: int
    trained: int
    elapsed_s: float

    @property
    def method(self) -> str:
        """How the formats get their embeddings: one of `indexers.training.settings.Method`."""
        return str(self.settings["method"])

    @property
    def seed(self) -> int:
        """Of the draw, its order, and what training began with."""
        return int(self.settings["seed"])


def read_record(folder: Path) -> TrainingRecord:
    """What the folder of a trained encoder says of its training.

    Raises:
        IndexingError: it has no such file, or one that is not as `pinakes train` writes it.
    """
    path = folder / RECORD_FILE
    if not path.is_file():
        raise IndexingError(
            f"{folder} has no {RECORD_FILE}; expected one, which a training writes when it ends. Let it end"
        )
    found = read_json(path)
    try:
        decided = found["decided"]
        return TrainingRecord(
            folder=str(folder),
            base=decided["base"],
            base_folder=found["base_folder"],
            tasks=tuple(found["tasks"]),
            formats=tuple(found["formats"]),
            groups=dict(found.get("groups", {})),
            settings={**decided["settings"], "seed": int(decided["settings"]["seed"])},
            kept_epoch=dict(found.get("kept_epoch", {})),
            losses=found["losses"],
            validation=found["validation"],
            parameters=int(found["parameters"]),
            trained=int(found["trained"]),
            elapsed_s=float(found["elapsed_s"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise IndexingError(f"{path} is not as `pinakes train` writes it ({error!r}); train again") from error
