"""One fault: a copy of what is prepared, the command disturbed, what it says, and what the next ones find."""

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.faults.commands import Outcome, Place, call, call_within, fork, import_ahead
from tests.faults.faults import (
    COUNTING,
    COUNTING_SERVER,
    FAULTS,
    STOPPED,
    Call,
    Injection,
    let_clock_jump,
    read_calls,
    read_server_calls,
    was_injected,
)
from tests.faults.scenarios import Scenario, Words, fill_in, make_small_chunks
from tests.faults.stores import Content, Store, compare, copied_place, dump

WORK: Final = "work"
EMPTY: Final = (
    "no Pinakes tables",
    "there is no database",
    "does not exist",
    "there is no file",
    "run `pinakes init`",
)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A scenario as it goes where nothing is in its way.

    Attributes:
        prepared: what each fault begins with.
        content: what is there in the end.
        calls: those that a fault can hit.
        paths: the files that these are on.
    """

    name: str
    scenario: Scenario
    prepared: Place
    content: Content
    calls: Sequence[Call]
    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fallen:
    """What became of one fault.

    Attributes:
        fault: its kind.
        injected: what was injected, and where.
        fell: whether it fell: a call that is not made again is not hit.
        code: the exit code of the disturbed command.
        said: its last words.
    """

    fault: str
    injected: str
    fell: bool
    code: int | None
    said: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of faults in a row, and what was not as it should be."""

    faults: tuple[Fallen, ...]
    findings: tuple[str, ...]


