"""Every loader reads its files compressed in each way, and names things as when they are plain."""

import re
import shutil
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from pinakes.loaders.reading.compression import COMPRESSIONS
from pinakes.loaders.registry import LOADERS, find_loader
from tests.loading import DATA, stage_all
from tests.long import alternate
from tests.writing import COMPRESS

SOURCES = {
    name: name.replace("-", "_")
    for name in LOADERS
    if name not in ("csv", "jsonl", "parquet", "synthetic", "ir-datasets", "openreview")
} | {
    "openreview": "openreview",
    "openreview as tables": "openreview_tables",
    "pubmed as text": "pubmed_text",
    "trec with documents": "trec_documents",
    "trec of Genomics": "trec_genomics",
    "trec of OHSUMED": "trec_ohsumed",
    "s2orc of 2019": "s2orc_2019",
    "s2orc of 2020": "s2orc_2020",
    "s2orc with diffs": "s2orc_diffs",
}
"""source of our own -> its folder; what a mapping reads is tested with the mappings"""

NOT_COMPRESSED = (".parquet", ".zip", ".tar", ".tgz", *COMPRESSIONS)


def test_every_compression_that_is_read_is_tried() -> None:
    assert set(COMPRESS) == set(COMPRESSIONS)


@pytest.mark.parametrize(("name", "suffix"), alternate([*SOURCES], [*COMPRESSIONS]))
def test_a_compressed_source_gives_the_rows_of_the_plain_one(name: str, suffix: str, tmp_path: Path) -> None:
    loader, folder = name.split()[0], SOURCES[name]
    packed = tmp_path / folder
    shutil.copytree(DATA / folder, packed)
    for path in [path for path in packed.rglob("*") if path.is_file()]:
        if path.suffix not in NOT_COMPRESSED:
            path.with_name(path.name + suffix).write_bytes(COMPRESS[suffix](path.read_bytes()))
            path.unlink()
    assert _stage(loader, packed) == _stage(loader, DATA / folder)
    described = [find_loader(loader).describe_corpus(source, {}).name for source in (packed, DATA / folder)]
    assert described[0] == described[1]


def _stage(loader: str, source: Path) -> tuple[list[Any], list[Any]]:
    """What each file stages, by its name without compressions; and what is rejected, where and why."""
    staged, rejected = stage_all(loader, source)
    files = [(_strip_suffixes(name), rows) for name, rows in staged.items()]
    return sorted(files, key=itemgetter(0)), sorted(
        (_strip_suffixes(row.location), row.reason) for row in rejected
    )


def _strip_suffixes(text: str) -> str:
    return re.sub("|".join(map(re.escape, COMPRESSIONS)), "", text)
