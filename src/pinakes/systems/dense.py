"""Encoders as systems: the exact comparison of a query's vector with those of its candidates.

`mean:specter,scincl` is an ensemble: a text's vector is the mean of those of its members.
`formats:CLF=a,PRX=b` answers with the embedding of the format that asks; queries and papers may be read by
different encoders.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pinakes.database import Database, Session
from pinakes.errors import RunError
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.encoder.presets import PROMPTS
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.exact.search import Block, Prepared, prepare_documents, search_exact, search_prepared
from pinakes.indexers.lexical import Ids, Ranked
from pinakes.indexers.names import EXACT, Distance
from pinakes.indexers.side_folder import folder_name
from pinakes.options import list_options, option, read_options
from pinakes.progress import Progress
from pinakes.queries.relations import select_corpus_texts
from pinakes.settings import read_settings
from pinakes.systems.base import (
    Ability,
    Asked,
    CorpusQuery,
    Embedded,
    IndexSummary,
    OpenSearch,
    Ranking,
    SearchedPapers,
    System,
    SystemDescription,
    SystemOptions,
)
from pinakes.systems.dense_pools import (
    HeldVectors,
    PooledVectors,
    SharedPools,
    hold_vectors,
    rank_own_pools,
    rank_pools,
)
from pinakes.systems.rankings import report_rankings
from pinakes.vectors.encoding import EncoderSession, start_session
from pinakes.vectors.fragment_sets import EnteredSet, enter_sets, name_place
from pinakes.vectors.members import (
    Member,
    Stored,
    Texts,
    describe_members,
    join_texts,
    list_tables,
    start_members,
)
from pinakes.vectors.reading import (
    CandidateBlocks,
    CorpusBlocks,
    fetch_distinct_queries,
    fetch_queries,
    mean_vectors,
    read_vectors,
    reload_vectors,
)
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.readers import find_readers
from pinakes.workload.scope import CorpusScope, add_prefix
from pinakes.workload.workload import Workload
from pinakes.writing.folders import join_address

if TYPE_CHECKING:  # imported late: Faiss, Ray
    from pinakes.cluster.exact import SharedVectors
    from pinakes.vectors.nearest import OpenNearest


@dataclass(frozen=True, slots=True)
class DenseOptions:
    """The options of systems that compare vectors of texts."""

    prompts: str | None = option(None, "Published prompts before every text, by the format.", choices=PROMPTS)


class DenseSystem(System):
    """A system that compares vectors: of one encoder, by preset, folder or hub id."""

    can: ClassVar[frozenset[Ability]] = frozenset(
        {"rank", "rank_groups", "embed", "index_corpus", "search", "search_through", "share"}
    )
    own_options: ClassVar[type[DenseOptions]] = DenseOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        own, self._through = _split_options(options)
        given = read_options(DenseOptions, name, own)
        readers = find_readers(name, replace(options.choice, prompts=given.prompts))
        encoders: dict[str, EncoderSession] = {}
        for reader in (*readers.queries, *readers.papers):
            if reader.encoder not in encoders:
                encoders[reader.encoder] = start_session(reader.encoder, options)
        self._options, self._asked_as = options, name
        self._searched: list[EnteredSet] = []
        self._queries = start_members(encoders, readers.queries)
        self._papers = start_members(encoders, readers.papers)
        self._distance = _choose_distance(list(encoders.values()))
        first = self._papers[0].encoder
        self._device, self._precision = first.device, first.precision
        self.name = readers.spell({name: one.source.name for name, one in encoders.items()})

    def index(self, database: Database, workload: Asked, progress: Progress) -> IndexSummary:
        """Encode every text of the workload that has no vector yet."""
        return self._encode(database, self._list_texts(workload), workload.benchmark.name, progress)

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """The encoders, the distance and the device."""
        stored = self._require_workload(database, workload)
        deciding = list(
            dict.fromkeys(stored[member] for member in (*self._papers, *self._queries) if member in stored)
        )
        asks_otherwise = self._is_split and workload.select_query_texts() is not None
        return SystemDescription(
            {
                **describe_members("", stored, self._papers),
                **(describe_members("query_", stored, self._queries) if asks_otherwise else {}),
                "distance": self._distance,
                "search": "exact",
            },
            device=device_name(self._device),
            encoder_id=deciding[0].encoder_id if len(deciding) == 1 else None,
            encoder_revision=", ".join(one.revision for one in deciding),
            precision=self._precision,
        )

    @property
    def _is_split(self) -> bool:
        """Whether queries and papers are read differently."""
        return self._queries != self._papers

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a candidate without a text has no vector and is in no ranking."""
        stored = self._require_workload(database, workload)
        with database.read() as session:
            query_rows, _ = found = fetch_queries(session, workload, list_tables(stored, self._queries))
        rank = self._rank_shared if workload.pools is None else self._rank_pools
        with database.read() as session:
            rankings = rank(session, workload, stored, *found)
            yield from report_rankings(rankings, workload, self.name, len(query_rows), progress)
        self._enter_sets(database)

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        """Stored vectors; a paper without a text has none."""
        tables = list_tables(self._require_workload(database, texts), self._papers)
        with database.read() as session:
            return Embedded(*read_vectors(session, texts, tables))

    def _rank_shared(
        self,
        session: Session,
        workload: Workload,
        stored: Stored,
        query_rows: list[int],
        queries: Vectors,
    ) -> Iterator[Ranking]:
        blocks = CandidateBlocks(workload)
        if not len(blocks.rows) or not query_rows:
            return
        depth = min(workload.benchmark.depth or len(blocks.rows), len(blocks.rows))
        read = blocks.read(session, list_tables(stored, self._papers))
        if self._options.on is None:
            found, scores = search_exact(queries, read, depth, self._distance, blocks.ties, self._device)
        else:
            with self._share(workload, stored, blocks, read) as shared:
                found, scores = shared.search(queries, depth, self._distance)
        for number, position in enumerate(query_rows):
            yield Ranking(workload.query_ids[position], blocks.rows[found[number]], scores[number])

    def _rank_pools(
        self,
        session: Session,
        workload: Workload,
        stored: Stored,
        query_rows: list[int],
        queries: Vectors,
    ) -> Iterator[Ranking]:
        blocks = CandidateBlocks(workload)
        if not len(blocks.rows):
            return
        benchmark = workload.benchmark
        queries = reload_vectors(benchmark, queries)
        read = (
            Block(rows, reload_vectors(benchmark, vectors))
            for rows, vectors in blocks.read(session, list_tables(stored, self._papers))
        )
        if self._options.on is not None:
            with self._share(workload, stored, blocks, read, benchmark.mode) as shared:
                pooled = SharedPools(shared, blocks.rows)
                yield from rank_own_pools(workload, query_rows, queries, pooled, self._distance)
            return
        documents = np.empty((len(blocks.rows), queries.shape[1]), dtype=np.float32)
        for rows, vectors in read:
            documents[rows] = vectors
        held = HeldVectors(documents, blocks.rows)
        yield from rank_own_pools(workload, query_rows, queries, held, self._distance)

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """As `rank` in each pool, with every vector read once; a query's own paper is left out."""
        stored = self._require_workload(database, workload)
        requested = sum(text != "" for text in workload.query_texts)
        if requested and workload.has_text.any():
            rankings = self._rank_groups(database, workload, stored)
            yield from report_rankings(rankings, workload, self.name, requested, progress)
            self._enter_sets(database)

    def _rank_groups(self, database: Database, workload: Workload, stored: Stored) -> Iterator[Ranking]:
        blocks, queried = CandidateBlocks(workload), list_tables(stored, self._queries)
        held: PooledVectors
        with ExitStack() as stack:
            with database.read() as session:
                texts, queries = fetch_distinct_queries(session, workload, queried)
                read = blocks.read(session, list_tables(stored, self._papers))
                if self._options.on is None:
                    holding = hold_vectors(read, blocks.rows, queries.shape[1], self._device)
                    held = stack.enter_context(holding)
                else:
                    shared = stack.enter_context(self._share(workload, stored, blocks, read))
                    shared.complete()
                    held = SharedPools(shared, blocks.rows)
            # The database is not kept waiting while pools are searched.
            yield from rank_pools(workload, held, texts, queries, self._distance)

    def _enter_sets(self, database: Database) -> None:
        """Have the rows of the sets of fragments that were searched."""
        enter_sets(database, self._searched)
        self._searched.clear()

    @contextmanager
    def _share(
        self,
        workload: Workload,
        stored: Stored,
        blocks: CandidateBlocks,
        read: Iterable[Block],
        read_as: str = "",
    ) -> Iterator["SharedVectors"]:
        """The candidates' vectors on a cluster; `read_as` says how they are read where that changes them."""
        from pinakes.cluster.exact import share_vectors  # imported late: Ray

        digest = hashlib.sha256(f"{workload.digest} {read_as}".encode())
        for member in self._papers:
            encoder = stored[member]
            digest.update(f"{encoder.name} {encoder.revision} {member.prefix}\n".encode())
        # Rows are places in these, which another database with the same papers may have in another order.
        digest.update(workload.paper_ids[blocks.rows].tobytes())
        name = folder_name(workload.benchmark.name, digest.hexdigest()[:16])
        options = self._options
        parent = read_settings().shared_folder or str(options.index_folder)
        place = join_address(join_address(parent, "fragments"), name)
        on, device, tell = options.on or "", options.device, options.tell
        with share_vectors(on, place, read, blocks.ties, device=device, tell=tell) as shared:
            yield shared
            if (whole := shared.describe()) is not None:
                entered = EnteredSet(
                    name_place(place, options.index_folder),
                    workload.benchmark.name,
                    workload.benchmark.mode,
                    workload.scope.corpus,
                    workload.scope.paper_template,
                    " ".join(dict.fromkeys(stored[member].name for member in self._papers)),
                    digest.hexdigest(),
                    **whole._asdict(),
                )
                self._searched.append(entered)

    def index_corpus(self, database: Database, scope: CorpusScope, progress: Progress) -> IndexSummary:
        """Encode every text of a corpus that has no vector yet."""
        return self._encode(database, self._list_corpus_texts(scope), scope.corpus, progress)

    def search(self, database: Database, query: CorpusQuery) -> Ranked:
        """The papers whose vectors are nearest to that of the text; one without a text has no vector."""
        stored = self._require(database, self._list_corpus_texts(query.scope), query.scope.requested_as)
        asking = self._papers if query.by_paper else self._queries
        vector = _embed(asking, [query.text])
        through, folder = self._options.through, self._options.index_folder
        if through != EXACT:
            from pinakes.vectors.nearest import VectorQuery, search_through  # imported late: Faiss

            (member,) = self._papers
            scope = add_prefix(query.scope, member.prefix)
            nearest = VectorQuery(
                scope, stored[member], vector, query.k, self._distance, query.pool, query.tie_order
            )
            return search_through(database, folder, through, nearest, self._through)
        blocks = CorpusBlocks(database, folder, query.scope, list_tables(stored, self._papers), query.pool)
        with database.read() as session:
            read = blocks.read(session)
            found, scores = search_exact(vector, read, query.k, self._distance, blocks.ties, self._device)
        return Ranked(blocks.paper_ids[found[0]], scores[0])

    def open_search(self, database: Database, searched: SearchedPapers) -> OpenSearch:
        """The vectors of the papers and the encoders of queries, in memory."""
        scope = searched.scope
        stored = self._require(database, self._list_corpus_texts(scope), scope.requested_as)
        through, folder = self._options.through, self._options.index_folder
        if through != EXACT:
            from pinakes.vectors.nearest import open_through  # imported late: Faiss

            (member,) = self._papers
            read = add_prefix(scope, member.prefix)
            nearest = open_through(
                database, folder, through, read, stored[member], self._distance, self._through
            )
            return _OpenIndex(self._queries, nearest, searched)
        blocks = CorpusBlocks(database, folder, scope, list_tables(stored, self._papers), searched.pool)
        width = next(iter(stored.values())).dimensions
        documents = np.empty((len(blocks.paper_ids), width), dtype=np.float32)
        with database.read() as session:
            for rows, vectors in blocks.read(session):
                documents[rows] = vectors
        prepared = prepare_documents(documents, self._distance, blocks.ties, self._device)
        return _OpenVectors(self._queries, prepared, blocks.paper_ids, self._device)

    def _list_texts(self, asked: Asked) -> Texts:
        """What each encoder has to have a vector of."""
        queries = asked.select_query_texts()
        of_queries = [] if queries is None else [(member, queries) for member in self._queries]
        papers = asked.select_paper_texts()
        return join_texts([*of_queries, *((member, papers) for member in self._papers)])

    def _list_corpus_texts(self, scope: CorpusScope) -> Texts:
        texts = select_corpus_texts(scope.corpus, scope.paper_template)
        return join_texts([(member, texts) for member in self._papers])

    def _encode(self, database: Database, texts: Texts, label: str, progress: Progress) -> IndexSummary:
        started = time.monotonic()
        counts = [member.encoder.encode(database, one, label, progress) for member, one in texts.items()]
        added, existing = (sum(column) for column in zip(*counts, strict=True))
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def _require_workload(self, database: Database, asked: Asked) -> Stored:
        return self._require(database, self._list_texts(asked), asked.scope.requested_as)

    def _require(self, database: Database, texts: Texts, requested_as: str) -> Stored:
        """The stored encoders, which have a vector for every text."""
        stored = {}
        command = f"pinakes index {requested_as} --system {{}} --precision {self._precision}"
        for member, one in texts.items():
            requested = command.format(self._requested_as(member))
            stored[member] = member.encoder.require(
                database, one, f"`{requested}`", self._options.index_folder
            )
        widths = {one.dimensions for one in stored.values()}
        if len(widths) > 1:
            raise RunError(
                f"{self.name}: the encoders' vectors have {sorted(widths)} dimensions; expected one."
            )
        return stored

    def _requested_as(self, member: Member) -> str:
        """What makes the vectors of a member; the member alone where it reads without a prefix."""
        if not member.prefix and not self._is_split:
            return member.encoder.requested_as
        forced = f" --format {self._options.format}" if self._options.format else ""
        return f"'{self._asked_as}'{self._options.requested}{forced}"


