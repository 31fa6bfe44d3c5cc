"""TF-IDF cosine over a sparse matrix in a folder: documents in, rankings and pool scores out.

Weights are scikit-learn's: tf is 1 + ln(count) (the count itself where `sublinear_tf` is off), idf is
ln((1 + N) / (1 + df)) + 1, each document and query has Euclidean length 1, so that a score is a cosine.
N and df are of the documents, or of another collection. The terms of a query, or then of a document, that no
document of that collection holds are outside the vocabulary and do not lengthen it.
Stemming and sublinear tf each raised nDCG on CSFCube, SciFact and Cranfield, hence the defaults;
`named_analysis("words")` without sublinear tf is nearer to what papers report as "tf-idf".
"""

import json
from array import array
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

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
)
from pinakes.indexers.self_retrieval.space import SparseRows
from pinakes.indexers.side_folder import read_parameters, whole_folder, write_parameters
from pinakes.indexers.term_statistics import TermStatistics

KIND: Final = "tfidf"
MATRIX_FILE: Final = "matrix.npz"
VOCABULARY_FILE: Final = "vocabulary.json"


def build_tfidf(
    folder: Path,
    documents: Documents,
    fields: Sequence[str] = ("text",),
    *,
    sublinear_tf: bool = True,
    analysis: Analysis | None = None,
    statistics: TermStatistics | None = None,
    progress: Progress | None = None,
) -> BuiltIndex:
    """A TF-IDF index in `folder`, whole or not there at all; a folder of that name is replaced.

    A document's text is its `fields` in this order, joined by a space. The matrix is held in memory.
    `statistics` are another collection's N and df, counted with the same analysis; None: the documents' own.
    Raises IndexingError for a paper id given twice or if no document has a term.
    """
    analysis = analysis or english_analysis()
    paper_ids = array("q")
    read = read_documents(documents, fields, paper_ids, progress)
    texts = (" ".join(texts) for _, texts in read)
    try:
        if statistics is None:
            vectorizer = make_vectorizer(analysis, sublinear_tf, None)
            matrix = vectorizer.fit_transform(texts).tocsc()
        else:
            vectorizer = _weigh_by(statistics, analysis, sublinear_tf)
            matrix = vectorizer.transform(texts).tocsc()
    except ValueError as problem:
        raise IndexingError(
            f"{len(paper_ids)} documents gave no TF-IDF matrix ({problem}); check that their texts are loaded"
        ) from problem
    matrix.sort_indices()
    ids = distinct_ids(paper_ids)
    arrays = {"paper_ids": ids, "idf": vectorizer.idf_}
    arrays |= {"starts": matrix.indptr, "rows": matrix.indices, "weights": matrix.data}
    with whole_folder(folder) as building:
        np.savez(building / MATRIX_FILE, allow_pickle=False, **arrays)
        vocabulary = json.dumps(vectorizer.get_feature_names_out().tolist(), ensure_ascii=False)
        (building / VOCABULARY_FILE).write_text(vocabulary, encoding="utf-8")
        saved = {"kind": KIND, "sublinear_tf": sublinear_tf, "analysis": analysis.to_json()}
        write_parameters(building, saved)
    return BuiltIndex(len(ids), _parameters(fields, sublinear_tf, analysis))


