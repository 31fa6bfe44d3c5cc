"""BM25 over a tantivy index in a folder: documents in, rankings and pool scores out.

The score is Lucene's: the sum over the query's terms (a repeated term counts each time) and fields of
weight * ln(1 + (N - df + 0.5) / (df + 0.5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl)), with
k1 1.2 and b 0.75, which tantivy has compiled in. N, df and avgdl are of the whole index, each field by
itself; a document without the field counts in N with length 0. The trap: dl is the length in one byte as
Lucene keeps it, exact to 40 terms and then rounded down (41 to 40, 100 to 96), while avgdl is exact.
"""

import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import tantivy

from pinakes.distinct import find_distinct
from pinakes.errors import IndexingError
from pinakes.indexers.analysis import Analysis, english_analysis, well_formed
from pinakes.indexers.lexical import (
    BuiltIndex,
    Documents,
    Ids,
    Progress,
    Ranked,
    Scores,
    TieOrder,
    by_paper_id,
    check_k,
    distinct_ids,
    positions_of,
    read_documents,
    select_top,
    unknown_papers,
)
from pinakes.indexers.side_folder import LOCK_SUFFIX, read_parameters, whole_folder, write_parameters
from pinakes.kept_threads import run_in_threads

KIND: Final = "bm25"
ID_FIELD: Final = "paper_id"
ANALYSER: Final = "pinakes"
HEAP_BYTES: Final = 256_000_000
TIES_REQUESTED_FOR: Final = 16
WHOLE_SCAN_SHARE: Final = 8


def build_bm25(
    folder: Path,
    documents: Documents,
    fields: Sequence[str] = ("text",),
    *,
    weights: Mapping[str, float] | None = None,
    analysis: Analysis | None = None,
    heap_bytes: int = HEAP_BYTES,
    progress: Progress | None = None,
) -> BuiltIndex:
    """A BM25 index in `folder`, whole or not there at all; a folder of that name is replaced.

    A document's score is the sum over `fields`, each times its weight (1 where none is given); the caller
    says what a field holds, and fields may overlap: one field of title and abstract is the plain choice, a
    further field of the title alone with weight 0.25 ranked better on SciFact and Cranfield. Memory stays
    near `heap_bytes` at any corpus size. Raises IndexingError for a paper id given twice, an unknown field,
    or a heap that tantivy refuses.
    """
    weighted = _weighted_fields(fields, weights or {})
    analysis = analysis or english_analysis()
    with whole_folder(folder) as building:
        index = _create(building, list(weighted), analysis)
        try:
            # One thread: the order of the documents in the index is then that of the corpus.
            writer = index.writer(heap_size=heap_bytes, num_threads=1)
        except ValueError as problem:
            raise IndexingError(f"tantivy refused a heap of {heap_bytes} bytes: {problem}") from problem
        row_count = _write(writer, documents, list(weighted), progress)
        saved = {"kind": KIND, "row_count": row_count, "fields": weighted, "analysis": analysis.to_json()}
        write_parameters(building, saved)
    return BuiltIndex(row_count, _parameters(weighted, analysis))


