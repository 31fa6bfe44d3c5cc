"""What was drawn as rows of `training_instances`."""

from typing import Final

import pyarrow as pa

from pinakes.train.data import TRAIN, VALIDATION

SIDES: Final = (TRAIN, VALIDATION)
COLUMNS: Final = {
    "side": pa.string(),
    "position": pa.int64(),
    "corpus_id": pa.int32(),
    "query_id": pa.string(),
    "query_paper_id": pa.int64(),
    "positive_paper_id": pa.int64(),
    "negative_paper_id": pa.int64(),
    "label": pa.string(),
    "value": pa.float64(),
}


def list_instances(drawn: pa.Table, **columns: pa.ChunkedArray | pa.Array) -> pa.Table:
    """The rows of a draw, with the columns that it has and nulls for the others."""
    given = {"side": drawn["side"], "position": drawn["position"], **columns}
    filled = {
        name: given[name].cast(type_) if name in given else pa.nulls(len(drawn), type_)
        for name, type_ in COLUMNS.items()
    }
    return pa.table(filled)
