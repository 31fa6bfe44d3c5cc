"""The corpus that a load fills: its row is made, or brought up to date."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.sources import list_sources
from pinakes.loaders.base import Loader
from pinakes.loaders.registry import LOADERS, find_loader
from pinakes.names import check_name
from pinakes.schema import corpora, has_tables, load_batches, next_id

_WITHOUT_SOURCE: Final = frozenset({"synthetic", "ir-datasets"})


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What to load: a loader, its source, what the user says instead of the source, and how to go about it.

    Attributes:
        dry_run: read, check and merge everything, and then take it all back.
        limit: how many records of each file are read at most; a later load goes on behind them.
        jobs: processes that read files ahead; 1: this process reads them.
        replace: remove the rows of a file's older version that the newer one lacks.
        max_rejects: the greatest share of its records that a file may have rejected to replace an older one.
        on_error: what becomes of a load with a record that is not accepted: `reject` goes on, `stop` fails
            before the batch that holds it.
        on: the address of a Ray cluster whose workers read the files; None: this machine does.
        memory: bytes that the load is to take; None: `PINAKES_MEMORY`, or what `memory.plan_load` says.
    """

    loader: str
    source: Path | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    corpus: str | None = None
    version: str | None = None
    licence: str | None = None
    dry_run: bool = False
    limit: int | None = None
    jobs: int = 1
    on_error: Literal["reject", "stop"] = "reject"
    replace: bool = False
    max_rejects: float = 0.01
    memory: int | None = None
    on: str | None = None


def choose_loader(request: LoadRequest) -> Loader:
    """The loader of a request; `UnknownNameError` lists the known loaders, or the options that it knows."""
    loader = find_loader(request.loader, "" if request.loader in LOADERS else _hint(request.loader))
    unknown = sorted(set(request.options) - set(loader.options))
    if unknown:
        raise UnknownNameError(f"option of the loader {loader.name}", unknown[0], list(loader.options))
    return loader


def read_loader_name(text: str) -> tuple[str, dict[str, str]]:
    """The loader's name and the options that are said with it.

    >>> read_loader_name("beir"), read_loader_name("ir-datasets:vaswani")
    (('beir', {}), ('ir-datasets', {'dataset': 'vaswani'}))
    """
    name, _, dataset = text.partition(":")
    return name, {"dataset": dataset} if dataset else {}


def check_source(request: LoadRequest) -> None:
    """Refuse a request that cannot be loaded, before a database is made for nothing.

    Raises:
        UnknownNameError: no such loader or option.
        InputError: the source is missing, or is not what the loader reads.
    """
    chosen, source = choose_loader(request), request.source
    if source is None and request.loader in LOADERS and request.loader not in _WITHOUT_SOURCE:
        raise InputError(
            f"the loader {request.loader} needs a source: `pinakes load {request.loader} FILE_OR_FOLDER`."
        )
    if source is not None and not source.exists():
        chosen.find_files(source, request.options)  # which says what it expects, or knows a pattern of names


def _hint(name: str) -> str:
    """What was probably meant by a name that is no loader's."""
    dataset = next((source for source in list_sources() if source.name == name), None)
    if dataset is not None:
        return f"{name} is a dataset: `pinakes fetch {name}`, then `pinakes load {dataset.loader} {name}`."
    with suppress(OSError):  # of a name that is too long for a path
        if name.strip() and Path(name).exists():
            return f"The loader comes before its source: `pinakes load LOADER {name}`."
    return ""


def register_corpus(session: Session, loader: Loader, request: LoadRequest) -> tuple[int, str]:
    """The id and name of the corpus; its row is made, or brought up to date with what is said of it now."""
    described = loader.describe_corpus(request.source, request.options)
    name = described.name if request.corpus is None else request.corpus
    if request.corpus is None and not name:
        raise InputError(f"the loader {loader.name} needs a corpus; name one that is loaded with --corpus.")
    said = {"title": described.title, "version": described.version, "licence": described.licence}
    said |= {"source": described.source}
    given = {"version": request.version, "licence": request.licence}
    found = session.rows(sa.select(corpora).where(corpora.c.name == name))
    if not found:
        if not described.name and not loader.creates_unknown(request.options):
            known = [row["name"] for row in session.rows(sa.select(corpora.c.name))]
            raise UnknownNameError("corpus", name, known, "Load its papers first.")
        check_name("corpus", name, "Give another with --corpus.")
        corpus_id = next_id(session, corpora.c.corpus_id)
        values = said | {key: value for key, value in given.items() if value}
        values["title"] = values["title"] or described.name or name
        session.execute(sa.insert(corpora).values(corpus_id=corpus_id, name=name, **values))
        return corpus_id, name
    # A loader that adds to a corpus of another loader's does not know better what the corpus is.
    newer = {key: value for key, value in {**(said if described.name else {}), **given}.items() if value}
    if any(found[0][key] != value for key, value in newer.items()):
        session.execute(sa.update(corpora).where(corpora.c.name == name).values(**newer))
    return int(found[0]["corpus_id"]), name


def find_corpus(session: Session, name: str) -> int:
    """The id of a corpus; `UnknownNameError` lists the known ones."""
    ids = dict(session.stream_rows(sa.select(corpora.c.name, corpora.c.corpus_id).order_by(corpora.c.name)))
    if name not in ids:
        raise UnknownNameError("corpus", name, list(ids))
    return int(ids[name])


def holds_no_load(database: Database) -> bool:
    """Whether no batch of any file is in, nor a table to hold one."""
    if not has_tables(database):
        return True
    with database.read() as session:
        return session.first(sa.select(load_batches.c.batch_id).limit(1)) is None