class Bm25Index:
    """A BM25 index that was built; every method may be called from several threads at once."""

    def __init__(self, index: tantivy.Index, weights: Mapping[str, float], analysis: Analysis) -> None:
        self._schema = index.schema
        self._searcher = index.searcher()
        self._weights = dict(weights)
        self._analyser = analysis.build()

    @classmethod
    def open(cls, folder: Path) -> "Bm25Index":
        """The index that `build_bm25` made in `folder`; IndexingError if there is none that is whole."""
        saved = read_parameters(folder, KIND)
        try:
            index = _open_files(folder)
        except ValueError as problem:
            raise IndexingError(f"tantivy cannot read {folder}: {problem}; build it again") from problem
        opened = cls(index, saved["fields"], Analysis.from_json(saved["analysis"]))
        if opened.row_count != saved["row_count"]:
            raise IndexingError(
                f"{folder} holds {opened.row_count} documents, but {saved['row_count']} were indexed;"
                " build it again"
            )
        return opened

    @property
    def row_count(self) -> int:
        """How many documents the index holds, those without a term included."""
        return int(self._searcher.num_docs)

    @property
    def segment_count(self) -> int:
        """In how many segments tantivy keeps the documents; no score depends on it."""
        return int(self._searcher.num_segments)

    def search(self, query_text: str, k: int, *, tie_order: TieOrder = by_paper_id) -> Ranked:
        """The best `k` papers that share a term with the free text, score descending, ties by `tie_order`.

        Fewer than `k` where fewer match; none for a text without a term. No character has a meaning of its
        own (`AND`, quotes and colons are text). All papers tied at rank `k` are weighed, not the first found.
        """
        check_k(k)
        clauses = self._clauses(query_text)
        if not clauses or not self.row_count:
            return Ranked(np.empty(0, np.int64), np.empty(0, np.float32))
        query = tantivy.Query.boolean_query(clauses)
        limit = k + TIES_REQUESTED_FOR
        found = self._run(query, limit)
        while len(found.scores) >= limit and found.scores[-1] >= found.scores[k - 1]:
            limit *= 4
            found = self._run(query, limit)
        return select_top(found.paper_ids, found.scores, k, tie_order)

    def search_many(
        self, query_texts: Sequence[str], k: int, *, tie_order: TieOrder = by_paper_id
    ) -> list[Ranked]:
        """What `search` gives for each text, with a thread a core; `tie_order` is asked by all of them."""

        tasks = [partial(self.search, text, k, tie_order=tie_order) for text in query_texts]
        return [tasks[0]()] if len(tasks) == 1 else run_in_threads(tasks, os.cpu_count() or 1)

    def score_pool(self, query_text: str, paper_ids: Ids) -> Scores:
        """The score of each given paper, float32, in their order; 0 for a paper that shares no term.

        The same numbers as `search` gives, with the statistics of the whole index. Raises IndexingError for
        a paper that is not in the index: nothing is dropped.
        """
        pool = np.asarray(paper_ids, dtype=np.int64)
        wanted = find_distinct(pool)
        if not len(wanted):
            return np.empty(0, np.float32)
        members = self._members(wanted)
        clauses = [(tantivy.Occur.Must, tantivy.Query.const_score_query(members, 0.0))]
        if scored := self._clauses(query_text):
            clauses.append((tantivy.Occur.Should, tantivy.Query.boolean_query(scored)))
        found = self._run(tantivy.Query.boolean_query(clauses), self.row_count)
        by_id = np.argsort(found.paper_ids)
        held = found.paper_ids[by_id]
        missing = np.setdiff1d(wanted, held, assume_unique=True)
        if len(missing):
            raise unknown_papers(missing, "the BM25 index")
        scores: Scores = found.scores[by_id][positions_of(pool, held, "the BM25 index")]
        return scores

    def _members(self, wanted: Ids) -> tantivy.Query:
        if len(wanted) * WHOLE_SCAN_SHARE >= self.row_count:
            return tantivy.Query.all_query()
        return tantivy.Query.term_set_query(self._schema, ID_FIELD, wanted.tolist())

    def _clauses(self, text: str) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        counts = Counter(self._analyser.analyze(well_formed(text)))
        return [
            (tantivy.Occur.Should, self._term(field, term, weight * count))
            for field, weight in self._weights.items()
            for term, count in sorted(counts.items())
        ]

    def _term(self, field: str, term: str, boost: float) -> tantivy.Query:
        query = tantivy.Query.term_query(self._schema, field, term, index_option="freq")
        return query if boost == 1 else tantivy.Query.boost_query(query, boost)

    def _run(self, query: tantivy.Query, limit: int) -> Ranked:
        hits = self._searcher.search(query, limit=max(1, min(limit, self.row_count)), count=False).hits
        addresses = [address for _, address in hits]
        paper_ids = self._searcher.fast_field_values(ID_FIELD, addresses)
        scores = np.fromiter((score for score, _ in hits), np.float32, len(hits))
        return Ranked(np.asarray(paper_ids, dtype=np.int64), scores)


def _open_files(folder: Path) -> tantivy.Index:
    """The index in a folder, where this user may write no file, too."""
    try:
        return tantivy.Index.open(str(folder))
    except ValueError as problem:
        if "Lockfile" not in str(problem):
            raise
    # tantivy makes a lock beside the files that it opens: here beside links to them, which it needs no longer
    # once it has opened them.
    with tempfile.TemporaryDirectory(prefix="pinakes-") as links:
        for path in folder.iterdir():
            if not path.name.endswith(LOCK_SUFFIX):
                (Path(links) / path.name).symlink_to(path.resolve())
        return tantivy.Index.open(links)


def _weighted_fields(fields: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    weighted = {field: float(weights.get(field, 1.0)) for field in fields}
    for field, weight in weighted.items():
        if not tantivy.SchemaBuilder.is_valid_field_name(field) or field == ID_FIELD:
            raise IndexingError(
                f"{field!r} cannot name a field; expected letters, digits and _ (not {ID_FIELD})"
            )
        if not 0 < weight < float("inf"):
            raise IndexingError(f"the weight of field {field!r} is {weight}; expected a number above 0")
    if not weighted or len(weighted) < len(fields) or not weights.keys() <= weighted.keys():
        raise IndexingError(
            f"fields {list(fields)} with weights for {sorted(weights)}: expected at least one field,"
            " each named once, and no weight without its field"
        )
    return weighted


def _create(folder: Path, fields: Sequence[str], analysis: Analysis) -> tantivy.Index:
    # Signed, since that is what a paper id is; fast, so that reading ids does not touch the document store.
    schema = tantivy.SchemaBuilder().add_integer_field(ID_FIELD, indexed=True, fast=True)
    for field in fields:
        schema = schema.add_text_field(field, tokenizer_name=ANALYSER, index_option="freq")
    index = tantivy.Index(schema.build(), path=str(folder))
    index.register_tokenizer(ANALYSER, analysis.build())
    return index


def _write(
    writer: tantivy.IndexWriter, documents: Documents, fields: Sequence[str], progress: Progress | None
) -> int:
    paper_ids = array("q")
    try:
        for paper_id, texts in read_documents(documents, fields, paper_ids, progress):
            document = tantivy.Document()
            document.add_integer(ID_FIELD, paper_id)
            for field, text in zip(fields, texts, strict=True):
                document.add_text(field, text)
            writer.add_document(document)
        distinct_ids(paper_ids)
        writer.commit()
    finally:
        # Joins tantivy's own threads: else they go on writing into a folder that is being removed.
        writer.wait_merging_threads()
    return len(paper_ids)


def _parameters(weights: Mapping[str, float], analysis: Analysis) -> dict[str, Any]:
    return {
        "formula": "Lucene BM25",
        "k1": 1.2,
        "b": 0.75,
        "document_length": "one byte, as Lucene's SmallFloat",
        "field_weights": dict(weights),
        "analysis": analysis.parameters(),
        "library": f"tantivy {version('tantivy')}",
    }
