"""What every loader is: a record that names its files and reads them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa

from pinakes import schema
from pinakes.errors import InputError
from pinakes.loaders.staging import Chunk
from pinakes.loaders.staging import UnreadFile as UnreadFile

Options = Mapping[str, str]
"""what the command line gave with `--option name=value`, unparsed"""


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """The row of `corpora` that a loader writes unless the user says otherwise."""

    name: str
    title: str = ""
    version: str = ""
    licence: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file (or archive member, or generated stream) that a load reads.

    Attributes:
        path: the file on disk; None for a generated stream.
        name: what `load_batches.file` says, unique within a load.
        role: which of the loader's readers takes it: `papers`, `queries`, `judgments`, …
        member: the entry's name when the file is an archive.
        documents: names below the folder `path` of the documents that are read as one file, in order
            (`documents.find_documents` makes such bundles).
        digest: the content's sha256 in hex, when it is not that of the file at `path`.
        beside: files that are read together with it, such as a list of splits.
        unread: entries of the archive, or files beside it, that are not read, where that is known before it
            is read; a reader tells others by `Chunk.unread`. Files of a folder of which no input file says
            anything are found by the load itself.
        columns: what the columns of a relevance list hold, where the loaded ids or an option have told it.
        unpadded: those of them whose numbers are to be read without leading zeros.
    """

    path: Path | None
    name: str
    role: str
    member: str | None = None
    documents: tuple[str, ...] = ()
    digest: str | None = None
    beside: tuple[Path, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    columns: tuple[str, ...] = ()
    unpadded: frozenset[str] = frozenset()

    def expect_path(self) -> Path:
        """The path; raises `InputError` for a generated stream."""
        if self.path is None:
            raise InputError(f"{self.name} is not a file on disk.")
        return self.path


class FindFiles(Protocol):
    """Names the files of a load in the order in which they must be read."""

    def __call__(self, source: Path | None, options: Options, /) -> list[InputFile]:
        """Raise `InputError` when the source is not what the loader reads."""


class ReadChunks(Protocol):
    """Reads one file from its `first_row`-th record on."""

    def __call__(self, file: InputFile, options: Options, first_row: int, /) -> Iterator[Chunk]:
        """Yield chunks in file order; a chunk's content must not depend on `first_row`'s predecessors."""


FindKnown = Callable[[str, Collection[str]], set[str]]
"""`papers` or `queries`, and ids: those of them that the corpus holds"""


class SettleFile(Protocol):
    """Says of a file what only the ids that are loaded tell, before it is read."""

    def __call__(self, file: InputFile, options: Options, find_known: FindKnown, /) -> InputFile:
        """Raise `InputError` where they do not tell it."""


PAPER_COLUMNS: Final = ("title", "abstract", "year", "venue", "citation_count")
PAPER_CHILDREN: Final[Mapping[str, sa.Table]] = {
    "identifiers": schema.paper_identifiers,
    "fields": schema.paper_fields,
    "authorships": schema.authorships,
    "signatures": schema.author_signatures,
    "sentences": schema.sentences,
    "sections": schema.sections,
    "variants": schema.paper_variants,
    "review_scores": schema.review_scores,
    "citations": schema.citations,
}
"""staged child rows -> their table; what compares, adds, replaces and deletes them is made from this"""
ASSESSMENTS: Final[Mapping[str, sa.Table]] = {
    "queries": schema.benchmark_queries,
    "judgments": schema.judgments,
    "labels": schema.labels,
    "pool_sources": schema.pool_sources,
    "variants": schema.paper_variants,
}
"""staged rows that name papers which other records describe -> their table

Variants do where their file describes no papers with them (`Loader.describes`); else they are child rows."""
OF_FILES: Final[tuple[sa.Table, ...]] = (
    schema.papers,
    schema.benchmark_queries,
    schema.judgments,
    schema.pool_sources,
    schema.sentence_selections,
    schema.labels,
    schema.paper_variants,
    schema.author_signatures,
    schema.citations,
    schema.pending_citations,
)
"""tables whose rows say, by `batch_id`, which file they are of: what a newer version of it can drop"""
PAPER_KEYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("papers", "mentioned_papers", *ASSESSMENTS), "source_id"),
    "queries": "paper_source_id",
    "citations": "citing_source_id",
}
"""staged table -> its column that names a paper, of tables that may name one without a row of `papers`"""
WHOLE_PAPER: Final = frozenset({*PAPER_COLUMNS, *PAPER_CHILDREN})
"""all that a record with a row of `papers` says of it, unless its loader tells otherwise"""


def describe_as(
    name: str, title: str = "", version: str = "", licence: str = "", source: str = ""
) -> Callable[[Path | None, Options], CorpusDescription]:
    """A loader's `describe_corpus`: every source makes the same corpus."""
    corpus = CorpusDescription(name, title, version, licence, source)
    return lambda _source, _options: corpus


def name_by_stem(source: Path | None) -> str:
    """The name of a file or folder, up to the first dot."""
    return "" if source is None else source.resolve().name.split(".")[0]


def describe_by_name(
    kind: str, name_corpus: Callable[[Path | None], str] = name_by_stem
) -> Callable[[Path | None, Options], CorpusDescription]:
    """A loader's `describe_corpus`: a corpus called after its file or folder."""

    def describe_corpus(source: Path | None, _options: Options) -> CorpusDescription:
        name = name_corpus(source)
        return CorpusDescription(name=name, title=name, source=kind)

    return describe_corpus


@dataclass(frozen=True, slots=True)
class Loader:
    """One corpus format.

    Attributes:
        describe_corpus: the corpus that a source makes, before the user's overrides.
        options: the options that the loader knows, each with a line of help.
        creates_unknown: whether a paper or query that judgments or pools name, but no record describes,
            becomes one without a text instead of a rejected row.
        describes: role -> which columns and child rows of its papers a file of that role says in full: a
            newer record replaces those, and leaves alone what other files of the release say and what other
            producers have made. Identifiers and fields that a file stages and does not say in full are added
            to the existing ones.
        gaps_say_nothing: whether a null, or no child of a kind, leaves what is there: for collections whose
            files say more or less of the same papers.
        settle: role -> what its files need to be told of the corpus as it is when their turn comes.
        may_lack_text: whether a paper of which a record says neither title nor abstract nor text is normal:
            in registers and graphs, whose texts may stand in other files, and in test collections, whose
            documents may be empty. Elsewhere such a record is rejected: it is not what the loader reads.
        reads_here: whether what it reads may be on the machine of the command alone, whatever its files are.
    """

    name: str
    summary: str
    describe_corpus: Callable[[Path | None, Options], CorpusDescription]
    find_files: FindFiles
    read_chunks: ReadChunks
    options: Mapping[str, str] = field(default_factory=dict)
    creates_unknown: Callable[[Options], bool] = lambda _options: False
    describes: Callable[[str], frozenset[str]] = lambda _role: WHOLE_PAPER
    gaps_say_nothing: bool = False
    settle: Mapping[str, SettleFile] = field(default_factory=dict)
    may_lack_text: bool = False
    reads_here: bool = False
