"""The commands by name, each made when it is called: a module with its options costs tens of milliseconds.

Help and completion make those that they list.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import typer.main
from typer.core import TyperGroup

_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "loading": ("init", "grant-reader", "upgrade", "load", "resolve", "deduplicate", "fetch"),
    "deriving": ("derive",),
    "exporting": ("export", "import-corpora"),
    "indexing": ("encode", "index"),
    "training": ("train", "compare-methods"),
    "searching": ("search", "explain", "summarize"),
    "sampling": ("new-benchmark", "sample", "construct", "export-pools"),
    "systems": ("systems",),
    "running": ("use-corpus", "run", "rerun", "import-run", "cross-format", "reproduce", "tune"),
    "evaluating": ("evaluate", "accept", "compare", "agreement", "errors"),
    "reporting": ("report", "site", "sql", "shell", "status", "show"),
    "removing": ("gc", "remove"),
    "planning": ("plan",),
    "demo": ("demo",),
}
"""module of `pinakes.cli` -> the commands of its `app`, all in the order of the work"""
MODULES: Final = {name: module for module, names in _MODULES.items() for name in names}
"""command -> the module that has it"""


class CommandsByName(Mapping[str, Any]):
    """The commands, of which each is made from its module when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module = import_module(f"pinakes.cli.{MODULES[name]}")
            self._made.update(typer.main.get_group(module.app).commands)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)

    def __contains__(self, name: object) -> bool:
        return name in MODULES


class AllCommands(TyperGroup):
    """The program: its commands are made one by one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = CommandsByName()

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the work."""
        return list(self.commands)