@dataclass(slots=True)
class Bench:
    """Where trials are made."""

    store: Store
    folder: Path
    inputs: Path
    places: dict[tuple[Words, ...], Place]

    def run(
        self,
        words: Words,
        place: Place,
        *,
        strace: Sequence[str] | None = None,
        traced: int | None = None,
        before: Callable[[], None] | None = None,
        meanwhile: Callable[[int, Path], None] | None = None,
    ) -> Outcome:
        """Run a command in small chunks, as `call` does."""

        def begin() -> None:
            make_small_chunks()
            if before is not None:
                before()

        filled = fill_in(words, self.inputs)
        return call(filled, place, strace=strace, traced=traced, before=begin, meanwhile=meanwhile)

    def require(self, words: Words, place: Place) -> Outcome:
        """Run a command that must succeed, in chunks of their usual size: it is not disturbed."""
        outcome = call(fill_in(words, self.inputs), place)
        if outcome.code != 0:
            raise RuntimeError(f"{' '.join(words)}: {outcome.code}\n{outcome.err}{outcome.out}")
        return outcome

    def prepare(self, commands: Sequence[Words]) -> Place:
        """A place where the commands were run; made once."""
        key = tuple(commands)
        if key not in self.places:
            before = self.prepare(key[:-1]) if key else None
            place = self.store.make(self.folder / f"prepared {len(self.places)}", before)
            if key:
                self.require(key[-1], place)
            self.places[key] = place
        return self.places[key]

    def observe(self, name: str, scenario: Scenario) -> Undisturbed:
        """Run the scenario with nothing in its way, and count its calls."""
        prepared = self.prepare(scenario.prepared)
        with copied_place(self.store, self.folder / WORK, prepared) as place:
            traced = self.run(scenario.words, place, strace=COUNTING)
            if traced.code != 0:
                raise RuntimeError(f"{name}: {traced.code}\n{traced.err}{traced.out}")
            calls, paths = read_calls(traced.calls, place.folder)
            found = self._look(scenario, place, run_again=False)
            if found.findings:
                raise RuntimeError(f"{name}: {found.findings}")
        calls += self._observe_server(scenario)
        return Undisturbed(name, scenario, prepared, found.content, calls, frozenset(paths))

    def disturb(self, known: Undisturbed, injections: Sequence[Injection]) -> Trial:
        """Run the scenario with one fault after the other in its way, until it comes through; then look."""
        scenario, fallen, findings = known.scenario, [], []
        with copied_place(self.store, self.folder / WORK, known.prepared) as place:
            for injection in injections:
                outcome = self._run_disturbed(known, injection, place)
                said = outcome.err.strip().splitlines()[-1:] or [""]
                fell = was_injected(injection, outcome.calls)
                fallen.append(Fallen(injection.fault, injection.text, fell, outcome.code, said[0]))
                findings += _judge(outcome, injection)
                self.store.recover()
                if outcome.code == 0:
                    break
            found = self._look(scenario, place, run_again=fallen[-1].code != 0)
            findings += found.findings
            if not found.findings:
                differs = compare(found.content, known.content)
                findings += [f"not as undisturbed: {differs}"] if differs else []
            return Trial(tuple(fallen), tuple(findings))

    def _observe_server(self, scenario: Scenario) -> list[Call]:
        """The calls that Postgres makes to serve the command."""
        process = self.store.process
        if process is None:
            return []
        with copied_place(self.store, self.folder / WORK, self.prepare(scenario.prepared)) as place:
            traced = self.run(scenario.words, place, strace=COUNTING_SERVER, traced=process)
        return read_server_calls(traced.calls, process)

    def _run_disturbed(self, known: Undisturbed, injection: Injection, place: Place) -> Outcome:
        words, fault = known.scenario.words, FAULTS[injection.fault]
        if not fault.calls:
            return self.run(words, place, before=partial(let_clock_jump, injection))
        options = injection.options(known.paths)
        if fault.stops_server:
            return self.run(words, place, strace=options, meanwhile=_Stopping(self.store.stop).look)
        return self.run(
            words, place, strace=options, traced=self.store.process if fault.at == "server" else None
        )

    def _look(self, scenario: Scenario, place: Place, *, run_again: bool) -> "_Found":
        """What the next commands find, in one process."""
        again = [fill_in(scenario.words, self.inputs)] if run_again else []
        after = [fill_in(words, self.inputs) for words in scenario.after]

        def look() -> None:
            make_small_chunks()
            findings: list[str] = []
            checked = call_within(["status", "--check"])
            was_empty = not scenario.prepared and any(words in checked.err for words in EMPTY)
            if checked.code != 0 and not was_empty:
                findings.append(f"status --check: {checked.code}: {checked.err.strip()[-1500:]}")
            for words in (*again, *after):
                ended = call_within(words)
                is_refused = words in again and scenario.may_refuse and ended.code == 1
                if ended.code != 0 and not is_refused:
                    findings.append(f"then {' '.join(words)}: {ended.code}: {ended.err.strip()[-2500:]}")
            content = dump(place.folder)
            json.dump([findings, content, sorted(sys.modules.keys() - here)], sys.stdout)

        here = set(sys.modules)
        outcome = fork(look, place)
        if outcome.code != 0:
            return _Found([f"cannot be looked at: {outcome.code} {outcome.err[-2500:]}"], {})
        findings, content, imported = json.loads(outcome.out)
        if imported:
            import_ahead(imported)  # for those to come
        return _Found(findings, content)


@dataclass(slots=True)
class _Stopping:
    """Stops the server when the command has been stopped, and lets the command go on."""

    stop: Callable[[], None]
    done: bool = False

    def look(self, process: int, log: Path) -> None:
        """Whether the moment has come, by strace's log."""
        if not self.done and log.exists() and STOPPED in log.read_text(encoding="utf-8"):
            self.done = True
            self.stop()
            os.kill(process, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class _Found:
    findings: list[str]
    content: Content


def _judge(outcome: Outcome, injection: Injection) -> list[str]:
    if outcome.code is None:
        return ["it hangs"]
    if outcome.code == -9:
        return [] if injection.fault == "kill" else ["it was killed, and not by us"]
    findings = []
    if outcome.code not in (0, 1):
        findings.append(f"exit code {outcome.code}")
    if "Traceback" in outcome.err or "defect of Pinakes" in outcome.err:
        findings.append(f"told as a defect: {outcome.err.strip()[-2500:]}")
    elif outcome.code == 1 and "pinakes: " not in outcome.err:
        findings.append(f"exit code 1 without a word: {outcome.err.strip()[-500:]}")
    return findings
