"""What MkDocs does not do by itself: files outside docs/, links between them, tables in place of diagrams.

The pages are read on a repository's site as well, so their links are those between the repository's files.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parents[2]
_OUTSIDE = {
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""files of the repository -> where the site has them"""

_FENCES = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_DIAGRAM = re.compile(r"^```mermaid\nerDiagram\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_RELATION = re.compile(r" +(\w+) (..)--(..) (\w+) : (\w+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/."""
    for name, page in _OUTSIDE.items():
        files.append(File.generated(config, page, content=(_ROOT / name).read_text(encoding="utf-8")))
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the decisions into the navigation, in their order."""
    decisions = sorted((_ROOT / "docs" / "decisions").glob("*.md"))
    config.nav = [*(config.nav or []), {"Decisions": [f"decisions/{path.name}" for path in decisions]}]
    return config


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page as the site has it."""
    here = next((name for name, site in _OUTSIDE.items() if site == page.file.src_uri), None)
    here = here or f"docs/{page.file.src_uri}"

    def lead(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), file))
        if (_ROOT / path).is_dir() or not (path in _OUTSIDE or path.startswith("docs/")):
            return text  # of the repository alone
        site = _OUTSIDE.get(path) or path.removeprefix("docs/")
        link = posixpath.relpath(site, posixpath.dirname(page.file.src_uri) or ".")
        return f"{mark}[{text}]({link}{'#' + anchor if anchor else ''})"

    parts = _FENCES.split(_DIAGRAM.sub(_tabulate, markdown))
    return "".join(part if number % 2 else _LINK.sub(lead, part) for number, part in enumerate(parts))


def _tabulate(diagram: re.Match[str]) -> str:
    """A diagram's relations as a table: a drawing would need a script of the net."""
    lines = ["What refers to what:\n", "| column | refers to | may be null | rows for one |"]
    lines.append("|---|---|---|---|")
    for target, end, many, table, column in _RELATION.findall(diagram[1]):
        null, count = ("yes" if end == "o|" else ""), ("one at most" if many == "o|" else "any number")
        lines.append(f"| `{table}.{column}` | `{target}` | {null} | {count} |")
    return "\n".join(lines)
