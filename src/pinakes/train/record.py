"""Draws recorded under a name, so that one can ask in SQL what an encoder was trained on."""

from typing import Final

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.schema import (
    check_schema,
    next_id,
    training_instances,
    training_omissions,
    training_tasks,
    trainings,
)
from pinakes.train.data import Draw, DrawnTask

_WRITTEN: Final = (training_instances, training_omissions, training_tasks, trainings)
"""what is of a training, before what it is of"""


def record_draw(database: Database, name: str, draw: Draw) -> int:
    """Write a draw under a name, in place of what that name had, in one transaction; its training_id.

    Where the same draw stands under the name already, nothing is written.

    Raises:
        InputError: the name is empty.
    """
    if not name.strip():
        raise InputError("a training needs a name; found an empty one.")
    check_schema(database)
    asked = _describe(draw)
    stated = (draw.options.seed, asked, draw.digest)
    with database.begin() as session:
        found = session.first(sa.select(trainings).where(trainings.c.name == name))
        if found is not None and (found["seed"], found["asked"], found["draw_digest"]) == stated:
            return int(found["training_id"])
        training_id = (
            next_id(session, trainings.c.training_id) if found is None else int(found["training_id"])
        )
        for table in _WRITTEN:
            session.execute(sa.delete(table).where(table.c.training_id == training_id))
        _insert(session, training_id, name, asked, draw)
    database.tidy(table.name for table in _WRITTEN)
    return training_id


def _describe(draw: Draw) -> str:
    options = draw.options
    return orjson.dumps(
        {
            "tasks": draw.names,
            "held_out": options.held_out,
            "most": options.most,
            "triplets_per_query": options.triplets_per_query,
            "validation": options.validation,
        }
    ).decode()


def _insert(session: Session, training_id: int, name: str, asked: str, draw: Draw) -> None:
    row = {"training_id": training_id, "name": name, "seed": draw.options.seed, "asked": asked}
    session.execute(sa.insert(trainings).values(**row, draw_digest=draw.digest))
    for position, drawn in enumerate(draw.tasks, start=1):
        key = {"training_id": training_id, "task": drawn.task.name}
        session.execute(sa.insert(training_tasks).values(**key, position=position, **_count(drawn)))
        for reason, items in drawn.left_out.items():
            session.execute(sa.insert(training_omissions).values(**key, reason=reason, items=items))
        rows = drawn.instances
        columns = {
            "training_id": pa.array([training_id] * len(rows), pa.int32()),
            "task": pa.array([drawn.task.name] * len(rows), pa.string()),
        }
        columns |= {column: rows[column] for column in rows.column_names}
        session.insert(training_instances, pa.table(columns))


def _count(drawn: DrawnTask) -> dict[str, object]:
    task = drawn.task
    return {
        "format": task.format,
        "objective": task.objective,
        "class_count": len(task.classes),
        "text_count": len(task.texts),
        "train_count": len(task.train),
        "validation_count": len(task.validation),
    }
