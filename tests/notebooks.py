"""The notebooks of the documentation, run cell by cell."""

import ast
import json
from pathlib import Path
from typing import Any, Final

from tests.documents import ROOT

FIRST_STEPS: Final = ROOT / "docs" / "first_steps.ipynb"
OF_QUESTIONS: Final = sorted(ROOT.glob("docs/notebooks/*.ipynb"))
"""one for each kind of question of the cookbook"""


def read_cells(notebook: Path, kind: str) -> list[str]:
    """The texts of its cells of a kind, `code` or `markdown`."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def run(notebook: Path, names: dict[str, Any]) -> list[Any]:
    """Run its cells in the working folder, with these names: what each shows, where it ends with a value."""
    shown = []
    for number, text in enumerate(read_cells(notebook, "code"), start=1):
        tree = ast.parse(text)
        last = tree.body[-1]
        place = f"{notebook.name}, code cell {number}"
        if isinstance(last, ast.Expr):
            del tree.body[-1]
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), place, "eval"), names))
    return shown
