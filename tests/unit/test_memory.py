"""How much memory a command may take: what users say, and how it is divided."""

from pathlib import Path

import pytest

from pinakes import memory
from pinakes.errors import InputError
from pinakes.memory import LOAD_MEMORY, MIN_MEMORY, plan_load, plan_memory, read_memory

GIB = 1 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "measure_machine", lambda: 16 * GIB)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2_000_000_000),
        ("2 gb", 2_000_000_000),
        ("1500M", 1_500_000_000),
        ("2GiB", 2 * GIB),
        ("25%", 4 * GIB),
    ],
)
def test_sizes_and_shares_are_read(text: str, size: int) -> None:
    assert read_memory(text) == size


def test_the_setting_counts_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_MEMORY", "50%")
    assert plan_memory(None).total == plan_load(None).total == 8 * GIB
    assert plan_memory(3 * GIB).total == 3 * GIB


@pytest.mark.parametrize("text", ["", "2", "GB", "-1GB", "2XB", "10MB", "1%", "2GB!"])
def test_anything_else_and_too_little_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(InputError, match=r"--memory, or PINAKES_MEMORY, is .* expected"):
        read_memory(text)


def test_a_command_takes_a_quarter_of_the_machine_and_a_load_two_gigabytes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert plan_memory(None).total == 4 * GIB
    assert plan_load(None).total == LOAD_MEMORY
    assert plan_load(3 * GIB).total == 3 * GIB
    monkeypatch.setattr(memory, "measure_machine", lambda: 2 * GIB)
    assert plan_memory(None).total == plan_load(None).total == MIN_MEMORY


def test_what_is_given_out_leaves_room_for_the_rest() -> None:
    budget = plan_memory(2_000_000_000)
    assert budget.database + budget.ahead < 0.6 * budget.total


def test_a_container_has_what_it_may_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    limit, none = tmp_path / "limit", tmp_path / "none"
    limit.write_text("123456\n")
    none.write_text("max\n")
    monkeypatch.setattr(memory, "_LIMITS", (none, limit, tmp_path / "missing"))
    assert memory.measure_machine() == 123456
