"""What the syntax tree of a SELECT says: whether it is plain, and which of its names may be mistaken."""

from collections.abc import Iterator
from typing import Any, Final

from pinakes.loaders.mapped.sandbox import walk

RECORD: Final = "_record"
"""The column of `input` that holds the record's number in its file."""
ROW: Final = "_row"
"""The column of a result that holds the number of the record that a row comes from."""
_NOT_PLAIN: Final = frozenset({"SUBQUERY", "WINDOW", "STAR"})


def carry_record(node: dict[str, Any]) -> bool:
    """Whether a SELECT is plain; if so, the record's number is now the last of its columns."""
    others = ("modifiers", "group_expressions", "group_sets", "having", "sample", "qualify")
    source = node.get("from_table", {})
    if (
        node["type"] != "SELECT_NODE"
        or any(node[key] for key in others)
        or node["cte_map"]["map"]
        or node["aggregate_handling"] != "STANDARD_HANDLING"
        or source["sample"]
        or any(
            isinstance(part, dict) and part.get("class") in _NOT_PLAIN
            for part in walk([node["select_list"], node["where_clause"]])
        )
    ):
        return False
    if source["type"] == "SUBQUERY":
        if not carry_record(source["subquery"]["node"]):
            return False
    elif (
        source["type"] != "BASE_TABLE"
        or source["qualified_name"]["path"] != ["input"]
        or source["column_name_alias"]
    ):
        return False
    column = RECORD if source["type"] == "BASE_TABLE" else ROW
    node["select_list"].append(
        {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": ROW, "column_names": [column]}
    )
    return True


def find_shadowed(node: dict[str, Any]) -> Iterator[str]:
    """The names without a table in a SELECT from `input` that an earlier one of its columns has."""
    if node.get("type") != "SELECT_NODE" or node["from_table"]["type"] != "BASE_TABLE":
        return
    made: set[str] = set()
    for item in node["select_list"]:
        parts = [part for part in walk(item) if isinstance(part, dict) and part.get("class") == "COLUMN_REF"]
        yield from (name for part in parts if (name := part["column_names"][0]).lower() in made)
        if item["alias"] and item.get("column_names", [""])[-1].lower() != item["alias"].lower():
            made.add(item["alias"].lower())
