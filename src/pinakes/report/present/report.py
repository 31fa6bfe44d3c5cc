"""What `report` has to say: tables on the terminal, files of HTML and Markdown."""

from pathlib import Path

from pinakes.report.data import BenchmarkReport
from pinakes.report.exhibits.tables import exhibit_tables
from pinakes.report.html import render_html
from pinakes.report.latex import render_latex
from pinakes.report.markdown import render_markdown
from pinakes.report.output import Output
from pinakes.report.pages import write_files
from pinakes.report.tables import published, runs, scores, significance
from pinakes.report.tables.paper import list_paper_tables
from pinakes.report.terminal import STANDARD, print_tables


def print_report(report: BenchmarkReport, out: Output = STANDARD) -> None:
    """Print a benchmark's results, published figures, comparisons, exhibits, coverage and warnings."""
    tables = [scores.result_table(report), *scores.size_tables(report)]
    if len(report.subsets) > 1:
        tables.append(scores.subset_table(report))
    tables += scores.type_tables(report)
    tables += published.list_reproduced(report)
    if report.comparisons:
        tables += [significance.comparison_table(report), significance.finding_table(report)]
    if report.resampled:
        tables.append(significance.resampled_table(report))
    tables += [table for exhibit in report.exhibits for table in exhibit_tables(report, exhibit)]
    print_tables([*tables, runs.coverage_table(report)], out, warnings=report.warnings)


def write_report(report: BenchmarkReport, folder: Path, *, latex: bool = False) -> list[Path]:
    """Write `report.html`, `report.md` and on request `report.tex` into a folder, which is made; their paths.

    Raises:
        InputError: the folder cannot be written.
    """
    contents = {"report.html": render_html(report), "report.md": render_markdown(report)}
    if latex:
        contents["report.tex"] = render_latex(list_paper_tables(report), report.name)
    return write_files(folder, contents)
