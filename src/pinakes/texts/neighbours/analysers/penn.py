"""Tags of the Penn Treebank as tags of the universal tagset."""

from collections.abc import Iterable
from typing import Final

from pinakes.texts.neighbours.analysis import TAGS

_PENN: Final = {
    "NOUN": "NN NNS NNP NNPS NP",
    "VERB": "MD VB VBD VBG VBN VBP VBZ",
    "ADJ": "JJ JJR JJS",
    "ADV": "RB RBR RBS WRB",
    "PRON": "PRP PRP$ WP WP$",
    "DET": "DT PDT WDT EX",
    "NUM": "CD",
    "ADP": "IN",
    "CONJ": "CC",
    "PRT": "POS RP TO",
    ".": ". , : ( ) # $ `` '' \" -LRB- -RRB- SYM",
    "X": "FW LS UH",
}
_LETTERS: Final = {penn: TAGS[tag] for tag, listed in _PENN.items() for penn in listed.split()}


def write_letters(tags: Iterable[str]) -> str:
    """A letter a tag, as in `TAGS`, of the first where several are given; X for a tag that is none of Penn's.

    >>> write_letters(["PRP", "VBP", "NNS|NN", "."])
    'PVN.'
    """
    return "".join([_LETTERS.get(tag) or _LETTERS.get(tag.partition("|")[0], "X") for tag in tags])
