"""Papers and mentions that a release takes back."""

from typing import Final

import numpy as np
import pyarrow as pa

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.loaders.merge.context import Fates, MergeContext, number_rows, read_statement

_KINDS: Final = ("papers", "citations")


def delete(session: Session, rows: pa.Table, context: MergeContext, fates: Fates) -> None:
    """Delete what the rows name and the corpus holds; what it does not hold is no error.

    With a paper goes all that hangs on it or names it, but not the stored runs: a hit is what was found then.
    """
    for kind in _KINDS:
        of_kind = rows.filter(pa.array(np.array(rows["kind"].to_pylist()) == kind))
        if of_kind.num_rows:
            _delete_kind(session, kind, of_kind, context, fates)


def _delete_kind(session: Session, kind: str, rows: pa.Table, context: MergeContext, fates: Fates) -> None:
    position = pa.array(np.arange(rows.num_rows))
    with session.staged({"staged_deletions": rows.append_column("position", position)}):
        statement = read_statement("deletions.sql", f"find_{kind}")
        found = session.fetch_arrow(statement, {"corpus_id": context.corpus_id})
        numbers = number_rows(rows)
        fates.known.append(numbers)
        fates.changed.append(numbers[np.unique(found["position"].to_numpy())])
        if not found.num_rows:
            return
        with session.staged({"staged_ids": found.select(["id"])}):
            for name, block in read_blocks("pinakes.loaders.merge", "sql", "deletions.sql").items():
                if name.startswith(f"{kind}."):
                    session.execute(block)
