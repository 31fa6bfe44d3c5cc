"""How much of a paper's text an alteration changes: the edit distance over the longer of the two texts."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.workload.altered_texts import Form, select_texts

TEMPLATE: Final = "title_abstract"
"""what is compared, whatever a system reads"""


def measure_changes(database: Database, form: Form, originals: Mapping[int, str]) -> NDArray[np.float64]:
    """The share of the characters of each text of a form that were changed (m,), from 0 to 1: Levenshtein's.

    `originals` are the texts of the papers, as `read_texts` gives them.
    """
    altered = read_texts(database, form)
    papers = form.paper_ids.tolist()
    return measure_distances([altered[paper] for paper in papers], [originals[paper] for paper in papers])


def read_texts(database: Database, form: Form) -> dict[int, str]:
    """The text of each paper of a form, by its id: title and abstract as they stand."""
    with database.read() as session:
        found = session.fetch_arrow(select_texts(form.benchmark, form.code, TEMPLATE).order_by(None))
    texts = dict(zip(found["paper_id"].to_pylist(), found["text"].to_pylist(), strict=True))
    if not texts.keys() >= set(form.paper_ids.tolist()):
        raise RunError("the database changed while its texts were read; start again.")
    return texts


def measure_distances(altered: list[str], originals: list[str]) -> NDArray[np.float64]:
    """Levenshtein's distance of each pair, over the length of the longer; 0 of two empty texts.

    >>> measure_distances(["abcd", ""], ["abxd", ""]).tolist()
    [0.25, 0.0]
    """
    from rapidfuzz.distance import Levenshtein  # imported late, as all that one task alone needs
    from rapidfuzz.process import cpdist

    found = cpdist(altered, originals, scorer=Levenshtein.distance, dtype=np.int32, workers=-1)
    longer = np.array(
        [max(map(len, pair)) for pair in zip(altered, originals, strict=True)], dtype=np.float64
    )
    shares: NDArray[np.float64] = found / np.maximum(longer, 1)
    return shares
