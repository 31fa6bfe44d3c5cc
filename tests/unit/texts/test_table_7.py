"""The worked example of Table 7: what our semantics, and those of the published code, give for every cell."""

from pathlib import Path

import pytest

from pinakes.texts.neighbours.antonyms import find_antonyms
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Absent, Settings, Variant, make_variants
from tests.unit.texts.table_7 import ABSTRACT, ABSTRACTS, PAPER, TITLE, TITLES, TOP_PHRASES
from tests.wordnets import build_wordnet

DRAWN = ("T_AShuff", "TRepNNT_A")
EQUAL = {
    "T_ARot",
    "T_ASortAsc",
    "T_ASortDesc",
    "T_ADelNN",
    "T_ADelQ1",
    "T_ADelQ2",
    "T_ADelQ3",
    "TDelNN_A",
    "TDelNN",
    "TNonNNU_A",
    "TRepNNA_A",
}
"""cells that both semantics give"""
OURS = {"T_ADelDT", "T_ADelTopNNPH", "T_ARepADJ"}
"""cells that the paper's meaning gives, and not the published code: it joins tokens by a space, also before
a full stop, and leaves two spaces where a phrase was"""
PUBLISHED = {"T_ADelVB", "T_ADelPR", "T_ANNU"}
"""cells that the published code gives: tokens joined by a space"""
WITHOUT_SPACES = {"T_ADelNNPH", "T_ADelTopNNPH"}
"""cells that the published code gives but for the second of two spaces, which the table does not show"""
ABSENT = {
    "T_ADelADV": "no adverb in the abstract",
    "T_ADelNum": "no number in the abstract",
    "TDelADJ_A": "no adjective in the title",
    "TDelVB_A": "no verb in the title",
    "TDelDT_A": "no determiner in the title",
}
"""cells that print the text as it is, of which the published code makes no neighbour"""
CONTRADICTIONS = {
    # The cell lacks the first sentence.
    "T_ADelADJ": (
        TITLE,
        "embeddings are in NLP . We introduce a representation for computer programs based on language "
        "models . "
        "We train embeddings using pytorch .",
    ),
    # The cell lacks the first noun.
    "T_ADelNonNNs": (
        TITLE,
        "embeddings NLP representation computer programs language models embeddings pytorch",
    ),
    # The cell lacks the last letter of MODELS.
    "TNNU_A": ("SOURCE CODE EMBEDDINGS from LANGUAGE MODELS", ABSTRACT),
    # The cell joins the first full stop otherwise than the others.
    "T_ANonNNU": (
        TITLE,
        "CONTEXTUAL embeddings ARE COMMON IN NLP . WE INTRODUCE A representation FOR computer programs "
        "BASED ON "
        "language models . WE TRAIN DEEP ROBUST embeddings USING pytorch .",
    ),
    # The cell joins no full stop by a space, as the code does.
    "T_ADelDT": (
        TITLE,
        "Contextual embeddings are common in NLP . We introduce representation for computer programs "
        "based on "
        "language models . We train deep robust embeddings using pytorch .",
    ),
    "T_ARepADJ": (
        TITLE,
        "Contextual embeddings are individual in NLP . We introduce a representation for computer "
        "programs based "
        "on language models . We train shallow frail embeddings using pytorch .",
    ),
}
"""cells that contradict the published code -> what it makes of this text"""


@pytest.fixture
def antonyms(tmp_path: Path) -> Path:
    return build_wordnet(tmp_path)


def make(code: str, antonyms: Path, *, published: bool, seed: int = 1) -> Variant | Absent:
    settings = Settings(seed, "table 7", published, find_antonyms(antonyms), TOP_PHRASES)
    return make_variants(PAPER, "1", [code], settings)[0]


def read_cell(code: str) -> Variant:
    abstract = None if code == "TDelNN" else ABSTRACTS.get(code, ABSTRACT)
    return Variant(code, TITLES.get(code, TITLE), abstract)


