"""The tutorials: pasted into one shell in an empty folder, commands end well and print what is shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import TUTORIALS, Block
from tests.pasting import Pasted, PasteError, find_missing, paste, serve

SHORT = "own_benchmark"
"""the tutorial that `make test` runs: from files to a comparison, and to errors"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with serve(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


def list_pages() -> list[object]:
    """All tutorials; all but one are left to the long tests."""
    return [
        pytest.param(page, marks=pytest.mark.long if page.stem != SHORT else (), id=page.stem)
        for page in TUTORIALS
    ]


@pytest.mark.parametrize("page", list_pages())
def test_a_tutorials_commands_run_and_print_what_it_shows(page: Path, programs: Path, tmp_path: Path) -> None:
    done = paste(page, programs, tmp_path / "reader")
    assert done
    for pasted in done:
        printed = "\n".join(pasted.printed)
        assert find_missing(pasted) == [], f"{pasted.block.place} printed:\n{printed}"


def test_the_first_page_answers_five_questions_with_the_tutorials() -> None:
    first = (TUTORIALS[0].parents[1] / "index.md").read_text(encoding="utf-8")
    assert len(TUTORIALS) == 5
    assert [page.name for page in TUTORIALS if f"(tutorials/{page.name})" not in first] == []


def test_a_command_that_fails_ends_the_page_and_is_named(programs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\npinakes --version\n```\n\n```sh\npinakes load beir nowhere\necho on\n```\n")
    with pytest.raises(PasteError, match=r"(?s)page.md:5 ended with 1:.*nowhere"):
        paste(page, programs, tmp_path / "reader")


def test_a_line_that_was_not_printed_is_told_and_spaces_do_not_count() -> None:
    def find(shown: str) -> list[str]:
        printed = ["system   value  queries", "bm25       0.5       10"]
        return find_missing(Pasted(Block("", "sh", ""), printed, [Block("", "text", shown)]))

    assert find("system  value\nbm25  0.5\n") == []
    assert find("bm25  0.6\n") == ["bm25 0.6"]
    assert find("bm25  0.5\nsystem  value\n") == ["system value"]
