"""What became of a load: file by file, and what the corpus holds after it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pinakes.database import Database
from pinakes.load.quality import count_quality
from pinakes.load.resolve import Resolved


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What became of one file in this load: `rows_in` = `rows_loaded` + `rows_rejected`.

    Records that earlier loads of the same file have read are not among them, but counted by
    `rows_in_before` and `rows_rejected_before`. `rows_skipped` counts, of those loaded, the records of which
    a mapping makes no row.
    """

    file: str
    role: str
    was_loaded_before: bool
    rows_in: int = 0
    rows_loaded: int = 0
    rows_updated: int = 0
    rows_unchanged: int = 0
    rows_rejected: int = 0
    rows_in_before: int = 0
    rows_rejected_before: int = 0
    rows_skipped: int = 0

    def after(self, batches: Iterable[Mapping[str, Any]]) -> "FileSummary":
        """The summary of a file of which these rows of `load_batches` were there already."""
        known = list(batches)
        return replace(
            self,
            rows_in_before=sum(batch["rows_in"] for batch in known),
            rows_rejected_before=sum(batch["rows_rejected"] for batch in known),
        )

    def plus(self, batch: Mapping[str, Any]) -> "FileSummary":
        """The summary with a row of `load_batches` added."""
        names = ("rows_in", "rows_loaded", "rows_updated", "rows_unchanged", "rows_rejected")
        return replace(self, **{name: getattr(self, name) + batch[name] for name in names})


_QUALITY: Final = (
    "papers",
    "papers_without_title",
    "papers_without_abstract",
    "papers_without_year",
    "papers_with_odd_year",
    "papers_in_duplicate",
    "citations",
    "citations_pending",
    "citations_dangling",
    "references_ambiguous",
)


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What became of a load, file by file, and what the corpus holds after it.

    Attributes:
        reasons: why records of this load were rejected, and how many.
    """

    corpus: str
    files: list[FileSummary]
    reasons: dict[str, int]
    papers: int
    papers_without_title: int
    papers_without_abstract: int
    papers_without_year: int
    papers_with_odd_year: int
    papers_in_duplicate: int
    citations: int
    citations_pending: int
    citations_dangling: int
    references_ambiguous: int
    resolved: Resolved
    is_dry: bool = False
    elapsed_s: float = 0.0

    @property
    def quality(self) -> dict[str, int]:
        """What the corpus holds and lacks: measure -> count."""
        return {name: getattr(self, name) for name in _QUALITY}

    def timed(self, elapsed_s: float) -> "LoadSummary":
        """The summary with the seconds that the load took."""
        return replace(self, elapsed_s=elapsed_s)

    @property
    def rows_in(self) -> int:
        """Records read, over all files."""
        return sum(file.rows_in for file in self.files)

    @property
    def rows_loaded(self) -> int:
        """Records accepted, over all files."""
        return sum(file.rows_loaded for file in self.files)

    @property
    def rows_rejected(self) -> int:
        """Records rejected, over all files."""
        return sum(file.rows_rejected for file in self.files)

    @property
    def rejected_share(self) -> float:
        """Rejected records as a share of all that the files hold, whichever load read them."""
        rows_in = self.rows_in + sum(file.rows_in_before for file in self.files)
        rejected = self.rows_rejected + sum(file.rows_rejected_before for file in self.files)
        return rejected / rows_in if rows_in else 0.0


def summarise_load(
    database: Database,
    corpus: tuple[int, str],
    files: list[FileSummary],
    reasons: Iterable[str],
    resolved: Resolved,
) -> LoadSummary:
    """The summary of a load into the corpus (its id and its name)."""
    corpus_id, name = corpus
    with database.read() as session:
        quality = count_quality(session, corpus_id)
    counted = dict(sorted(Counter(reasons).items()))
    return LoadSummary(name, files, counted, resolved=resolved, **quality)  # type: ignore[arg-type]
