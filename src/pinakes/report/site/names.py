"""What pages are called: file names that no query and no system can choose, and links between pages."""

import hashlib
import re
from typing import Final
from urllib.parse import quote

_PLAIN: Final = re.compile(r"(?!.*--)[a-z0-9][a-z0-9_-]{0,59}")
_HASHED: Final = re.compile(r"(.*-)?[0-9a-f]{20}")
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")
_LONGEST: Final = 40


def make_file_name(name: str) -> str:
    """A file name without an ending: the name itself where it is plain and small, else with a digest behind.

    Two names never share a file, also where a disk does not tell A from a; and no name looks like another's
    with its digest.

    >>> make_file_name("10695055_background"), make_file_name("../A b")
    ('10695055_background', 'a-b-e3f8e011e476be6bf1cf')
    """
    is_plain = _PLAIN.fullmatch(name) and not _HASHED.fullmatch(name) and not _DEVICES.fullmatch(name)
    if is_plain:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{words}-{digest}" if words else digest


def name_pair(one: str, other: str) -> str:
    """The file name of a pair of systems, in whichever order they are given.

    >>> name_pair("tfidf", "bm25") == name_pair("bm25", "tfidf")
    True
    """
    return "--".join(make_file_name(name) for name in sorted((one, other)))


def name_page(stem: str, number: int) -> str:
    """The file of a page of several, from 1.

    >>> name_page("queries", 1), name_page("queries", 3)
    ('queries.html', 'queries-3.html')
    """
    return f"{stem}.html" if number == 1 else f"{stem}-{number}.html"


_ADDRESSES: Final = {
    "doi": ("DOI", "https://doi.org/", re.compile(r"10\.\d{3,9}/\S{1,200}")),
    "arxiv": ("arXiv", "https://arxiv.org/abs/", re.compile(r"[A-Za-z.-]{0,20}/?[\d.]{4,12}(v\d+)?")),
    "acl": ("ACL", "https://aclanthology.org/", re.compile(r"[A-Za-z0-9.-]{4,60}")),
    "s2": ("S2", "https://www.semanticscholar.org/paper/", re.compile(r"[0-9a-f]{40}")),
    "corpusid": ("S2", "https://api.semanticscholar.org/CorpusID:", re.compile(r"\d{1,12}")),
    "pubmed": ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/", re.compile(r"\d{1,9}")),
    "pmc": ("PMC", "https://www.ncbi.nlm.nih.gov/pmc/articles/", re.compile(r"PMC\d{1,10}")),
}
"""scheme of `paper_identifiers` -> what a link is called, where it leads, and what an id looks like"""
SCHEMES: Final = tuple(scheme for scheme in _ADDRESSES if scheme != "corpusid")


def list_links(identifiers: str) -> list[tuple[str, str]]:
    """The links of a paper, as a name and an address, the best first; ids that are none give no link.

    `identifiers` are lines of a scheme, a blank and an id, in any order.

    >>> list_links("arxiv 1706.03762\\ndoi 10.1/a<b>")
    [('arXiv', 'https://arxiv.org/abs/1706.03762')]
    >>> list_links("s2 13756489\\ndoi 10.1000/a<b>")
    [('DOI', 'https://doi.org/10.1000/a%3Cb%3E'), ('S2', 'https://api.semanticscholar.org/CorpusID:13756489')]
    """
    found: dict[str, str] = {}
    for line in sorted(identifiers.splitlines()):
        scheme, _, identifier = line.partition(" ")
        if scheme == "s2" and identifier.isdecimal():
            scheme = "corpusid"
        if scheme in _ADDRESSES and _ADDRESSES[scheme][2].fullmatch(identifier):
            found.setdefault(scheme, identifier)
    return [
        (name, address + quote(found[scheme], safe="/.:()-_"))
        for scheme, (name, address, _form) in _ADDRESSES.items()
        if scheme in found
    ]
