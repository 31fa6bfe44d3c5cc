"""What a removal and a collection of garbage have to say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed, or would be.

    Attributes:
        what: in words, as `corpus scifact`.
        deleted: table -> rows that are gone, in the order of the tables' names.
        cleared: table -> rows that named a removed row and name none now.
        runs: the ids of the runs that went with it.
    """

    what: str
    deleted: dict[str, int]
    cleared: dict[str, int]
    runs: list[int]


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was removed, or would be.

    Attributes:
        rows: what -> how many rows.
        folders: folder, relative to the index folder -> its size in bytes.
        left: what was not looked at, or stays, and why: sentences.
    """

    rows: dict[str, int]
    folders: dict[str, int]
    left: list[str]
