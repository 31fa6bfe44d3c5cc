import io

from rich.console import Console

from pinakes.progress import Progress
from pinakes.report.progress import BarProgress, LineProgress, make_progress


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_lines_come_at_start_every_ten_seconds_and_at_the_end() -> None:
    clock, stream = Clock(), io.StringIO()
    progress: Progress = LineProgress(lambda line: print(line, file=stream), clock=clock)
    progress.start("encode tiny", 1000)
    for _step in range(25):
        clock.now_s += 1
        progress.advance(40)
    progress.finish()
    assert stream.getvalue().splitlines() == [
        "encode tiny: started, 1,000 in all",
        "encode tiny: 400 of 1,000 (40 %), 40/s, 15.0 s left",
        "encode tiny: 800 of 1,000 (80 %), 40/s, 5.00 s left",
        "encode tiny: ended, 1,000 in 25.0 s",
    ]


def test_unknown_total_has_no_share_and_no_remaining_time() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = LineProgress(lambda line: print(line, file=stream), clock=clock, interval_s=2)
    progress.start("load a.jsonl", None)
    clock.now_s += 4
    progress.advance(8)
    progress.finish()
    assert stream.getvalue().splitlines() == [
        "load a.jsonl: started",
        "load a.jsonl: 8, 2.00/s",
        "load a.jsonl: ended, 8 in 4.00 s",
    ]


def test_task_that_breaks_off_says_how_far_it_came() -> None:
    stream = io.StringIO()
    progress = LineProgress(lambda line: print(line, file=stream), clock=Clock())
    progress.start("rank", 10)
    progress.advance(3)
    progress.finish()
    assert stream.getvalue().splitlines()[-1] == "rank: ended, 3 of 10 in 0.00 s"


def test_second_task_counts_from_zero() -> None:
    stream = io.StringIO()
    progress = LineProgress(lambda line: print(line, file=stream), clock=Clock())
    for task in ("one", "two"):
        progress.start(task, None)
        progress.advance(1)
        progress.finish()
    assert stream.getvalue().splitlines()[-1] == "two: ended, 1 in 0.00 s"


def test_bar_shows_task_and_count() -> None:
    stream = io.StringIO()
    progress: Progress = BarProgress(Console(file=stream, force_terminal=True, width=120))
    progress.start("rank [tiny]", 10)
    progress.advance(10)
    progress.finish()
    assert "rank [tiny]" in stream.getvalue()
    assert "10/10" in stream.getvalue()


def test_bar_bears_a_finish_without_a_start() -> None:
    progress = BarProgress(Console(file=io.StringIO()))
    progress.finish()
    progress.advance(1)


def test_lines_where_the_stream_is_no_terminal() -> None:
    assert isinstance(make_progress(io.StringIO()), LineProgress)
