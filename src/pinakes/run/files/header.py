"""The ir_metadata header of a TREC run: comment lines from `# ir_metadata.start` to `# ir_metadata.end`.

Between them, each behind `#`, stands YAML: what Breuer et al. 2022 (ir_metadata: An Extensible Metadata
Schema for IR Experiments) propose. repro_eval reads it.
"""

import codecs
from pathlib import Path
from typing import Final

from pinakes.loaders.base import InputFile
from pinakes.run.files.rows import open_ranking

START: Final = "# ir_metadata.start"
END: Final = "# ir_metadata.end"
MOST_BYTES: Final = 1 << 16
"""of a header that is kept; a longer one is cut, and says so"""
_CUT: Final = "# (cut)"


def read_header(path: Path) -> list[str]:
    """The YAML of a file's header, a line a line, without the `#`; empty where it has none."""
    with open_ranking(InputFile(path, path.name, "run")) as stream:
        begin = stream.read(MOST_BYTES).removeprefix(codecs.BOM_UTF8)
    lines = begin.decode("utf-8", "replace").split("\n")
    if lines[0].strip() != START:
        return []
    found: list[str] = []
    for line in lines[1:]:
        if line.strip() == END:
            return found
        if not line.startswith("#"):
            return found if len(begin) < MOST_BYTES else [*found, _CUT]
        found.append(line.rstrip()[1:].removeprefix(" "))
    return [*found[:-1], _CUT]
