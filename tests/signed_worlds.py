"""Signatures of made-up people in S2AND's published layout: who is who is known, and may be hard to tell."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.writing import write_files

_LAST = [
    "lee",
    "kim",
    "cho",
    "ono",
    "ito",
    "ruiz",
    "diaz",
    "roth",
    "vogt",
    "berg",
    "lund",
    "holm",
    "dahl",
    "moen",
]
_SUBJECTS = ["graph", "citation", "retrieval", "model", "query"]


@dataclass(frozen=True)
class SignedWorld:
    """The three files of a dataset, and the subject of each paper: people of a block have different ones."""

    signatures: dict[str, dict[str, Any]]
    clusters: dict[str, dict[str, Any]]
    papers: dict[str, dict[str, Any]]
    subjects: dict[str, int]

    def write(self, folder: Path, prefix: str = "") -> Path:
        """The folder, with the files."""
        files = {"signatures": self.signatures, "clusters": self.clusters, "papers": self.papers}
        return write_files(folder, {f"{prefix}{name}.json": content for name, content in files.items()})


def make_world(
    blocks: int = 12, *, seed: int = 3, first_paper: int = 1, told_by: str = "affiliation"
) -> SignedWorld:
    """People, three in a block, each with three to five papers.

    What tells them apart is their affiliation, or with `told_by="subject"` nothing but what they write of.
    """
    draw = random.Random(seed)
    world = SignedWorld({}, {}, {}, {})
    for block in range(blocks):
        last = _LAST[block % len(_LAST)] + "x" * (block // len(_LAST))
        for person in range(3):
            subject = (block + person) % len(_SUBJECTS)
            cluster: list[str] = []
            for _ in range(draw.randint(3, 5)):
                paper, signature = str(first_paper + len(world.papers)), str(len(world.signatures))
                cluster.append(signature)
                world.subjects[paper] = subject
                world.papers[paper] = _make_paper(paper, subject, f"Ann {last.title()}", draw)
                place = f"Town of {'xyz'[person] * 3}{last}" if told_by == "affiliation" else "Town"
                world.signatures[signature] = _make_signature(signature, paper, last, place)
            name = str(len(world.clusters) + 1)
            world.clusters[name] = {"cluster_id": name, "signature_ids": cluster, "model_version": -1}
    return world


def _make_signature(signature: str, paper: str, last: str, place: str) -> dict[str, Any]:
    about: dict[str, Any] = {
        "first": "Ann",
        "middle": None,
        "last": last.title(),
        "suffix": None,
        "position": 0,
        "email": None,
    }
    block = f"a {last}"
    about |= {"affiliations": [place], "block": block, "given_block": block}
    return {"signature_id": signature, "paper_id": int(paper), "author_info": about}


def _make_paper(paper: str, subject: int, author: str, draw: random.Random) -> dict[str, Any]:
    return {
        "paper_id": int(paper),
        "title": f"{_SUBJECTS[subject]} {draw.choice(_SUBJECTS)}",
        "abstract": "the " + " ".join(draw.choices(_SUBJECTS, k=4)),
        "year": draw.randint(2000, 2020),
        "venue": draw.choice(["A", "B"]),
        "journal_name": "",
        "authors": [
            {"position": 0, "author_name": author},
            {"position": 1, "author_name": draw.choice(["Bo Ek", "Cy Ut"])},
        ],
        "references": draw.sample([1, 2, 3, 10_001, 10_002], k=2),
    }
