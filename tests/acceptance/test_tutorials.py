"""The tutorials: pasted into one shell in an empty folder, commands end well and print what is shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import TUTORIALS
from tests.pasting import find_missing, paste, serve


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with serve(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


def list_pages() -> list[object]:
    """All tutorials; those whose commands other tests call as well are left to the long tests."""
    marks = {"five_minutes": pytest.mark.long, "nightly": pytest.mark.long, "analyst": pytest.mark.long}
    return [pytest.param(page, marks=marks.get(page.stem, ()), id=page.stem) for page in TUTORIALS]


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
