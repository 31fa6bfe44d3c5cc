"""Building a sparse BM25 index: documents or term ids in, the files of `files` out.

One pass, block by block: memory holds the vocabulary, a few numbers a document and one block a thread, at
any corpus size. Neither k1, b nor a formula is part of an index; the statistics of another collection, which
its terms are to be weighed by, are.
"""

from array import array
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import Analysis, named_analysis
from pinakes.indexers.lexical import BuiltIndex, Progress, distinct_ids
from pinakes.indexers.side_folder import whole_folder, write_parameters
from pinakes.indexers.sparse_bm25.ahead import map_ahead
from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, TermIds, TextBlock, analyse_documents
from pinakes.indexers.sparse_bm25.files import GrowingArray, write_vocabulary
from pinakes.indexers.sparse_bm25.inversion import Block, Frequencies, invert_block
from pinakes.indexers.sparse_bm25.weights import write_collection
from pinakes.indexers.term_statistics import TermStatistics

KIND: Final = "sparse_bm25"
DEFAULT_ANALYSIS: Final = "lucene"
BLOCK_ROWS: Final = 2048
MOST_BLOCK_ROWS: Final = 1 << 16  # a document's number in its block is a uint16
LARGEST_COUNT: Final = (1 << 16) - 1  # so is a term's frequency

FILES: Final = {
    "run_terms": np.int32,
    "run_starts": np.uint32,
    "documents": np.uint16,
    "counts": np.uint16,
    "lengths": np.int32,
    "paper_ids": np.int64,
}
"""the arrays that grow with every block"""


def build_sparse_bm25(
    folder: Path,
    documents: Iterable[TextBlock],
    *,
    analysis: Analysis | None = None,
    statistics: TermStatistics | None = None,
    block_rows: int = BLOCK_ROWS,
    threads: int = 1,
    progress: Progress | None = None,
) -> BuiltIndex:
    """A BM25 index of the texts in `folder`, whole or not there at all; a folder there is replaced.

    No text, or one without a term, is a document of length 0. `statistics` are another collection's N, df
    and mean length, counted with the same analysis, to weigh terms by; None: the documents' own. The index
    is the same at any number of threads. Raises IndexingError for a paper id given twice, or a term that one
    document has more than 65,535 times.
    """
    analysis = analysis or named_analysis(DEFAULT_ANALYSIS)
    vocabulary = GrowingVocabulary()
    parts = analyse_documents(documents, analysis, vocabulary, block_rows, progress, threads)
    return write_sparse_bm25(
        folder,
        parts,
        vocabulary,
        analysis=analysis,
        statistics=statistics,
        block_rows=block_rows,
        threads=threads,
    )


def write_sparse_bm25(
    folder: Path,
    blocks: Iterable[TermIds],
    vocabulary: GrowingVocabulary,
    *,
    analysis: Analysis | None = None,
    statistics: TermStatistics | None = None,
    block_rows: int = BLOCK_ROWS,
    threads: int = 1,
) -> BuiltIndex:
    """`build_sparse_bm25` for documents that are term ids already: `block_rows` in each block but the last.

    The vocabulary may grow while the blocks are read. `analysis` is what a query's text will be read by, and
    should be what made the ids.
    """
    if not 1 <= block_rows <= MOST_BLOCK_ROWS:
        raise IndexingError(f"blocks of {block_rows} documents; expected 1 to {MOST_BLOCK_ROWS}")
    analysis = analysis or named_analysis(DEFAULT_ANALYSIS)
    with whole_folder(folder) as building:
        row_count = _write(building, map_ahead(invert_block, blocks, threads), vocabulary)
        terms = list(vocabulary)
        write_vocabulary(building, terms)
        saved = {
            "kind": KIND,
            "row_count": row_count,
            "block_rows": block_rows,
            "analysis": analysis.to_json(),
        }
        if statistics is not None:
            saved["statistics"] = write_collection(building, statistics, terms)
        write_parameters(building, saved)
    return BuiltIndex(row_count, {"document_length": "exact", "analysis": analysis.parameters()})


def _write(folder: Path, blocks: Iterable[Block], vocabulary: GrowingVocabulary) -> int:
    """Write the blocks; how many documents there were."""
    frequencies = Frequencies()
    paper_ids, runs, postings = array("q"), array("q", [0]), array("q", [0])
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(GrowingArray(folder / f"{name}.npy", dtype))
            for name, dtype in FILES.items()
        }
        for block in blocks:
            _check_counts(block.arrays["counts"])
            for name, values in block.arrays.items():
                files[name].append(values)
            frequencies.add(block)
            paper_ids.frombytes(block.arrays["paper_ids"].tobytes())
            runs.append(files["run_terms"].length)
            postings.append(files["documents"].length)
    distinct_ids(paper_ids)
    np.save(folder / "frequencies.npy", frequencies.of_terms(len(vocabulary)))
    np.save(folder / "block_runs.npy", np.array(runs, np.int64))
    np.save(folder / "block_postings.npy", np.array(postings, np.int64))
    return len(paper_ids)


def _check_counts(counts: NDArray[np.int32]) -> None:
    largest = counts.max(initial=0)
    if largest > LARGEST_COUNT:
        raise IndexingError(
            f"a document has a term {largest} times; expected at most {LARGEST_COUNT}. Cut the text"
        )
