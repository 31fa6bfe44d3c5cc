"""Antonyms of adjectives, out of WordNet's own files as wndb(5WN) describes them.

They are read here and not by NLTK, whose reader refuses folders outside its own and wants a file that
Debian's package does not have.
"""

import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pinakes.errors import InputError

FOLDER_VARIABLE: Final = "PINAKES_WORDNET"
_PARTS: Final = ("noun", "verb", "adj", "adv")
_RULES: Final = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
"""endings of inflected words and those of their base forms, morphy(7WN)"""
_MARKER = re.compile(r"\((a|p|ip)\)$")
_VERSION = re.compile(rb"WordNet (\d+(?:\.\d+)*)")
_DEBIAN: Final = Path("/usr/share/wordnet")


@dataclass(frozen=True, slots=True)
class Antonyms:
    """The antonyms of a WordNet; it can be sent to another process, which reads the files itself.

    Attributes:
        source: a folder with WordNet's files, or a zip of one.
        version: as 3.0.
    """

    source: Path
    version: str

    @property
    def producer(self) -> str:
        """The part of a producer's name that says whose antonyms they are, as wordnet-3.0."""
        return f"wordnet-{self.version}"

    def find(self, adjective: str) -> str | None:
        """The antonym as WordNet writes it, `_` for a space; None where there is none.

        Of all lemmas of all synsets of the word (nouns first, then verbs, adjectives and adverbs) the first
        antonym of each counts once; the most frequent is taken, of equally frequent ones the first.
        """
        return _find(self.source, adjective.lower()) if adjective else None


def find_antonyms(folder: Path | None = None) -> Antonyms:
    """The antonyms of the WordNet in the folder, of that in `PINAKES_WORDNET`, of Debian's or of NLTK's.

    Raises:
        InputError: there is none, or its files are not those of a WordNet.
    """
    named = folder or (Path(os.environ[FOLDER_VARIABLE]) if os.environ.get(FOLDER_VARIABLE) else None)
    for source in (named,) if named else _list_usual_places():
        if source.is_file() or (source / "data.adj").is_file():
            return Antonyms(source, _read_version(source))
    where = (
        f"{named} holds no WordNet (data.adj, index.adj, …)"
        if named
        else "There is no WordNet on this machine"
    )
    raise InputError(
        f"{where}; the antonyms of adjectives come out of it. Install Debian's (apt-get install wordnet-base)"
        f" or NLTK's (python -m nltk.downloader wordnet), or name a folder of its files in {FOLDER_VARIABLE}."
    )


def _list_usual_places() -> Iterator[Path]:
    yield _DEBIAN
    import nltk.data

    for folder in nltk.data.path:
        yield Path(folder) / "corpora" / "wordnet"
        yield Path(folder) / "corpora" / "wordnet.zip"


def _read_version(source: Path) -> str:
    found = _VERSION.search(_read_files(source)["data.adj"][:2_000])
    return found[1].decode() if found else "unknown"


@lru_cache(maxsize=2)
def _read_files(source: Path) -> dict[str, bytes]:
    names = [f"{kind}.{part}" for part in _PARTS for kind in ("data", "index")] + [
        f"{part}.exc" for part in _PARTS
    ]
    try:
        if source.is_dir():
            return {name: (source / name).read_bytes() for name in names}
        with zipfile.ZipFile(source) as archive:
            return {name: archive.read(f"wordnet/{name}") for name in names}
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"the WordNet in {source} cannot be read: {error}; install it again.") from error


@lru_cache(maxsize=200_000)
def _find(source: Path, word: str) -> str | None:
    files = _read_files(source)
    counts = Counter(
        antonym
        for part in _PARTS
        for form in _list_forms(files, word, part)
        for offset in _list_synsets(files, form, part)
        for antonym in _list_antonyms(files, offset, part)
    )
    return counts.most_common(1)[0][0] if counts else None


def _list_forms(files: dict[str, bytes], word: str, part: str) -> list[str]:
    """The word, and its base forms in this part of speech."""
    exception = _find_line(files[f"{part}.exc"], word)
    if exception:
        return list(dict.fromkeys([word, *exception[1:]]))
    rules = (rule.split(":") for rule in _RULES[part].split())
    forms = (word.removesuffix(old) + new for old, new in rules if word.endswith(old))
    return list(dict.fromkeys([word, *filter(None, forms)]))  # of "er" nothing is left


def _list_synsets(files: dict[str, bytes], form: str, part: str) -> list[int]:
    line = _find_line(files[f"index.{part}"], form)
    return [int(offset) for offset in line[-int(line[2]) :]] if line else []


def _list_antonyms(files: dict[str, bytes], offset: int, part: str) -> list[str]:
    """The first antonym of each of a synset's words that has one."""
    words, pointers = _read_synset(files, offset, part)
    first: dict[int, str] = {}
    for symbol, target, letter, numbers in pointers:
        number = int(numbers[:2], 16)
        if symbol == "!" and number not in first:
            targets, _ = _read_synset(files, int(target), _LETTERS[letter])
            first[number] = targets[int(numbers[2:], 16) - 1]
    return [first[number] for number in range(1, len(words) + 1) if number in first]


_LETTERS: Final = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


def _read_synset(
    files: dict[str, bytes], offset: int, part: str
) -> tuple[list[str], list[tuple[str, str, str, str]]]:
    """Its words, and its pointers: symbol, offset, part of speech, numbers of the words from and to."""
    content = files[f"data.{part}"]
    fields = content[offset : content.find(b"\n", offset)].decode("utf-8", "replace").split(" | ")[0].split()
    count = int(fields[3], 16)
    words = [_MARKER.sub("", word) for word in fields[4 : 4 + 2 * count : 2]]
    first = 4 + 2 * count
    pointers = fields[first + 1 : first + 1 + 4 * int(fields[first])]
    return words, list(zip(*(pointers[k::4] for k in range(4)), strict=True))


def _find_line(content: bytes, word: str) -> list[str] | None:
    """The fields of the line that begins with the word, in a file that is sorted byte by byte."""
    key = word.encode("utf-8", "surrogatepass")
    low, high = 0, len(content)
    while low < high:
        middle = (low + high) // 2
        start = content.rfind(b"\n", 0, middle) + 1
        end = content.find(b"\n", middle)
        end = len(content) if end < 0 else end
        line = content[start:end]
        found = line.partition(b" ")[0]
        if found == key:
            return line.decode("utf-8", "replace").split()
        low, high = (end + 1, high) if found < key else (low, start)
    return None
