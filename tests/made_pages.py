"""Pages of the documentation that are made by a program: written, and read to be compared."""

from collections.abc import Mapping
from pathlib import Path


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages by their paths below a folder, and remove those that are no more."""
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for old in set(folder.glob("**/*.md")) - {folder / name for name in pages}:
        old.unlink()


def read_pages(folder: Path) -> dict[str, str]:
    """The pages below a folder by their paths."""
    found = folder.glob("**/*.md")
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}
