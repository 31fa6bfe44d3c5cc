"""What a user may call things."""

import pytest

from pinakes.errors import InputError
from pinakes.names import LONGEST_NAME, check_name


@pytest.mark.parametrize("name", ["scifact", "SciFact 2 (2020)", "論文集", "a/b", "x" * LONGEST_NAME])
def test_a_visible_name_is_taken(name: str) -> None:
    assert check_name("corpus", name) == name


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "it is empty"),
        (" \t", "it is empty"),
        ("x" * 10_000, "it has 10,000 characters"),
        (" a", "white space stands before or behind it"),
        ("a\n", "white space stands before or behind it"),
        ("a\x1b[2Jb", "control characters or invisible marks"),
        ("a\u202eb", "control characters or invisible marks"),
        ("a\u2066b", "control characters or invisible marks"),
        ("a\x00b", "control characters or invisible marks"),
        ("a\ud800b", "control characters or invisible marks"),
    ],
)
def test_a_name_that_cannot_stand_in_a_folder_or_on_a_page_is_refused(name: str, fault: str) -> None:
    with pytest.raises(InputError) as refused:
        check_name("corpus", name, "Give another with --corpus.")
    message = str(refused.value)
    assert fault in message
    assert message.endswith("expected 1 to 100 visible characters. Give another with --corpus.")
    assert message.isprintable()
    assert len(message) < 400
