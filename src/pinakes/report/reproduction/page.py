"""The matrix of reproduction on the terminal, as Markdown and as one HTML page."""

from dataclasses import asdict
from pathlib import Path

from pinakes.report.markdown import escape_markdown, render_table
from pinakes.report.output import Output
from pinakes.report.pages import make_environment, write_files
from pinakes.report.reproduction.data import Matrix
from pinakes.report.reproduction.tables import count_table, figure_tables, reason_table
from pinakes.report.terminal import STANDARD, print_tables, print_warning

TITLE = "Published figures, and what is measured here"


def print_matrix(matrix: Matrix, out: Output = STANDARD, *, all_figures: bool = False) -> None:
    """Print the counts, the figures that are measured, or all, and why the others are not."""
    tables = [*figure_tables(matrix, with_commands=False, only_measured=not all_figures)]
    reasons = reason_table(matrix)
    print_tables([*tables, *([reasons] if reasons else []), count_table(matrix)], out)
    for warning in list_warnings(matrix):
        print_warning(warning, out)


def list_rows(matrix: Matrix) -> list[dict[str, object]]:
    """The figures as records for programs."""
    return [asdict(one) for one in matrix.figures]


def list_warnings(matrix: Matrix) -> list[str]:
    """What could not be read."""
    return [f"{name} cannot be read: {why}" for name, why in matrix.failed]


def write_matrix(matrix: Matrix, folder: Path) -> list[Path]:
    """Write `reproduction.html` and `reproduction.md` into a folder, which is made; the paths of both.

    Raises:
        InputError: the folder cannot be written.
    """
    contents = {"reproduction.html": render_page(matrix), "reproduction.md": render_text(matrix)}
    return write_files(folder, contents)


def render_page(matrix: Matrix) -> str:
    """The matrix as one page that needs nothing else: the same bytes for the same data."""
    reasons = reason_table(matrix)
    return (
        make_environment()
        .get_template("reproduction.html")
        .render(
            title=TITLE,
            report={"warnings": list_warnings(matrix)},
            counts=count_table(matrix),
            total=matrix.count(),
            benchmarks=[
                (name, matrix.count(name), figure_tables(_only(matrix, name), with_commands=True))
                for name in matrix.list_benchmarks()
            ],
            reasons=reasons,
        )
    )


def render_text(matrix: Matrix) -> str:
    """The matrix as Markdown."""
    parts = [f"# {TITLE}", *(f"⚠ **{escape_markdown(one)}**" for one in list_warnings(matrix))]
    parts.append(render_table(count_table(matrix)))
    parts += [render_table(table) for table in figure_tables(matrix, with_commands=True)]
    return "\n\n".join(parts) + "\n"


def _only(matrix: Matrix, name: str) -> Matrix:
    return Matrix([one for one in matrix.figures if one.benchmark == name])
