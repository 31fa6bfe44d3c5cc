"""A dataclass of options is one parameter of a command, and an option a field on the command line."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from pinakes.cli.option_sets import Omit, takes_option_sets


@dataclass(frozen=True)
class Size:
    height: Annotated[int, typer.Option(min=1)]
    width: Annotated[int, typer.Option("--width", "-w", envvar="TOY_WIDTH")] = 2
    names: Annotated[list[str] | None, typer.Option("--name")] = None


GIVEN: list[tuple[str, Size, bool]] = []


@pytest.fixture(autouse=True)
def forget() -> None:
    GIVEN.clear()


def call(*arguments: str, **environment: str) -> int:
    app = typer.Typer()

    @app.command()
    @takes_option_sets
    def draw(
        title: Annotated[str, typer.Argument()],
        size: Size,
        again: Annotated[bool, typer.Option("--again")] = False,
    ) -> None:
        """Draw."""
        GIVEN.append((title, size, again))

    return CliRunner().invoke(app, [*arguments], env=environment).exit_code


def test_the_fields_of_a_set_are_options_among_the_others() -> None:
    assert call("a", "--height", "3", "-w", "4", "--name", "x", "--name", "y", "--again") == 0
    assert [("a", Size(3, 4, ["x", "y"]), True)] == GIVEN


def test_a_field_has_its_default_and_its_environment_variable() -> None:
    assert call("a", "--height", "3") == 0
    assert call("a", "--height", "3", TOY_WIDTH="7") == 0
    assert [size.width for _title, size, _again in GIVEN] == [2, 7]


def test_a_field_without_a_default_is_required_and_its_bounds_hold() -> None:
    assert call("a") == 2
    assert call("a", "--height", "0") == 2
    assert GIVEN == []


def test_an_omitted_field_is_no_option_and_has_its_default() -> None:
    given: list[Size] = []
    app = typer.Typer()

    @app.command()
    @takes_option_sets
    def draw(size: Annotated[Size, Omit("width", "names")]) -> None:
        """Draw."""
        given.append(size)

    assert CliRunner().invoke(app, ["--height", "3"]).exit_code == 0
    assert CliRunner().invoke(app, ["--height", "3", "--width", "4"]).exit_code == 2
    assert given == [Size(3)]


def test_the_parameters_stand_in_the_order_in_which_they_are_written() -> None:
    @takes_option_sets
    def draw(title: str, size: Size, again: bool = False) -> None:
        """Draw."""

    assert list(inspect.signature(draw).parameters) == ["title", "height", "width", "names", "again"]
    assert draw.__doc__ == "Draw."
