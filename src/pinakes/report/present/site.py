"""What `site` has to say: how many files it wrote, left and removed, and which benchmarks it could not do."""

from pathlib import Path

from pinakes.evaluate.each import Failure
from pinakes.report.present.failures import list_failures
from pinakes.report.site.write import SiteSummary


def list_done(done: SiteSummary, folder: Path) -> list[str]:
    """What became of the files, and where a reader begins."""
    files = done.files
    size = files.total_bytes / 1_000_000
    return [
        f"{files.written:,} files written, {files.unchanged:,} unchanged, {files.removed:,} removed "
        f"({size:,.1f} MB, {done.benchmarks:,} benchmark{'' if done.benchmarks == 1 else 's'})",
        f"open {folder / 'index.html'}",
    ]


def list_site_failures(done: SiteSummary) -> str:
    """The benchmarks that could not be done, in one message."""
    return list_failures([Failure(name, "", why) for name, why in done.failed])
