"""Records that are at hand, loaded as files of a loader of the tests' own."""

from collections.abc import Iterator
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.load import load as load_module
from pinakes.load.load import FileSummary, LoadRequest, LoadSummary, load
from pinakes.loaders.base import WHOLE_PAPER, CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.staging import Accepted, Chunk, Rows

Files = dict[str, list[Rows]]
"""file -> records; its role is its name until a slash"""


def load_records(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    digest: str,
    files: Files,
    describes: frozenset[str] = WHOLE_PAPER,
) -> list[FileSummary]:
    """Load records into the corpus `toy`, as files of that digest that describe so much of their papers."""
    return load_files(database, monkeypatch, digest, files, describes).files


def load_files(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    digest: str,
    files: Files,
    describes: frozenset[str] = WHOLE_PAPER,
    *,
    replace: bool = False,
) -> LoadSummary:
    """As `load_records`; `replace`: what their older versions had and they lack is removed."""

    def find_files(_source: object, _options: Options) -> list[InputFile]:
        return [InputFile(None, name, name.partition("/")[0], digest=f"{name} {digest}") for name in files]

    def read_chunks(file: InputFile, _options: Options, first_row: int) -> Iterator[Chunk]:
        records = [Accepted(number, rows) for number, rows in enumerate(files[file.name], start=1)]
        return gather_chunks(records, first_row=first_row, chunk_rows=2)

    loader = Loader(
        "toy",
        "",
        lambda _source, _options: CorpusDescription("toy"),
        find_files,
        read_chunks,
        describes=lambda _role: describes,
        may_lack_text=True,
    )
    monkeypatch.setattr(load_module, "choose_loader", lambda _request: loader)
    return load(database, LoadRequest("toy", replace=replace))


def toy_paper(source_id: str, authors: str = "", fields: str = "", dois: str = "", **columns: Any) -> Rows:
    """A paper with its child rows, in words."""
    return {
        "papers": [{"source_id": source_id, **columns}],
        "authorships": [
            {"source_id": source_id, "position": n, "author_source_id": name, "author_name": name.title()}
            for n, name in enumerate(authors.split(), start=1)
        ],
        "fields": [{"source_id": source_id, "field": name, "assigned_by": "toy"} for name in fields.split()],
        "identifiers": [{"source_id": source_id, "scheme": "doi", "identifier": doi} for doi in dois.split()],
    }


def cite(citing: str, cited: str, context: str | None = None) -> Rows:
    """One mention."""
    return {"citations": [{"citing_source_id": citing, "reference_key": cited, "context": context}]}