def test_every_code_is_compared_but_that_of_white_space() -> None:
    compared = {*DRAWN, *EQUAL, *OURS, *PUBLISHED, *WITHOUT_SPACES, *ABSENT, *CONTRADICTIONS}
    assert set(CODES) - compared == {"T_A_WS", "T_A_DelNNChar", "T_ADelRand"}


@pytest.mark.parametrize("code", sorted(EQUAL | OURS))
def test_the_papers_meaning_gives_the_cell(code: str, antonyms: Path) -> None:
    assert make(code, antonyms, published=False) == read_cell(code)


@pytest.mark.parametrize("code", sorted(EQUAL | PUBLISHED))
def test_the_published_code_gives_the_cell(code: str, antonyms: Path) -> None:
    assert make(code, antonyms, published=True) == read_cell(code)


@pytest.mark.parametrize("code", sorted(WITHOUT_SPACES))
def test_the_published_code_gives_the_cell_but_for_second_spaces(code: str, antonyms: Path) -> None:
    made = make(code, antonyms, published=True)
    assert isinstance(made, Variant)
    assert made.abstract is not None
    assert " ".join(made.abstract.split()) == ABSTRACTS[code]
    assert "for  based on ." in made.abstract


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("code", DRAWN)
def test_the_cell_is_one_that_can_be_drawn(code: str, published: bool, antonyms: Path) -> None:
    drawn = {make(code, antonyms, published=published, seed=seed) for seed in range(50)}
    assert read_cell(code) in drawn
    assert len(drawn) > 1


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize(("code", "reason"), ABSENT.items())
def test_nothing_to_change_is_no_neighbour(code: str, reason: str, published: bool, antonyms: Path) -> None:
    assert make(code, antonyms, published=published) == Absent(code, reason)


@pytest.mark.parametrize(("code", "texts"), CONTRADICTIONS.items())
def test_the_published_code_contradicts_the_cell(code: str, texts: tuple[str, str], antonyms: Path) -> None:
    made = make(code, antonyms, published=True)
    assert made == Variant(code, *texts)
    assert made != read_cell(code)


def test_phrases_with_a_capital_are_deleted_by_the_papers_meaning_alone(antonyms: Path) -> None:
    ours = (
        "embeddings are common in . We introduce a representation for based on . We train deep using pytorch."
    )
    assert make("T_ADelNNPH", antonyms, published=False) == Variant("T_ADelNNPH", TITLE, ours)


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        # Contextual, are, in, a, representation, for, computer and the second full stop are drawn
        (
            False,
            "embeddings common NLP. We introduce programs based on language models We train deep robust "
            "embeddings "
            "using pytorch.",
        ),
        # a is found in Contextual, so that this is not found any more, in is found in embeddings
        (
            True,
            "Contextul embeddgs  common in NLP We introduce a    programs based on language models. We "
            "train deep "
            "robust embeddings using pytorch.",
        ),
    ],
)
def test_eight_of_27_tokens_are_deleted_where_the_cell_lacks_six(
    published: bool, expected: str, antonyms: Path
) -> None:
    made = make("T_ADelRand", antonyms, published=published, seed=3)
    assert made == Variant("T_ADelRand", TITLE, expected)
    assert made != read_cell("T_ADelRand")


@pytest.mark.parametrize("published", [False, True])
def test_nouns_lose_as_many_characters_as_in_the_cell(published: bool, antonyms: Path) -> None:
    made = make("T_A_DelNNChar", antonyms, published=published)
    cell = read_cell("T_A_DelNNChar")
    assert isinstance(made, Variant)
    for text, printed in ((made.title, cell.title), (made.abstract, cell.abstract)):
        assert text is not None
        assert printed is not None
        lengths = [len(word) for word in text.replace(" .", ".").split()]
        assert lengths == [len(word) for word in printed.split()]
