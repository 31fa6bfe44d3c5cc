"""MeSH headings as fields of a paper: what it is about, and what of this is a major topic."""

from collections.abc import Iterable

from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.rows import Row, list_fields

Part = tuple[str | None, bool]
"""the name of a descriptor or of a qualifier, and whether it is marked as a major topic"""


def list_mesh(source_id: str, headings: Iterable[list[Part]]) -> list[Row]:
    """The rows of headings, each a descriptor and its qualifiers, as in a search for `[mh]` and `[majr]`.

    "Asthma" and "Asthma/drug therapy" are assigned by `mesh`; what is a major topic also by `mesh_major`, a
    descriptor also where one of its qualifiers is. A heading without a descriptor is noted as left out.
    """
    topics: list[str] = []
    majors: list[str] = []
    for (descriptor, is_major), *qualifiers in headings:
        if descriptor is None:
            leave_out("fields", "no_value", 1 + len(qualifiers))
            continue
        marked = {descriptor: is_major or any(marked for _, marked in qualifiers)}
        marked |= {f"{descriptor}/{name}": is_marked for name, is_marked in qualifiers}
        topics += marked
        majors += [name for name, is_marked in marked.items() if is_marked]
    return list_fields(source_id, topics, "mesh") + list_fields(source_id, majors, "mesh_major")


def split_heading(text: str) -> list[Part]:
    """The parts of a heading that is printed in one line, with an asterisk before what is a major topic.

    >>> split_heading("Asthma/*drug therapy/genetics"), split_heading("*Enzymes")
    ([('Asthma', False), ('drug therapy', True), ('genetics', False)], [('Enzymes', True)])
    """
    parts = (part.strip() for part in text.split("/"))
    found: list[Part] = [(part.lstrip("*").strip() or None, part.startswith("*")) for part in parts]
    return [found[0], *(part for part in found[1:] if part[0])]
