"""Papers with signatures as the database has them: their authors, what they cite, what is said of those."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.indexers.disambiguation.signatures import SignedPaper
from pinakes.schema import author_signatures, authors, authorships, citations, cited_references, papers
from pinakes.workload.workload import Ids

_CHOSEN = sa.table("chosen_papers", sa.column("paper_id", sa.BigInteger))
_NAME_PARTS = ("first_name", "middle_name", "last_name", "name_suffix")


def read_signed_papers(session: Session, paper_ids: Ids) -> list[SignedPaper]:
    """The papers of these ids, in that order, then those among our papers that they cite.

    An author who has a signature is called as it says; only others are called as `authors` has it, where one
    name stands for a whole cluster and would tell what is to be found.
    """
    references = _fetch(session, _select_references(), paper_ids)
    cited = find_distinct(references["paper_id"].drop_null().to_numpy().astype(np.int64))
    every = np.concatenate([paper_ids, cited[~np.isin(cited, paper_ids)]])
    place = {paper_id: number for number, paper_id in enumerate(every.tolist())}
    names = _read_authors(session, every)
    lists: dict[int, list[tuple[str, int | None]]] = {}
    for citing, key, paper_id in zip(*(column.to_pylist() for column in references.columns), strict=True):
        lists.setdefault(citing, []).append((key, paper_id))
    found = {row["paper_id"]: row for row in _fetch(session, _select_papers(), every).to_pylist()}
    return [
        _make_paper(found[paper_id], names, lists.get(paper_id, []), place) for paper_id in every.tolist()
    ]


def _make_paper(
    row: dict[str, Any],
    names: dict[int, dict[int, str]],
    references: Sequence[tuple[str, int | None]],
    place: dict[int, int],
) -> SignedPaper:
    return SignedPaper(
        key=row["source_id"],
        title=row["title"],
        has_abstract=bool(row["abstract"]),
        year=row["year"],
        venue=row["venue"],
        authors=tuple(sorted(names.get(row["paper_id"], {}).items())),
        references=tuple(sorted({key for key, _ in references})),
        cited=tuple(sorted({place[paper_id] for _, paper_id in references if paper_id is not None})),
    )


def _read_authors(session: Session, paper_ids: Ids) -> dict[int, dict[int, str]]:
    """Paper -> position -> name."""
    found: dict[int, dict[int, str]] = {}
    table = author_signatures
    signed = sa.select(table.c.paper_id, table.c.position, *(table.c[part] for part in _NAME_PARTS))
    ordered = _of_chosen(signed, table).order_by(table.c.dataset, table.c.number)
    for paper_id, position, *parts in _rows(_fetch(session, ordered, paper_ids)):
        name = " ".join(part for part in parts if part)
        found.setdefault(paper_id, {}).setdefault(position, name)
    unsigned = sa.select(authorships.c.paper_id, authorships.c.position, authors.c.name).join(
        authors, authors.c.author_id == authorships.c.author_id
    )
    others = _of_chosen(unsigned, authorships).where(authors.c.source_id.like("name:%"))
    for paper_id, position, name in _rows(_fetch(session, others, paper_ids)):
        found.setdefault(paper_id, {}).setdefault(position, name)
    return found


def _select_papers() -> sa.Select[Any]:
    names = ("paper_id", "source_id", "title", "abstract", "year", "venue")
    return _of_chosen(sa.select(*(papers.c[name] for name in names)), papers)


def _select_references() -> sa.Select[Any]:
    """Each citing paper, the key of what it cites, and the paper that this is, where we hold it."""
    citing = citations.c.citing_paper_id
    keys = sa.select(citing, cited_references.c.reference_key, cited_references.c.paper_id).distinct()
    joined = keys.join(cited_references, cited_references.c.reference_id == citations.c.reference_id)
    return joined.where(citing.in_(sa.select(_CHOSEN.c.paper_id)))


def _of_chosen(rows: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
    return rows.where(table.c.paper_id.in_(sa.select(_CHOSEN.c.paper_id)))


def _fetch(session: Session, rows: sa.Select[Any], paper_ids: Ids) -> pa.Table:
    with session.staged({_CHOSEN.name: pa.table({"paper_id": paper_ids})}):
        return session.fetch_arrow(rows)


def _rows(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
