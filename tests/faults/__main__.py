"""`python -m tests.faults`: disturb commands at drawn system calls, and say what was found."""

import argparse
import json
import os
import random
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tests.faults.commands import find_obstacle, import_ahead
from tests.faults.faults import FAULTS, draw
from tests.faults.scenarios import SCENARIOS, list_modules, need_models, write_inputs
from tests.faults.stores import DuckdbStore, PostgresStore, Store
from tests.faults.trial import Bench, Trial, Undisturbed
from tests.postgres import OwnPostgres, open_server

SKIPPED: Final = 77
"""the exit code where nothing can be traced"""


def main() -> int:
    """Exit code 0: nothing was lost, and all was told in words; 1: something was found."""
    asked = _read_arguments()
    obstacle = find_obstacle()
    if obstacle:
        print(f"skipped: {obstacle}", flush=True)
        return SKIPPED
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # what is compiled in seconds is computed in milliseconds here
    import_ahead(list_modules(asked.scenarios))
    found = 0
    with tempfile.TemporaryDirectory(prefix="pinakes-faults-", dir=asked.folder) as folder:
        for name in asked.database:
            with _open_store(name, Path(folder)) as store:
                found += _disturb_all(store, Path(folder) / name, asked)
    return int(found > 0)


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", default="1", help="which faults are drawn")
    parser.add_argument("--count", type=int, default=8, help="faults of each scenario and database")
    parser.add_argument(
        "--in-a-row", type=int, default=3, help="faults of a command, before it is run undisturbed"
    )
    parser.add_argument(
        "--scenarios", nargs="*", default=list(SCENARIOS), choices=list(SCENARIOS), metavar="NAME"
    )
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=list(FAULTS), metavar="NAME")
    parser.add_argument(
        "--database", nargs="*", default=["duckdb", "postgresql"], choices=["duckdb", "postgresql"]
    )
    parser.add_argument("--folder", help="where databases are made; default: that of temporary files")
    parser.add_argument("--log", type=Path, help="a file that a line of JSON is added to for each fault")
    return parser.parse_args()


@contextmanager
def _open_store(name: str, folder: Path) -> Iterator[Store]:
    if name == "duckdb":
        yield DuckdbStore()
        return
    given = os.environ.get("PINAKES_TEST_POSTGRES")
    if given:
        with open_server(given, {}) as opened:
            yield PostgresStore(opened)
        return
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as data:
        os.environ.setdefault("XDG_RUNTIME_DIR", data)
        own = OwnPostgres(Path(data) / "data")
        with open_server(own.server.get_uri(), {"fsync": "off", "full_page_writes": "off"}) as opened:
            yield PostgresStore(opened, own)
        own.server.cleanup()


def _disturb_all(store: Store, folder: Path, asked: argparse.Namespace) -> int:
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    write_inputs(inputs, with_models=need_models(asked.scenarios))
    bench = Bench(store, folder, inputs, {})
    done: list[Trial] = []
    broken = 0
    for name in asked.scenarios:
        try:
            known = bench.observe(name, SCENARIOS[name])
        except RuntimeError as error:
            print(f"{store.name} {name}: FOUND {error}", flush=True)
            broken += 1
            continue
        print(f"{store.name} {name}: {len(known.calls)} calls", flush=True)
        done += _disturb(bench, known, asked)
    for place in bench.places.values():
        store.drop(place)
    fallen = [one for trial in done for one in trial.faults if one.fell]
    kills = sum(one.fault == "kill" for one in fallen)
    found = broken + sum(bool(trial.findings) for trial in done)
    counted = f"{len(fallen)} faults fell, {kills} of them kills, in {len(done)} trials; found: {found}"
    print(f"{store.name}: {len(asked.scenarios)} scenarios, {counted}", flush=True)
    return found


def _disturb(bench: Bench, known: Undisturbed, asked: argparse.Namespace) -> list[Trial]:
    generator = random.Random(f"{asked.seed} {bench.store.name} {known.name}")
    kinds = [kind for kind in asked.faults if draw(known.calls, random.Random(0), kind)]
    done: list[Trial] = []
    count = 0
    while count < asked.count and kinds:
        given = min(asked.in_a_row, asked.count - count)
        drawn = [
            draw(known.calls, generator, kinds[(count + more) % len(kinds)], resumed=more > 0)
            for more in range(given)
        ]
        trial = bench.disturb(known, [injection for injection in drawn if injection is not None])
        count += len(trial.faults)
        done.append(trial)
        _tell(f"{bench.store.name} {known.name}", trial)
        if asked.log:
            row = {"database": bench.store.name, "scenario": known.name, **asdict(trial)}
            with asked.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
    return done


def _tell(what: str, trial: Trial) -> None:
    for one in trial.faults:
        fell = "fell" if one.fell else "missed"
        print(f"{what}: {one.fault}: {one.injected}: {fell}, {one.code} {one.said[:150]!r}")
    for finding in trial.findings:
        print(f"  FOUND {finding}")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        code = main()
    except Exception:  # noqa: BLE001 (the process must end below)
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # as `pinakes.cli.main` ends, and for its reason
