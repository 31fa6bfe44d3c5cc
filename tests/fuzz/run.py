"""Mutated sources through every loader, until the time is up; what goes wrong is kept as a find.

An input is a file with some bytes changed, or a record with some bytes changed in a file of many such.
Nothing but `InputError` and `LoadError` may leave a loader, every record is accepted or rejected, every file
that was handed in is read or named, a load that goes on in the middle gives the rest, and none takes over 10
seconds of processor time.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError, LoadError
from pinakes.load.load import LoadRequest
from pinakes.load.unread import find_handed_in
from pinakes.loaders.registry import find_loader
from tests.fuzz.mutate import mutate, mutate_json
from tests.fuzzing import check_chunk
from tests.sources import SOURCES, list_all_files

FINDS: Final = Path(__file__).parents[1] / "data" / "finds"
MOST_S: Final = 10
MOST_BYTES: Final = 8 << 30
RECORDS_A_FILE: Final = 300
MANY_RECORDS_A_FILE: Final = 1_000
"""where there is time: a file itself costs as much as some hundred records"""
REAL_BYTES: Final = 400_000


class SlowError(Exception):
    """A source took more than `MOST_S` of processor time."""


@dataclass(slots=True)
class Tally:
    """What was tried and what came of it.

    Attributes:
        inputs: source -> inputs.
        accepted, rejected: source -> records.
        refused: source -> files that were refused as a whole.
        finds: where the loader went wrong and how -> the folder of the first such input.
    """

    inputs: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    finds: dict[str, str] = field(default_factory=dict)

    def add(self, other: "Tally") -> None:
        """Take in what another has counted."""
        for name in ("inputs", "accepted", "rejected", "refused"):
            getattr(self, name).update(getattr(other, name))
        self.finds = {**other.finds, **self.finds}


@dataclass(frozen=True, slots=True)
class Source:
    """What is mutated: the files below a folder, or one file, and how it is loaded."""

    name: str
    request: LoadRequest
    files: dict[str, bytes]
    is_folder: bool

    @property
    def loader(self) -> str:
        """The loader that reads it."""
        return self.request.loader


def list_sources(real: Path | None = None) -> list[Source]:
    """The tiny source of every loader, and of published ones the small files below `real` (LOADER/…)."""
    found = [read_source(name, request) for name, request in SOURCES.items() if request.source is not None]
    published = sorted(real.iterdir()) if real is not None else []
    return found + [read_source(f"real {one.name}", LoadRequest(one.name, one)) for one in published]


def read_source(name: str, request: LoadRequest) -> Source:
    """The files of a source, each up to `REAL_BYTES`."""
    path = request.source
    assert path is not None
    if path.is_file():
        return Source(name, request, {path.name: path.read_bytes()[:REAL_BYTES]}, is_folder=False)
    files = {one: (path / one).read_bytes()[:REAL_BYTES] for one in sorted(list_all_files(path))}
    return Source(name, request, files, is_folder=True)


def draw_input(
    rng: random.Random, source: Source, records: int = RECORDS_A_FILE
) -> tuple[dict[str, bytes], int]:
    """The files of the source, one of them mutated, and how many inputs that makes."""
    name = rng.choice(list(source.files))
    data = source.files[name]
    others = list(source.files.values())
    way = rng.random()
    if way < 0.4 and data.count(b"\n") > 1:
        return {**source.files, name: _draw_lines(rng, data, records)}, records
    if way < 0.5 and source.is_folder:
        return {**source.files, _rename(rng, name): mutate(rng, data, others)}, 1
    mutated = mutate_json(rng, data, 0) if way > 0.8 else mutate(rng, data, others)
    return {**source.files, name: mutated}, 1


def _draw_lines(rng: random.Random, data: bytes, records: int) -> bytes:
    """A file of many lines of the file, each mutated; the first, which may be a header, seldom."""
    lines = data.splitlines(keepends=True)
    first = lines[0] if rng.random() < 0.9 else mutate(rng, lines[0])
    drawn = [
        mutate_json(rng, line, number) if rng.random() < 0.7 else mutate(rng, line)
        for number, line in enumerate(rng.choices(lines, k=records))
    ]
    return first + b"".join(line if line.endswith(b"\n") else line + b"\n" for line in drawn)


def _rename(rng: random.Random, name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return rng.choice((f"{name}.bak", f"{stem}2{dot}{suffix}", f"more/{name}", f"{name}2", f".{name}"))


def write_input(folder: Path, source: Source, files: dict[str, bytes]) -> Path:
    """The files below the folder, and what is loaded of them."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder if source.is_folder else folder / next(iter(files))