class TfidfIndex:
    """A TF-IDF index that was built, in memory; every method may be called from several threads at once."""

    def __init__(self, arrays: dict[str, NDArray[Any]], vectorizer: Any) -> None:
        self._paper_ids: Ids = arrays["paper_ids"]
        self._starts, self._rows, self._weights = arrays["starts"], arrays["rows"], arrays["weights"]
        self._vectorizer = vectorizer
        self._by_id = np.argsort(self._paper_ids)
        self._sorted_ids = self._paper_ids[self._by_id]

    @classmethod
    def open(cls, folder: Path) -> "TfidfIndex":
        """The index that `build_tfidf` made in `folder`; IndexingError if there is none that is whole."""
        saved = read_parameters(folder, KIND)
        try:
            with (folder / MATRIX_FILE).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in ("paper_ids", "idf", "starts", "rows", "weights")}
            vocabulary = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, BadZipFile) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem
        vectorizer = make_vectorizer(Analysis.from_json(saved["analysis"]), saved["sublinear_tf"], vocabulary)
        vectorizer.idf_ = arrays["idf"]
        return cls(arrays, vectorizer)

    @property
    def row_count(self) -> int:
        """How many documents the index holds, those without a term included."""
        return len(self._paper_ids)

    def search(self, query_text: str, k: int, *, tie_order: TieOrder = by_paper_id) -> Ranked:
        """The best `k` papers that share a term with the text, cosine descending, ties by `tie_order`.

        Fewer than `k` where fewer match; none for a text without a term of the vocabulary.
        """
        check_k(k)
        scores = self._scores(query_text)
        matched = np.flatnonzero(scores)
        return select_top(self._paper_ids[matched], scores[matched], k, tie_order)

    def search_many(
        self, query_texts: Sequence[str], k: int, *, tie_order: TieOrder = by_paper_id
    ) -> list[Ranked]:
        """What `search` gives for each text."""
        return [self.search(text, k, tie_order=tie_order) for text in query_texts]

    def score_pool(self, query_text: str, paper_ids: Ids) -> Scores:
        """The cosine of each given paper, float32, in their order; 0 for a paper that shares no term.

        Raises IndexingError for a paper that is not in the index: nothing is dropped.
        """
        pool = np.asarray(paper_ids, dtype=np.int64)
        places = positions_of(pool, self._sorted_ids, "the TF-IDF index")
        return self._scores(query_text)[self._by_id[places]]

    def weigh(self, texts: Sequence[str]) -> SparseRows:
        """The weighted terms of texts, each of length 1; the product of two rows is a score."""
        rows = self._vectorizer.transform(map(well_formed, texts))
        rows.sort_indices()
        starts, terms = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        return SparseRows(starts, terms, rows.data.astype(np.float64))

    def _scores(self, text: str) -> Scores:
        query = self._vectorizer.transform([well_formed(text)])
        query.sort_indices()
        # Summed in float64, term by term in the vocabulary's order: no library's order of summation shows.
        scores = np.zeros(self.row_count, dtype=np.float64)
        for term, weight in zip(query.indices, query.data, strict=True):
            held = slice(self._starts[term], self._starts[term + 1])
            scores[self._rows[held]] += np.float64(weight) * self._weights[held]
        return scores.astype(np.float32)


def make_vectorizer(analysis: Analysis, sublinear_tf: bool, vocabulary: list[str] | None) -> Any:
    """scikit-learn's vectorizer with the weights that are said above; None: it is to learn its vocabulary."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # imported late: it takes a second

    return TfidfVectorizer(
        analyzer=analysis.build().analyze,
        vocabulary=vocabulary,
        sublinear_tf=sublinear_tf,
        smooth_idf=True,
        use_idf=True,
        norm="l2",
        dtype=np.float32,
    )


def _weigh_by(statistics: TermStatistics, analysis: Analysis, sublinear_tf: bool) -> Any:
    """A vectorizer as it would be after it was fitted on the collection, to the bit."""
    terms = sorted(statistics.places)
    if not terms:
        raise IndexingError(
            f"the {statistics.row_count} texts to count terms in have none; check that they are loaded"
        )
    vectorizer = make_vectorizer(analysis, sublinear_tf, terms)
    total = np.float32(1 + statistics.row_count)
    vectorizer.idf_ = np.log(total / (statistics.look_up(terms).astype(np.float32) + 1)) + 1
    return vectorizer


def _parameters(fields: Sequence[str], sublinear_tf: bool, analysis: Analysis) -> dict[str, Any]:
    return {
        "fields": list(fields),
        "sublinear_tf": sublinear_tf,
        "smooth_idf": True,
        "norm": "l2",
        "ngram_range": [1, 1],
        "min_df": 1,
        "max_df": 1.0,
        "dtype": "float32",
        "analysis": analysis.parameters(),
        "library": f"scikit-learn {version('scikit-learn')}",
    }
