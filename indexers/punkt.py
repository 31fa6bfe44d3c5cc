"""Sentences found by Punkt without trained data, with the abbreviations of scholarly texts."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

_ABBREVIATIONS = """
    a.k.a al approx c.f ca cf ch chap dr e.g eds eq eqn eqns eqs equ et etc fig figs i.e i.i.d ibid incl
    jr m.sc mr mrs ms n.b no nos ph.d pp proc prof refs repr resp s.t sect sects spp suppl thm u.k u.s
    u.s.a v.s viz vol vols vs w.l.o.g w.r.t wrt
"""
_STARTERS = """
    a additionally all although an and as at based but by compared despite each experimental experiments
    finally first for from furthermore given here how however if importantly in indeed instead it its
    many moreover most motivated namely nevertheless notably on one our overall particularly recent
    recently results second several since some such that the their then there therefore these they third
    this those though through thus to unlike using we what when where whereas which while with yet
"""
ABBREVIATIONS: Final = frozenset(_ABBREVIATIONS.split())
"""in lower case, without their last full stop"""
STARTERS: Final = frozenset(_STARTERS.split())
"""words that, with a capital, begin a sentence even behind an abbreviation: … of graphs, etc. We show …"""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends, in characters.

    >>> [text[:9] for text in ("See Fig. 3 of Li et al. today. It ends.",) for _ in split_sentences(text)]
    ['See Fig. ', 'See Fig. ']
    """
    return list(_make_splitter().span_tokenize(text))


@lru_cache(maxsize=1)
def _make_splitter() -> "PunktSentenceTokenizer":
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types.update(ABBREVIATIONS)
    parameters.sent_starters.update(STARTERS)
    splitter = PunktSentenceTokenizer(parameters)
    rules = splitter._lang_vars
    rules._re_period_context = _compile(rules.period_context_re())
    rules._re_word_tokenizer = _compile(rules._word_tokenizer_re())
    return splitter


def _compile(pattern: Any) -> re.Pattern[str]:
    """Punkt's pattern, of the standard library, which has no limit of time that a slow machine may reach."""
    return re.compile(pattern.pattern, re.VERBOSE)
