"""Each of the 32 codes in both semantics, worked by hand."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pinakes.errors import UnknownNameError
from pinakes.texts.neighbours.analysis import AnalysedPaper, AnalysedText
from pinakes.texts.neighbours.antonyms import find_antonyms
from pinakes.texts.neighbours.codes import CODES, find_code
from pinakes.texts.neighbours.generate import Absent, Settings, Variant, make_variants
from pinakes.texts.neighbours.material import Material
from tests.tagging import tag_text
from tests.wordnets import build_wordnet

TITLE = tag_text(
    "A  Fast Parser reads, the parser of Trees",
    "A/D Fast/A Parser/N reads/V ,/. the/D parser/N of/I Trees/N",
)
ABSTRACT = tag_text(
    'Two "deep" parsers  read online trees.\nThey often read them in 9 hours.\tNo parser is deep.',
    'Two/# "/. deep/A "/. parsers/N read/V online/A trees/N ./.',
    "They/P often/R read/V them/P in/I 9/# hours/N ./.",
    "No/D parser/N is/V deep/A ./.",
    phrases=("online trees", "no parser"),
    altered={1: "``", 3: "''"},
)
PAPER = AnalysedPaper(TITLE, ABSTRACT)
T, A = TITLE.text, ABSTRACT.text
ONE, TWO, THREE = (A[start:end] for start, end in ABSTRACT.sentence_spans)

# code -> what changes, as the paper means it and as the published code has it
ABSTRACTS = {
    "T_ARot": (
        f"{TWO}\n{THREE}\t{ONE}",
        f'{TWO} {THREE} Two "deep" parsers read online trees.',
    ),
    "T_ASortAsc": (f"{THREE}\n{TWO}\t{ONE}", f"{THREE} {TWO} {ONE}"),
    "T_ASortDesc": (A, f"{ONE} {TWO} {THREE}"),
    "T_ADelADJ": (
        f'Two "" parsers  read trees.\n{TWO}\tNo parser is .',
        "Two `` '' parsers read trees . They often read them in 9 hours . No parser is .",
    ),
    "T_ADelNN": (
        'Two "deep" read online .\nThey often read them in 9 .\tNo is deep.',
        "Two `` deep '' read online . They often read them in 9 . No is deep .",
    ),
    "T_ADelVB": (
        'Two "deep" parsers  online trees.\nThey often them in 9 hours.\tNo parser deep.',
        "Two `` deep '' parsers online trees . They often them in 9 hours . No parser deep .",
    ),
    "T_ADelADV": (
        f"{ONE}\nThey read them in 9 hours.\t{THREE}",
        "Two `` deep '' parsers read online trees . They read them in 9 hours . No parser is deep .",
    ),
    "T_ADelPR": (
        f"{ONE}\noften read in 9 hours.\t{THREE}",
        "Two `` deep '' parsers read online trees . often read in 9 hours . No parser is deep .",
    ),
    "T_ADelDT": (
        f"{ONE}\n{TWO}\tparser is deep.",
        "Two `` deep '' parsers read online trees . They often read them in 9 hours . parser is deep .",
    ),
    "T_ADelNum": (
        f'"deep" parsers  read online trees.\nThey often read them in hours.\t{THREE}',
        "`` deep '' parsers read online trees . They often read them in hours . No parser is deep .",
    ),
    "T_ADelNNPH": (
        f'Two "deep" parsers  read .\n{TWO}\tis deep.',
        f'Two "deep" parsers  read .\n{TWO}\t{THREE}',
    ),
    "T_ADelTopNNPH": (f'Two "deep" parsers  read .\n{TWO}\t{THREE}',) * 2,
    "T_ADelQ1": (f"{TWO}\t{THREE}", f"{TWO} {THREE}"),
    "T_ADelQ2": (f"{ONE}\n{THREE}", f"{ONE} {THREE}"),
    "T_ADelQ3": (f"{ONE}\n{TWO}", f"{ONE} {TWO}"),
    "T_ANNU": (
        'Two "deep" PARSERS  read online TREES.\nThey often read them in 9 HOURS.\tNo PARSER is deep.',
        "Two `` deep '' PARSERS read online TREES . They often read them in 9 HOURS . No PARSER is deep .",
    ),
    "T_ANonNNU": (
        'TWO "DEEP" parsers  READ ONLINE trees.\nTHEY OFTEN READ THEM IN 9 hours.\tNO parser IS DEEP.',
        "TWO `` DEEP '' parsers READ ONLINE trees . THEY OFTEN READ THEM IN 9 hours . NO parser IS DEEP .",
    ),
    "T_ADelNonNNs": ("parsers  trees\nhours\tparser", "parsers trees hours parser"),
    "T_ARepADJ": (
        f'Two "shallow" parsers  read off line trees.\n{TWO}\tNo parser is shallow.',
        "Two `` shallow '' parsers read off_line trees . They often read them in 9 hours . "
        "No parser is shallow .",
    ),
}
TITLES = {
    "TDelADJ_A": ("A  Parser reads, the parser of Trees", "A Parser reads , the parser of Trees"),
    "TDelNN_A": ("A  Fast reads, the of", "A Fast reads , the of"),
    "TDelVB_A": ("A  Fast Parser , the parser of Trees", "A Fast Parser , the parser of Trees"),
    "TDelDT_A": ("Fast Parser reads, parser of Trees", "Fast Parser reads , parser of Trees"),
    "TDelNN": ("A  Fast reads, the of", "A Fast reads , the of"),
    "TNNU_A": ("A  Fast PARSER reads, the PARSER of TREES", "A Fast PARSER reads , the PARSER of TREES"),
    "TNonNNU_A": ("A  FAST Parser READS, THE parser OF Trees", "A FAST Parser READS , THE parser OF Trees"),
    "TRepNNA_A": (f"{T} parsers trees",) * 2,
}


class ScriptedRandom(Random):
    """Draws what it was told: indexes of what it draws from, or numbers."""

    def __init__(self, *draws: Any) -> None:
        super().__init__(0)
        self.draws = list(draws)

    def shuffle(self, x: Any) -> None:
        x[:] = [x[index] for index in self.draws.pop(0)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        chosen = [population[index] for index in self.draws.pop(0)]
        assert len(chosen) == k
        return chosen

    def choice(self, seq: Any) -> Any:
        return seq[self.draws.pop(0)]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        drawn: int = self.draws.pop(0)
        assert drawn < start
        return drawn

    def randint(self, a: int, b: int) -> int:
        drawn: int = self.draws.pop(0)
        assert a <= drawn <= b
        return drawn


DRAWN: dict[str, tuple[AnalysedText, list[Any], str, str]] = {
    "T_AShuff": (
        ABSTRACT,
        [[2, 0, 1]],
        f"{THREE}\n{ONE}\t{TWO}",
        f"{THREE} {ONE} {TWO}",
    ),
    # read, No, ", deep (the second), Two, parsers; the published code deletes the first characters that are
    # equal, and of the quotation marks, which are written otherwise, none
    "T_ADelRand": (
        ABSTRACT,
        [[11, 17, 1, 20, 0, 4]],
        'deep" read online trees.\nThey often them in 9 hours.\tparser is .',
        ' ""    online trees.\nThey often read them in 9 hours.\t parser is deep.',
    ),
    # parser, the second of the title's nouns
    "TRepNNT_A": (
        TITLE,
        [1],
        "A  Fast Parser reads, the parser parser of Trees",
        "A Fast Parser reads , the parser parser of Trees",
    ),
    # Parser loses P and then e, parser r twice, Trees its last letter
    "T_A_DelNNChar": (
        TITLE,
        [0, 3, 2, 4, 4],
        "A  Fast arsr reads, the pase of Tree",
        "A Fast arsr reads , the pase of Tree",
    ),
    # of eight spaces the fourth, the first, the last and the sixth: widths go from left to right, or as drawn
    "T_A_WS": (
        TITLE,
        [[3, 0, 7, 5], 2, 3, 4, 5],
        "A   Fast Parser   reads, the    parser of     Trees",
        "A  Fast Parser  "
        + "   "
        + " Fast Parser reads, the parser of"
        + "    "
        + "     "
        + "parser of Trees",
    ),
}
"""code -> a text, what is drawn, and what becomes of it in both semantics"""


def test_every_code_is_worked_by_hand() -> None:
    assert {*ABSTRACTS, *TITLES, *DRAWN} == set(CODES)
    assert {name for name, code in CODES.items() if code.draws} == set(DRAWN)


def test_the_categories_are_those_of_table_1() -> None:
    counts = Counter(code.category for code in CODES.values())
    assert counts == {"LL-PS": 4, "LL-HS": 5, "LO-HS": 7, "LO-DS": 5, "LO-PS": 11}
    named = {category: [name for name in CODES if CODES[name].category == category] for category in counts}
    assert named["LL-HS"] == ["TNNU_A", "TNonNNU_A", "T_ANNU", "T_ANonNNU", "T_A_WS"]
    assert named["LO-DS"] == ["T_ADelNN", "T_ADelNNPH", "TDelNN", "T_ADelNonNNs", "T_ARepADJ"]
    assert named["LO-HS"] == [
        "T_ADelDT",
        "TDelADJ_A",
        "TDelNN_A",
        "TDelVB_A",
        "TDelDT_A",
        "TRepNNT_A",
        "TRepNNA_A",
    ]


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="T_ARot"):
        find_code("my_module:function")


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("code", [*ABSTRACTS, *TITLES])
def test_a_code_changes_what_it_names(code: str, published: bool, tmp_path: Path) -> None:
    top = frozenset({"online trees"})
    settings = Settings(1, "worked", published, find_antonyms(build_wordnet(tmp_path)), top)
    title = TITLES.get(code, (T, T))[published]
    abstract = None if code == "TDelNN" else ABSTRACTS.get(code, (A, A))[published]
    assert make_variants(PAPER, "1", [code], settings) == [Variant(code, title, abstract)]


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("code", DRAWN)
def test_a_code_changes_what_is_drawn(code: str, published: bool) -> None:
    text, draws, *expected = DRAWN[code]
    make = CODES[code].make_published if published else CODES[code].make
    assert make(text, Material(ScriptedRandom(*draws), lambda word: None, frozenset())) == expected[published]


def test_the_published_white_space_repeats_and_loses_parts() -> None:
    text = tag_text("a b c d e", "a/N b/N c/N d/N e/N")
    material = Material(ScriptedRandom([2, 0], 2, 3), lambda word: None, frozenset())
    assert CODES["T_A_WS"].make_published(text, material) == "a b c" + "  " + "   " + "b c d e"


def test_the_published_repetition_doubles_every_equal_token() -> None:
    text = tag_text("code of code", "code/N of/I code/N")
    material = Material(ScriptedRandom(1), lambda word: None, frozenset())
    assert CODES["TRepNNT_A"].make_published(text, material) == "code code of code code"
    material = Material(ScriptedRandom(1), lambda word: None, frozenset())
    assert CODES["TRepNNT_A"].make(text, material) == "code of code code"


def test_the_published_code_deletes_by_the_tags_of_one_list() -> None:
    text = tag_text("Models run. Run models.", "Models/N run/V ./.", "Run/V models/N ./.", list_tags="NV.NN.")
    material = Material(Random(1), lambda word: None, frozenset())
    assert CODES["T_ADelNN"].make(text, material) == "run. Run ."
    assert CODES["T_ADelNN"].make_published(text, material) == "run . ."


def test_the_published_code_asks_sentence_by_sentence_whether_there_is_a_tag() -> None:
    text = tag_text("It ran. Go.", "It/P ran/V ./.", "Go/N ./.", list_tags="PV.V.")
    material = Material(Random(1), lambda word: None, frozenset())
    assert CODES["T_ADelNN"].make_published(text, material) == "It ran . Go ."
    assert CODES["T_ANNU"].make_published(text, material) is None


def test_the_published_code_finds_phrases_within_words() -> None:
    text = tag_text(
        "The art map of parts mapped.", "The/D art/N map/N of/I parts/N mapped/V ./.", phrases=("art map",)
    )
    subword = tag_text("An art m, smart map.", "An/D art/N m/N ,/. smart/A map/N ./.", phrases=("art m",))
    material = Material(Random(1), lambda word: None, frozenset())
    assert CODES["T_ADelNNPH"].make_published(text, material) == "The  of parts mapped."
    assert CODES["T_ADelNNPH"].make_published(subword, material) == "An , smap."
    assert CODES["T_ADelNNPH"].make(subword, material) == "An , smart map."


@pytest.mark.parametrize(
    ("sentences", "deleted"),
    [(2, None), (3, [0]), (5, [0]), (6, [0, 1]), (8, [0, 1])],
)
def test_a_third_is_rounded_down_and_the_last_sentences_stay(
    sentences: int, deleted: list[int] | None
) -> None:
    written = [f"S{number} ." for number in range(sentences)]
    text = tag_text(" ".join(written), *(f"S{number}/N ./." for number in range(sentences)))
    material = Material(Random(1), lambda word: None, frozenset())
    expected = None if deleted is None else " ".join(written[len(deleted) :])
    assert CODES["T_ADelQ1"].make(text, material) == expected
    assert CODES["T_ADelQ1"].make_published(text, material) == expected
    if deleted is not None:
        third = len(deleted)
        assert CODES["T_ADelQ3"].make(text, material) == " ".join(written[: 2 * third] + written[3 * third :])


def test_sentences_of_one_length_keep_their_order() -> None:
    text = tag_text("A b. C d. E.", "A/N b/N ./.", "C/N d/N ./.", "E/N ./.")
    material = Material(Random(1), lambda word: None, frozenset())
    for make in (CODES["T_ASortAsc"].make, CODES["T_ASortAsc"].make_published):
        assert make(text, material) == "E. A b. C d."
    for make in (CODES["T_ASortDesc"].make, CODES["T_ASortDesc"].make_published):
        assert make(text, material) == "A b. C d. E."


def test_the_longer_half_comes_first_in_a_rotation() -> None:
    text = tag_text("A. B. C.", "A/N ./.", "B/N ./.", "C/N ./.")
    assert CODES["T_ARot"].make(text, Material(Random(1), lambda word: None, frozenset())) == "B. C. A."


@pytest.mark.parametrize(
    ("word", "lost"), [("of", 0), ("map", 0), ("maps", 1), ("trees", 1), ("parser", 2), ("embeddings", 2)]
)
def test_nouns_lose_characters_by_their_length(word: str, lost: int) -> None:
    text = tag_text(word, f"{word}/N")
    made = CODES["T_A_DelNNChar"].make(text, Material(Random(5), lambda found: None, frozenset()))
    assert made is not None
    assert len(made) == len(word) - lost
    rest = iter(word)
    assert all(character in rest for character in made)  # the others stay, in their order


def test_the_more_frequent_half_of_the_nouns_is_added_to_the_title() -> None:
    title = tag_text("On it", "On/I it/P")
    abstract = tag_text("map code map tree code art", "map/N code/N map/N tree/N code/N art/N")
    paper = AnalysedPaper(title, abstract)
    for published in (False, True):
        made = make_variants(paper, "1", ["TRepNNA_A"], Settings(1, "c", published))
        assert made == [Variant("TRepNNA_A", "On it map code", "map code map tree code art")]


def test_a_single_noun_is_not_added_and_the_published_code_adds_nothing() -> None:
    paper = AnalysedPaper(tag_text("On it", "On/I it/P"), tag_text("code code", "code/N code/N"))
    assert make_variants(paper, "1", ["TRepNNA_A"], Settings(1, "c")) == [
        Absent("TRepNNA_A", "fewer than 2 nouns in the abstract")
    ]
    made = make_variants(paper, "1", ["TRepNNA_A"], Settings(1, "c", published=True))
    assert made == [Variant("TRepNNA_A", "On it ", "code code")]
