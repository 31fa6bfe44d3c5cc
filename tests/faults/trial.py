"""One fault: a copy of what is prepared, the command disturbed, what it says, and what the next ones find."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.commands import Outcome, Place, call, call_within, fork
from tests.faults.faults import COUNTING, Call, Injection, read_calls, was_injected
from tests.faults.scenarios import Scenario, Words, fill_in, make_small_chunks
from tests.faults.stores import Content, Store, compare, copied_place, dump

WORK: Final = "work"
EMPTY: Final = ("has no tables", "there is no database", "does not exist", "there is no file", "run `pinakes init`")


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
class Trial:
    """What became of one fault.

    Attributes:
        fell: whether it fell: a call that is not made again is not hit.
        code: the exit code of the disturbed command.
        said: its last words.
        findings: what was not as it should be.
    """

    fell: bool
    code: int | None
    said: str
    findings: tuple[str, ...]


@dataclass(slots=True)
class Bench:
    """Where trials are made."""

    store: Store
    folder: Path
    inputs: Path
    places: dict[tuple[Words, ...], Place]

    def run(self, words: Words, place: Place, **given: object) -> Outcome:
        """Run a command."""
        return call(fill_in(words, self.inputs), place, before=make_small_chunks, **given)  # type: ignore[arg-type]

    def require(self, words: Words, place: Place) -> Outcome:
        """Run a command that must succeed."""
        outcome = self.run(words, place)
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
            return Undisturbed(name, scenario, prepared, found.content, calls, frozenset(paths))

    def disturb(self, known: Undisturbed, injection: Injection) -> Trial:
        """Run the scenario with a fault in its way, then look at what it left, and run it again."""
        scenario = known.scenario
        with copied_place(self.store, self.folder / WORK, known.prepared) as place:
            outcome = self.run(scenario.words, place, strace=injection.options(known.paths))
            fell = was_injected(injection, outcome.calls)
            said = outcome.err.strip().splitlines()[-1:] or [""]
            findings = _judge(outcome, injection)
            found = self._look(scenario, place, run_again=outcome.code != 0)
            findings += found.findings
            if not found.findings:
                differs = compare(found.content, known.content)
                findings += [f"not as undisturbed: {differs}"] if differs else []
            return Trial(fell, outcome.code, said[0], tuple(findings))

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
            json.dump([findings, dump(place.folder)], sys.stdout)

        outcome = fork(look, place)
        if outcome.code != 0:
            return _Found([f"cannot be looked at: {outcome.code} {outcome.err[-2500:]}"], {})
        return _Found(*json.loads(outcome.out))


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
