"""The tables of a suite's report: its boards, as papers print them, pairs of systems, and all figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pinakes.queries.definition import FORMATS, PublishedScore
from pinakes.queries.suites import AVERAGE
from pinakes.report.formatting import format_difference, format_p
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.suite.data import Board, Figure, FigureScore, Standing, SuiteReport
from pinakes.report.tables.significance import SIGNIFICANT

DECIMALS: Final = 1
"""of an average times 100, as papers print it; a figure has one more"""
_FORMAT_NAMES: Final[Mapping[str, str]] = dict(
    zip(FORMATS, ("classification", "regression", "proximity", "search"), strict=True)
)


def board_table(report: SuiteReport, board: Board) -> Table:
    """One row a system, best first: its averages, letters and coverage; published rows below their like."""
    groups = report.list_groups(board)
    columns = make_columns(["system"], [*groups, "95 % interval"], ["letters"])
    marked = {group: mark_two([standing.averages[group] for standing in board.ranked]) for group in groups}
    rows: list[Row] = []
    for place, standing in enumerate(board.ranked):
        cells = [marked[group][place] for group in groups]
        rows.append(
            make_row(standing.system, *cells, _write_interval(standing), standing.letters, _cover(standing))
        )
        rows += [
            make_row(
                _name_source(found),
                *_list_published(board, found, groups),
                "",
                "",
                "",
                is_ours=False,
                follows=True,
            )
            for found in standing.published.values()
        ]
    return Table(_name_board(board), (*columns, *make_columns([], ["coverage"])), rows, _note(board))


def _name_board(board: Board) -> str:
    of = "" if board.format is None else f", {_FORMAT_NAMES.get(board.format, board.format)} alone"
    counts = f"{len(board.figures)}"
    if not board.is_complete:
        counts = f"{len(board.figures)} of {len(board.expected)}"
    return f"Leaderboard ({board.mode}{of}): averages over {counts} figures"


def _note(board: Board) -> str:
    said = ["Values times 100; the best is bold, the second underlined."]
    if len(board.ranked) > 1:
        said.append(
            "Systems that share a letter do not differ: paired bootstrap of the averages, p from "
            f"{SIGNIFICANT} up{_corrected(len(board.differences))}."
        )
    if board.fixed:
        said.append(f"{board.fixed} figures have no resamples and are taken as they are.")
    if any(standing.published for standing in board.ranked):
        said.append("In italics what was published of the same encoder.")
    return " ".join(said)


def _corrected(pairs: int) -> str:
    return f" after Holm's correction over {pairs} pairs" if pairs > 1 else ""


def mark_two(values: Sequence[float]) -> list[Cell]:
    """The cell of each average, the highest marked as best and the next as second; what prints alike, alike.

    >>> [(cell.text, cell.kind) for cell in mark_two([0.7, 0.7104, 0.7096, 0.69])]
    [('70.0', 'second'), ('71.0', 'best'), ('71.0', 'best'), ('69.0', 'plain')]
    """
    printed = [f"{100 * value:.{DECIMALS}f}" for value in values]
    order = sorted({float(text) for text in printed}, reverse=True)
    kinds = dict(zip(order, ("best", "second"), strict=False)) if len(values) > 1 else {}
    return [Cell(text, kinds.get(float(text), "plain")) for text in printed]  # type: ignore[arg-type]


def _write_interval(standing: Standing) -> str:
    return "" if standing.interval is None else _write_ends(*standing.interval)


def _write_ends(low: float, high: float, decimals: int = DECIMALS) -> str:
    return f"{100 * low:.{decimals}f} to {100 * high:.{decimals}f}"


def _cover(standing: Standing) -> Cell:
    whole = standing.coverage == 1
    return Cell("100 %" if whole else f"{100 * standing.coverage:.2f} %", "plain" if whole else "warning")


def _name_source(found: Mapping[str, PublishedScore]) -> Cell:
    score = next(iter(found.values()))
    return Cell(score.system, note=score.source)


def _list_published(board: Board, found: Mapping[str, PublishedScore], groups: Sequence[str]) -> list[Cell]:
    """The published averages of the groups that the board has whole."""
    return [
        Cell(found[group].printed) if group in found and board.is_whole(group) else absent_cell()
        for group in groups
    ]


def apart_table(board: Board) -> Table | None:
    """The systems that lack some of the board's figures, and how many they have; None where none does."""
    if not board.apart:
        return None
    total = len(board.figures)
    rows = [make_row(system, f"{count} of {total}") for system, count in sorted(board.apart.items())]
    note = "They are not ranked: an average over fewer figures stands beside no other."
    title = f"Systems without all of these figures ({board.mode})"
    return Table(title, make_columns(["system"], ["figures"]), rows, note)


def pair_table(board: Board) -> Table | None:
    """Every pair of the ranked systems on the same resamples; None where there is one alone."""
    if not board.differences:
        return None
    rows = [
        make_row(
            one.a,
            one.b,
            format_difference(one.difference, "percent"),
            " to ".join(format_difference(end, "percent") for end in one.interval),
            *(Cell(format_p(p), "best" if p < SIGNIFICANT else "plain") for p in (one.p, one.holm_p)),
        )
        for one in board.differences
    ]
    columns = make_columns(["A", "B"], ["B - A", "95 % interval", "p", "p after Holm"])
    title = f"Do the averages differ? ({board.mode})"
    return Table(
        title, columns, rows, "Paired bootstrap: the same resamples of every task's test papers or queries."
    )


