"""A tiny WordNet in the format of the real one, wndb(5WN)."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HEADER = "  1 This software and database is made by hand.\n  2 WordNet 0.9 of the tests\n"
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


class Synset(NamedTuple):
    """Words that mean the same.

    `antonyms` are (number of a word here, key of another synset, number of a word there), numbers from 1.
    """

    part: str
    words: tuple[str, ...]
    antonyms: tuple[tuple[int, str, int], ...] = ()


SYNSETS = {
    "light": Synset("noun", ("light", "visible_light"), ((1, "darkness", 1),)),
    "darkness": Synset("noun", ("darkness",)),
    "bright": Synset("adj", ("light(a)", "lit"), ((1, "dark", 1), (2, "dark", 2))),
    "dark": Synset("adj", ("dark(p)", "unlit")),
    "light weight": Synset("adj", ("light",), ((1, "heavy", 1),)),
    "heavy": Synset("adj", ("heavy",), ((1, "light weight", 1), (1, "bright", 1))),
    "deep": Synset("adj", ("deep",), ((1, "shallow", 1),)),
    "shallow": Synset("adj", ("shallow",), ((1, "deep", 1),)),
    "good": Synset("adj", ("good",), ((1, "bad", 1),)),
    "moral": Synset("adj", ("good", "virtuous"), ((1, "evil", 1), (2, "evil", 1))),
    "bad": Synset("adj", ("bad",), ((1, "good", 1),)),
    "evil": Synset("adj", ("evil",)),
    "common": Synset("adj", ("common",), ((1, "individual", 1),)),
    "individual": Synset("adj", ("individual",)),
    "robust": Synset("adj", ("robust",), ((1, "frail", 1),)),
    "frail": Synset("adj", ("frail",)),
    "on line": Synset("adj", ("online",), ((1, "off line", 1),)),
    "off line": Synset("adj", ("off_line",)),
    "computational": Synset("adj", ("computational",)),
}
SENSES = {
    "noun": {"light": ["light"], "visible_light": ["light"], "darkness": ["darkness"]},
    "verb": {},
    "adj": {
        "bad": ["bad"],
        "common": ["common"],
        "computational": ["computational"],
        "deep": ["deep"],
        "good": ["good", "moral"],
        "heavy": ["heavy"],
        "light": ["bright", "light weight"],
        "lit": ["bright"],
        "online": ["on line"],
        "robust": ["robust"],
        "shallow": ["shallow"],
        "virtuous": ["moral"],
    },
    "adv": {},
}
"""in each part of speech, word -> its synsets, the most frequent sense first"""
EXCEPTIONS = {"adj": "best good\nbetter good\nworse bad\n"}


def build_wordnet(folder: Path) -> Path:
    """Write the files into the folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    offsets = _place(dict.fromkeys(SYNSETS, 0))
    for part, letter in PARTS.items():
        lines = [_write(key, offsets) for key, synset in SYNSETS.items() if synset.part == part]
        (folder / f"data.{part}").write_text(HEADER + "".join(lines))
        index = [_write_index(word, letter, keys, offsets) for word, keys in sorted(SENSES[part].items())]
        (folder / f"index.{part}").write_text(HEADER + "".join(index))
        (folder / f"{part}.exc").write_text(EXCEPTIONS.get(part, ""))
    return folder


def _place(offsets: Mapping[str, int]) -> dict[str, int]:
    ends = dict.fromkeys(PARTS, len(HEADER))
    placed = {}
    for key, synset in SYNSETS.items():
        placed[key] = ends[synset.part]
        ends[synset.part] += len(_write(key, offsets))
    return placed


def _write(key: str, offsets: Mapping[str, int]) -> str:
    part, words, antonyms = SYNSETS[key]
    pointers = [
        f"! {offsets[other]:08d} {PARTS[SYNSETS[other].part]} {here:02x}{there:02x}"
        for here, other, there in antonyms
    ]
    listed = " ".join(f"{word} 0" for word in words)
    count = len(pointers) + 1
    related = " ".join([f"& {offsets[key]:08d} {PARTS[part]} 0000", *pointers])
    return (
        f"{offsets[key]:08d} 00 {PARTS[part]} {len(words):02x} {listed} {count:03d} {related} | a ! sign  \n"
    )


def _write_index(word: str, letter: str, keys: list[str], offsets: Mapping[str, int]) -> str:
    senses = " ".join(f"{offsets[key]:08d}" for key in keys)
    return f"{word} {letter} {len(keys)} 2 & ! {len(keys)} 0 {senses}  \n"
