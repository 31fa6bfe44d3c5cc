"""How long work tells that it goes on: a protocol, and the silent one."""

from typing import Protocol


class Progress(Protocol):
    """Takes what a long step says of itself."""

    def start(self, task: str, total: int | None) -> None:
        """A task begins; `total` units in all, None when unknown."""
        ...

    def advance(self, units: int) -> None:
        """So many more units are done."""
        ...

    def finish(self) -> None:
        """The task ended."""
        ...


def say_nothing(_line: str) -> None:
    """Take a line for the user, and keep it."""


class Silent:
    """Says nothing."""

    def start(self, task: str, total: int | None) -> None:
        """Say nothing."""

    def advance(self, units: int) -> None:
        """Say nothing."""

    def finish(self) -> None:
        """Say nothing."""