def check_input(request: LoadRequest, path: Path, rng: random.Random) -> tuple[int, int, bool]:
    """Read a source as a load does: records accepted, rejected, and whether it was refused.

    Raises whatever a loader must not raise, and `AssertionError` where what it gives does not add up.
    """
    loader = find_loader(request.loader)
    rows_in = rejected = 0
    try:
        files = loader.find_files(path, request.options)
        if path.is_dir():
            _check_handed_in(path, files)
        for file in files:
            following, counts = 1, []
            for chunk in loader.read_chunks(file, request.options, 1):
                check_chunk(chunk, following)
                following = chunk.last_row + 1
                rows_in += chunk.rows_in
                rejected += len(chunk.rejected)
                counts.append((chunk.last_row, chunk.rows_in, len(chunk.rejected)))
            if following > 2 and rng.random() < 0.1:
                middle = rng.randint(2, following - 1)
                rest = list(loader.read_chunks(file, request.options, middle))
                assert sum(chunk.rows_in for chunk in rest) <= sum(one[1] for one in counts)
                if rest:
                    assert rest[-1].last_row == counts[-1][0], "a load that goes on ends elsewhere"
    except (InputError, LoadError):
        return rows_in - rejected, rejected, True
    return rows_in - rejected, rejected, False


def _check_handed_in(folder: Path, files: list[Any]) -> None:
    found = find_handed_in(folder, files)
    read = set().union(*found.read.values())
    named = {one.name for one in found.unread}
    assert not read & named, f"read and named as not read: {sorted(read & named)}"
    missing = list_all_files(folder) - read - named
    archives = {file.path.relative_to(folder).as_posix() for file in files if file.member or file.documents}
    assert missing <= archives, f"neither read nor named: {sorted(missing)}"


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise SlowError(f"over {MOST_S} s")

    # Processor time: the machine may be doing other things.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fuzz(
    sources: list[Source],
    seed: int,
    seconds: float,
    rounds: int | None = None,
    records: int = RECORDS_A_FILE,
) -> Tally:
    """Read mutated inputs of the sources in turn, until the time is up or each had its rounds."""
    rng, tally, end = random.Random(seed), Tally(), time.monotonic() + seconds
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    number = 0
    with tempfile.TemporaryDirectory(prefix="pinakes-fuzz-", dir=base) as made:
        while time.monotonic() < end and (rounds is None or number < rounds * len(sources)):
            source = sources[number % len(sources)]
            number += 1
            folder = Path(made) / f"in{number}"
            files, count = draw_input(rng, source, records)
            path = write_input(folder, source, files)
            try:
                with _limited():
                    accepted, rejected, refused = check_input(source.request, path, rng)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is a find)
                _keep(tally, source, folder, error)
            else:
                tally.accepted[source.name] += accepted
                tally.rejected[source.name] += rejected
                tally.refused[source.name] += refused
            tally.inputs[source.name] += count
            shutil.rmtree(folder)
    return tally


def _keep(tally: Tally, source: Source, folder: Path, error: Exception) -> None:
    """Copy the input of a find that was not seen before."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "/pinakes/" in one.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    what = f"{source.loader}: {type(error).__name__} in {Path(last.filename).name}:{last.name}"
    if what in tally.finds:
        return
    digest = hashlib.sha256(b"".join(one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()))
    target = FINDS / source.loader / digest.hexdigest()[:12]
    shutil.copytree(folder, target, dirs_exist_ok=True)
    tally.finds[what] = str(target)
    print(f"{what}: {str(error)[:200]}\n  {target}", file=sys.stderr, flush=True)


def _work(seed: int, seconds: float, names: list[str], real: Path | None) -> Tally:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    chosen = [one for one in list_sources(real) if not names or one.loader in names or one.name in names]
    return fuzz(chosen, seed, seconds, records=MANY_RECORDS_A_FILE)


def main() -> int:
    """Fuzz on all cores; 1 where there were finds."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--loader", action="append", default=[], help="this loader or source alone")
    parser.add_argument("--real", type=Path, help="a folder with a folder LOADER of published files each")
    asked = parser.parse_args()
    total, started = Tally(), time.monotonic()
    with get_context("spawn").Pool(asked.workers) as pool:
        jobs = [(asked.seed + n, asked.minutes * 60, asked.loader, asked.real) for n in range(asked.workers)]
        for tally in pool.starmap(_work, jobs):
            total.add(tally)
    print(f"{'source':28} {'inputs':>12} {'accepted':>12} {'rejected':>12} {'refused':>10}")
    for name in total.inputs:
        counted = (total.inputs[name], total.accepted[name], total.rejected[name], total.refused[name])
        print(f"{name:28} {counted[0]:>12,} {counted[1]:>12,} {counted[2]:>12,} {counted[3]:>10,}")
    elapsed = time.monotonic() - started
    print(f"{total.inputs.total():,} inputs in {elapsed:,.0f} s; finds: {len(total.finds)}")
    for what, folder in sorted(total.finds.items()):
        print(f"  {what}\n    {folder}")
    return 1 if total.finds else 0