def figure_table(report: SuiteReport, mode: str, addresses: Mapping[str, str] | None = None) -> Table:
    """Every figure by every system that has one, with its interval: a row a figure.

    `addresses` are the pages of benchmarks, where there are any.
    """
    of_mode = report.scores[mode]
    systems = [
        system for system, found in of_mode.items() if any(one.value is not None for one in found.values())
    ]
    several = {one.key.benchmark for one in report.figures if one.key.figure > 1}
    rows = []
    for figure in sorted(report.figures, key=lambda one: not one.in_average):
        found = [of_mode[system].get(figure.key) for system in systems]
        if any(one is not None for one in found):
            name = name_figure(report, figure, several=figure.key.benchmark in several)
            rows.append(
                make_row(
                    figure.group if figure.in_average else f"beside {figure.group}",
                    Cell(name, link=(addresses or {}).get(figure.key.benchmark, "")),
                    *mark_figures(found),
                )
            )
    note = "Values times 100, in parentheses the 95 % bootstrap interval over test papers or queries."
    return Table(f"All figures ({mode})", make_columns(["group", "figure"], systems), rows, note)


def name_figure(report: SuiteReport, figure: Figure, *, several: bool) -> str:
    """A figure in words: its benchmark without the suite's name, and its scores where there are several."""
    name = figure.key.benchmark.removeprefix(f"{report.suite.name}_")
    measures = list(dict.fromkeys(measure for _subset, measure in figure.scores))
    subsets = [subset for subset, _measure in figure.scores]
    parts = ", ".join(measures if len(measures) > 1 or several else [])
    if len(set(subsets)) > 1:
        parts = f"mean of {', '.join(dict.fromkeys(subsets))}" + (f"; {parts}" if parts else "")
    return f"{name} ({parts})" if parts else name


def mark_figures(found: Sequence[FigureScore | None]) -> list[Cell]:
    """The cells of a figure's values, best and second marked, what lacks answers flagged."""
    places = [place for place, one in enumerate(found) if one is not None and one.value is not None]
    marked = dict(zip(places, mark_two([found[place].value or 0.0 for place in places]), strict=True))  # type: ignore[union-attr]
    cells = []
    for place, one in enumerate(found):
        if one is None or place not in marked:
            cells.append(absent_cell())
            continue
        text = f"{100 * (one.value or 0.0):.{DECIMALS + 1}f}"
        note = "" if one.low is None or one.high is None else _write_ends(one.low, one.high, DECIMALS + 1)
        cells.append(replace(marked[place], text=text, note=note))
    return cells


def published_table(report: SuiteReport, format_: str | None) -> Table | None:
    """What was published, a row each of system and source; None where nothing was."""
    measure = AVERAGE if format_ is None else f"{AVERAGE}({format_})"
    found: dict[tuple[str, str], dict[str, PublishedScore]] = {}
    for score in report.suite.published:
        if score.measure == measure:
            found.setdefault((score.system, score.source), {})[score.subset] = score
    if not found:
        return None
    groups = [*report.suite.groups, AVERAGE]
    order = sorted(
        found, key=lambda key: (key[1], -found[key][AVERAGE].value if AVERAGE in found[key] else 0, key[0])
    )
    rows = [
        make_row(
            system,
            *(
                found[system, source][group].printed if group in found[system, source] else absent_cell()
                for group in groups
            ),
            source,
            is_ours=False,
        )
        for system, source in order
    ]
    of = "" if format_ is None else f", {_FORMAT_NAMES.get(format_, format_)} alone"
    return Table(f"Published averages{of}", make_columns(["system"], groups, ["source"]), rows)


def fill_suite(report: SuiteReport, addresses: Mapping[str, str] | None = None) -> dict[str, object]:
    """What `suite.html` shows, by the names that it has there; `addresses` are the pages of benchmarks."""
    leads = [board for board in report.boards if board.format is None]
    return {
        "report": report,
        "suite": report.suite,
        "sections": list_sections(report, addresses),
        "leads": leads,
    }


def list_sections(
    report: SuiteReport, addresses: Mapping[str, str] | None = None
) -> list[tuple[str, list[Table]]]:
    """All tables under their headings; those of two modes are never one."""
    formats = dict.fromkeys(board.format for board in report.boards)
    sections: dict[str, list[Table | None]] = {
        "Leaderboard": [
            table for board in report.boards for table in (board_table(report, board), apart_table(board))
        ],
        "Significance": [pair_table(board) for board in report.boards if board.format is None],
        "All figures": [figure_table(report, mode, addresses) for mode in report.scores],
        "Published averages": [published_table(report, format_) for format_ in formats],
    }
    present = {heading: [one for one in tables if one is not None] for heading, tables in sections.items()}
    return [(heading, tables) for heading, tables in present.items() if tables]
