"""What a command says on stderr, as sentences and as lines of a log; and how long it may take."""

import json
import logging
import re
import signal
import time
import warnings
from collections.abc import Callable

import pytest

from pinakes.cli import chatter
from pinakes.cli.codes import ExitCode
from pinakes.errors import InputError
from tests.calling import Call, make_call

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d) ([A-Z]+) ([a-z-]+)\[(\d+)\] (.*)")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    for name in ("PINAKES_LOG", "PINAKES_TIMEOUT", "PINAKES_QUIET"):
        monkeypatch.delenv(name, raising=False)
    return make_call(capsys)


@pytest.fixture
def systems(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have `pinakes systems` do something else first."""

    def replace(work: Callable[[], object]) -> None:
        def describe() -> list[dict[str, str]]:
            work()
            return [{"system": "bm25"}]

        monkeypatch.setattr("pinakes.systems.registry.describe_systems", describe)

    return replace


def chatter_of_all_kinds() -> None:
    chatter.say("one\x1b[2J of\nus")
    chatter.say("pinakes: warning: a folder is missing")
    warnings.simplefilter("default")
    warnings.warn("of a library", UserWarning, stacklevel=2)
    logging.getLogger("library").warning("it %s", "warns")
    logging.getLogger("library").info("too much")
    raise InputError("wrong")


def test_every_line_of_a_log_has_its_time_level_command_and_process(
    call: Call, systems: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    systems(chatter_of_all_kinds)
    outcome = call("systems", "--log", "text")
    found = [LINE.fullmatch(line) for line in outcome.err.splitlines()]
    assert all(found)
    told = [one.groups()[1:3] + one.groups()[4:] for one in found if one]
    assert (outcome.code, outcome.out) == (1, "")
    assert told[:3] == [
        ("INFO", "systems", "one\\x1b[2J of"),
        ("INFO", "systems", "us"),
        ("WARNING", "systems", "a folder is missing"),
    ]
    assert any("of a library" in words for *_, words in told[3:-2])
    assert told[-2:] == [("WARNING", "systems", "it warns"), ("ERROR", "systems", "wrong")]
    monkeypatch.setenv("PINAKES_LOG", "text")
    assert LINE.sub("", call("systems").err) == LINE.sub("", outcome.err)
    quiet = call("systems", "-q")
    assert [line.split()[1] for line in quiet.err.splitlines()] == ["ERROR"]


def test_a_line_of_json_is_one_object(call: Call, systems: Callable[[Callable[[], object]], None]) -> None:
    systems(chatter_of_all_kinds)
    outcome = call("systems", "--log", "json")
    lines = [json.loads(line) for line in outcome.err.splitlines()]
    assert [line["level"] for line in lines] == ["INFO", "WARNING", "WARNING", "WARNING", "ERROR"]
    assert lines[0]["message"] == "one\x1b[2J of\nus"
    assert set(lines[0]) == {"time", "level", "command", "process", "logger", "message"}


def test_without_a_log_sentences_stay_as_they_are(
    call: Call, systems: Callable[[Callable[[], object]], None]
) -> None:
    def say() -> None:
        chatter.say("plain")
        raise InputError("wrong")

    systems(say)
    assert call("systems", "--log", "json").err.startswith("{")
    assert call("systems").err == "plain\npinakes: wrong\n"
    assert call("systems", "--log", "off").err == "plain\npinakes: wrong\n"


def test_a_wrong_command_line_and_a_defect_are_lines_too(
    call: Call, systems: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_LOG", "json")
    assert call("evaluate").code == ExitCode.USAGE
    outcome = call("report")
    assert outcome.code == ExitCode.USAGE
    assert json.loads(outcome.err)["message"] == "Missing argument 'BENCHMARK'."
    systems(lambda: 1 // 0)
    defect = json.loads(call("systems").err)
    assert "ZeroDivisionError" in defect["traceback"]
    assert "this is a defect" in defect["message"]
    assert call("--version").code == call("evaluate", "--help").code == 0
    monkeypatch.setenv("PINAKES_LOG", "xml")
    assert call("systems").code == ExitCode.USAGE


def test_progress_is_lines_of_the_log(call: Call, systems: Callable[[Callable[[], object]], None]) -> None:
    from pinakes.cli.options import CommonOptions

    def work() -> None:
        progress = CommonOptions(log="text").show_progress()
        progress.start("encode", 2)
        progress.advance(2)
        progress.finish()

    systems(work)
    found = [LINE.fullmatch(line) for line in call("systems").err.splitlines()]
    assert [one[5][:16] for one in found if one] == ["encode: started,", "encode: ended, 2"]


def sleep_long() -> None:
    time.sleep(60)


def fail_when_interrupted() -> None:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None  # as DuckDB does


@pytest.mark.parametrize("work", [sleep_long, fail_when_interrupted])
def test_a_command_ends_when_its_time_is_up(
    call: Call, systems: Callable[[Callable[[], object]], None], work: Callable[[], None]
) -> None:
    systems(work)
    outcome = call("systems", "--timeout", "0.05")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "pinakes: the command took longer than the 0.05 seconds that --timeout allows. What it has stored "
        "stays.\n"
    )
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    systems(lambda: None)
    assert call("systems", "--timeout", "50").code == 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_same_command_goes_on_where_it_does(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    work: list[Callable[[], None]] = [lambda: None, sleep_long]
    monkeypatch.setattr("pinakes.cli.options.CommonOptions.warn_of_missing_folders", lambda _: work[0]())
    monkeypatch.setenv("PINAKES_DATABASE_URL", "nowhere/x.duckdb")
    for words in (("run", "scifact", "-s", "bm25"), ("evaluate", "scifact"), ("status",)):
        assert call(*words).code == 1  # and all is imported
        work.reverse()
        ended.append(call(*words, "--timeout", "0.05").err.partition("What it has stored ")[2])
        work.reverse()
    assert ended == [
        "stays; start the same command again to go on.\n",
        "stays; start the same command again to go on.\n",
        "stays.\n",
    ]


def test_a_timeout_is_some_time(call: Call) -> None:
    assert call("systems", "--timeout", "0").code == call("systems", "--timeout", "x").code == 2