class _OpenVectors:
    """Papers that are compared exactly; `paper_ids` are those of the prepared vectors, ascending."""

    def __init__(self, asking: Sequence[Member], prepared: Prepared, paper_ids: Ids, device: str) -> None:
        self._asking, self._prepared, self._paper_ids, self._device = asking, prepared, paper_ids, device

    def search(self, texts: Sequence[str], k: int) -> list[Ranked]:
        queries = _embed(self._asking, texts)
        found, scores = search_prepared(queries, self._prepared, k, self._device)
        return [Ranked(self._paper_ids[rows], values) for rows, values in zip(found, scores, strict=True)]


class _OpenIndex:
    """Papers that are found through an index in memory."""

    def __init__(self, asking: Sequence[Member], nearest: "OpenNearest", searched: SearchedPapers) -> None:
        self._asking, self._nearest, self._searched = asking, nearest, searched

    def search(self, texts: Sequence[str], k: int) -> list[Ranked]:
        searched = self._searched
        return self._nearest(_embed(self._asking, texts), k, searched.pool, searched.tie_order)


def _embed(asking: Sequence[Member], texts: Sequence[str]) -> Vectors:
    """The vectors of texts (n, d); of one text as those of a search for it."""
    return mean_vectors(
        [member.encoder.embed_texts([member.prefix + text for text in texts]) for member in asking]
    )


class EnsembleSystem(DenseSystem):
    """The mean of several encoders' vectors, by a name such as `mean:specter,scincl`."""

    can: ClassVar[frozenset[Ability]] = DenseSystem.can - {"search_through"}


class FormatSystem(EnsembleSystem):
    """An encoder for each format, by a name such as `formats:CLF=minilm,PRX=mean:specter,scincl`.

    It is made for the format that asks: its run has the name, and the digest, of what decides the answers.
    """


def _split_options(options: SystemOptions) -> tuple[dict[str, str], Mapping[str, str]]:
    """The system's own options, and those of an index that is searched through."""
    if options.through == EXACT:
        return dict(options.parameters), {}
    known = {one.name for one in list_options(DenseOptions)}
    own = {name: value for name, value in options.parameters.items() if name in known}
    return own, {name: value for name, value in options.parameters.items() if name not in known}


def _choose_distance(encoders: list[EncoderSession]) -> Distance:
    """What the encoders agree on; else the cosine."""
    own = {encoder.distance for encoder in encoders}
    return own.pop() if len(own) == 1 else "cosine"
