"""No pandas in a process that is one command.

Where pandas is installed, pyarrow imports it to see whether what it is given is of pandas: half a second and
45 MB of almost every command, none of which has anything of pandas. The Python interface is left as it is.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_NAME = "pandas"


def refuse_pandas() -> None:
    """Have `import pandas` fail in this process from now on, as where it is not installed."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, _Refusal()) if name == _NAME else None


class _Refusal(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        raise ModuleNotFoundError("No command of Pinakes uses pandas.", name=_NAME)

    def exec_module(self, module: ModuleType) -> None:
        """Never called: there is no module."""
