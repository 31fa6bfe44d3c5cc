"""The identifiers of papers, as rows and as columns. Leaves out: what each release calls them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pinakes.loaders.reading.columns import build_table, normalise_identifiers
from pinakes.loaders.reading.rows import normalise_identifier


def list_identifiers(source_id: str, identifiers: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The rows of a paper's identifiers, scheme -> id, in one spelling; those that are empty left out.

    >>> list_identifiers("7", {"doi": "doi:10.1/A", "acl": None})
    [{'source_id': '7', 'scheme': 'doi', 'identifier': '10.1/a'}]
    """
    normal = {scheme: value and normalise_identifier(scheme, value) for scheme, value in identifiers.items()}
    return [
        {"source_id": source_id, "scheme": scheme, "identifier": value}
        for scheme, value in normal.items()
        if value
    ]


def project_identifiers(identifiers: Mapping[str, pa.Array], ids: pa.Array, numbers: pa.Array) -> pa.Table:
    """`list_identifiers` of each paper: scheme -> a column of cleaned ids, or nulls."""
    tables = []
    for scheme, column in identifiers.items():
        values = normalise_identifiers(scheme, column)
        held = values.is_valid()
        columns = {
            "row_number": numbers.filter(held),
            "source_id": ids.filter(held),
            "scheme": pa.scalar(scheme),
            "identifier": values.drop_null(),
        }
        tables.append(build_table("identifiers", columns))
    table = pa.concat_tables(tables).combine_chunks()
    return table.take(pa.array(np.argsort(table["row_number"].to_numpy(), kind="stable")))
