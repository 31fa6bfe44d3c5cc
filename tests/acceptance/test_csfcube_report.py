"""The report and the error analysis of CSFCube's release, with its SPECTER rankings, on both databases."""

from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.report.data import BenchmarkReport
from pinakes.report.errors.gather import ErrorRequest, gather_errors
from pinakes.report.errors.page import render_error_lines, render_error_page
from pinakes.report.exhibits.tables import exhibit_tables
from pinakes.report.gather import gather_report
from pinakes.report.html import render_html
from pinakes.report.markdown import render_markdown
from pinakes.report.tables.published import side_by_side_tables
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from tests.real_data import REAL_DATA, needs_real_data

RELEASE = REAL_DATA / "csfcube"


@pytest.fixture
def reports(
    both_initialised: tuple[Database, Database], tmp_path: Path
) -> list[tuple[Database, BenchmarkReport]]:
    """Each database with its report of two runs: 1 is the release's SPECTER, 2 is tfidf."""
    return [(database, _report(database, tmp_path / database.name)) for database in both_initialised]


def _report(database: Database, folder: Path) -> BenchmarkReport:
    load(database, LoadRequest("csfcube", RELEASE))
    files = sorted((RELEASE / "eval_scripts" / "sample_ranked_pools").iterdir())
    import_run(database, ImportRequest("csfcube", "SPECTER", files, "csfcube"))
    options = SystemOptions(folder, device="cpu")
    index(database, "csfcube", "tfidf", options=options)
    run(database, RunRequest("csfcube", "tfidf", options))
    evaluate(database, "csfcube")
    report = gather_report(database, "csfcube")
    # what a clock says differs between any two runs
    runs = [replace(one, elapsed_s=1.0, started_at=report.runs[0].started_at) for one in report.runs]
    return replace(report, runs=runs)


@needs_real_data
def test_release_is_reported_alike_on_both_databases_with_its_printed_figures(
    reports: list[tuple[Database, BenchmarkReport]],
) -> None:
    (duck, one), (post, other) = reports
    other = replace(
        other, runs=[replace(b, started_at=a.started_at) for a, b in zip(one.runs, other.runs, strict=True)]
    )
    assert render_html(one) == render_html(other)
    assert render_markdown(one) == render_markdown(other)
    _check_specter(one)
    _check_exhibits(one)
    requested = ErrorRequest("csfcube", [2, 1])
    errors = [gather_errors(database, requested) for database in (duck, post)]
    assert render_error_page(errors[0]) == render_error_page(errors[1])
    assert render_error_lines(errors[0]) == render_error_lines(errors[1])
    assert (len(errors[0].queries), errors[0].relevant_from) == (50, 2)


def _check_specter(report: BenchmarkReport) -> None:
    """The release's rankings have the paper's row of SPECTER, to the digit, in all twenty columns."""
    for table in side_by_side_tables(report):
        rows = [[cell.text for cell in row.cells] for row in table.rows]
        place = rows.index(next(row for row in rows if row[:2] == ["SPECTER", "run 1"]))
        assert rows[place + 1][:2] == ["SPECTER", "published"]
        assert rows[place + 2] == ["", "difference", *["0.00"] * 10]
        assert rows[place][2:] == rows[place + 1][2:]


def _check_exhibits(report: BenchmarkReport) -> None:
    """What differs from the print is what is known to: Table 1's mean, one rho, and appendix D's decimals."""
    differing = {}
    for exhibit in report.exhibits:
        table = exhibit_tables(report, exhibit)[0]
        for row in table.rows:
            cells = [cell.text for cell in row.cells]
            columns = zip(cells, table.columns, strict=True)
            found = [text for text, column in columns if column.title == "diff." and _is_other(text)]
            if found:
                differing[" / ".join(cells[:2])] = found
    assert differing == {
        "all / rated 2 or more, mean": ["+0.12"],
        "background / before": ["+0.005"],
        "background / 271": ["+0.7"],
        "method / 339": ["+0.8"],
        "result / 358": ["+0.6"],
    }


def _is_other(difference: str) -> bool:
    return any(digit in "123456789" for digit in difference)
