"""Tables for a paper: what is marked in them, and LaTeX that compiles."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.report.data import BenchmarkReport, PublishedFigure, Spread, SubsetScore
from pinakes.report.latex import escape_latex, render_latex
from pinakes.report.layout import Cell, Heading, Table, make_columns, make_row
from pinakes.report.tables.paper import find_letters, list_paper_tables
from tests.unit.report.conftest import make_run

HOSTILE = '\\input{/etc/passwd} $x$ a_b^c #1 & 50% ~ "q" <s> {|} ± − … \x1b[2J\u202e é'


def read_rows(tex: str) -> list[list[str]]:
    """The cells of each line of the first tabular, rules as one cell."""
    inner = tex.partition(r"\begin{tabular}")[2].partition(r"\end{tabular}")[0].splitlines()[1:]
    return [line.removesuffix(r" \\").split(" & ") for line in inner]


def test_published_systems_stand_above_a_rule_and_the_best_two_are_marked(report: BenchmarkReport) -> None:
    rows = read_rows(render_latex(list_paper_tables(report), report.name))
    assert rows == [
        [r"\toprule"],
        ["System", "nDCG@10", "P@10"],
        [r"\midrule"],
        ["Best", r"\textbf{70.00}", "--"],
        ["Old", "55.00", "--"],
        ["bm-25", "49.88", "--"],
        [r"\midrule"],
        ["dense", r"\underline{62.50}\textsuperscript{a}", r"\textbf{12.35}"],
        ["BM25", r"50.00\textsuperscript{b}", r"\underline{10.00}"],
        [r"\bottomrule"],
    ]


def test_letters_are_of_the_tests(report: BenchmarkReport) -> None:
    assert find_letters(report) == {2: "a", 1: "b"}
    alike = replace(report, comparisons=[replace(report.comparisons[0], randomisation_p=0.05)])
    assert find_letters(alike) == {2: "a", 1: "a"}
    assert "share a letter" in render_latex(list_paper_tables(alike), "x")
    alone = replace(report, comparisons=[])
    assert find_letters(alone) == {}
    assert "letter" not in render_latex(list_paper_tables(alone), "x")


def test_subsets_and_pool_sizes_have_tables_of_their_own(report: BenchmarkReport) -> None:
    sized = replace(
        report,
        sizes=("pool_size=200000", "pool_size=2000000"),
        scores=[
            *report.scores,
            *(SubsetScore(1, f"pool_size={n}", "nDCG@10", 0.25, 4, 4) for n in (200000, 2000000)),
        ],
        spreads=[Spread(1, "pool_size=200000", "nDCG@10", 3, 0.0125)],
    )
    main, subsets, sizes = list_paper_tables(sized)
    assert [column.title for column in subsets.columns] == ["System", "all queries", "cells"]
    assert [column.title for column in sizes.columns] == ["System", "200k", "2M"]
    assert [[cell.full_text for cell in row.cells] for row in sizes.rows] == [
        ["BM25", "25.00 (± 1.25)", "25.00"]
    ]
    assert r"25.00 $\pm$ 1.25" in render_latex([sizes], "x")
    assert "share a letter" in main.note
    assert "share a letter" not in sizes.note


def test_what_prints_alike_is_marked_alike_and_counts_have_commas(report: BenchmarkReport) -> None:
    scores = [
        SubsetScore(run, "all", "NumRet", value, 4, 4)
        for run, value in ((1, 12_000.0), (2, 12_000.0), (3, 900.0))
    ]
    three = replace(
        report,
        runs=(*report.runs, make_run(3, "fused")),
        headline_measure="NumRet",
        measures=("NumRet",),
        subsets=("all",),
        scores=scores,
        published=(),
        comparisons=(),
    )
    (table,) = list_paper_tables(three)
    assert [(row.cells[1].text, row.cells[1].kind) for row in table.rows] == [
        ("12,000", "best"),
        ("12,000", "best"),
        ("900", "second"),
    ]


def test_figures_of_two_papers_are_told_apart(report: BenchmarkReport) -> None:
    other = PublishedFigure("Old", "all", "nDCG@10", "Other 2021", 0.5, "50.00")
    both = replace(report, published=[*report.published, other])
    names = [row.cells[0].text for row in list_paper_tables(both)[0].rows if not row.is_ours]
    assert names == ["Best (Table 4)", "Old (Table 4)", "Old (Other 2021)", "bm-25 (Table 4)"]


def test_nothing_of_a_text_is_a_command() -> None:
    escaped = escape_latex(HOSTILE)
    commands = set(re.findall(r"\\([a-zA-Z]+)", escaped))
    assert commands <= {
        *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar"),
        *("textquotedbl", "pm", "ldots"),
    }
    assert "\x1b" not in escaped
    assert "\u202e" not in escaped


def test_headings_span_their_columns() -> None:
    columns = make_columns(["System"], ["P", "R"])
    table = Table(
        "t", columns, [make_row("a", "1", Cell("2", "second"))], "", (Heading("", 1), Heading("both", 2))
    )
    assert read_rows(render_latex([table], "x"))[1:3] == [
        [r"\multicolumn{1}{c}{}", r"\multicolumn{2}{c}{both}"],
        [r"\cmidrule(lr){2-3}"],
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_it_compiles(report: BenchmarkReport, tmp_path: Path) -> None:
    hostile = replace(report, title=HOSTILE, runs=(replace(report.runs[0], label=HOSTILE), report.runs[1]))
    (tmp_path / "report.tex").write_text(render_latex(list_paper_tables(hostile), "a b/c"), encoding="utf-8")
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}"
        r"\begin{document}\input{report}\end{document}"
    )
    words = ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "main.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2_000:]
