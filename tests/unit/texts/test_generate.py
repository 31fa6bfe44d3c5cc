"""A paper's variants depend on seed, corpus, code and source id, and on nothing else."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.errors import InputError, UnknownNameError
from pinakes.texts.neighbours.analysers import find_analyser
from pinakes.texts.neighbours.analysis import AnalysedPaper
from pinakes.texts.neighbours.antonyms import find_antonyms
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Absent, Settings, Variant, is_unchanged, make_variants
from tests.tagging import tag_text
from tests.wordnets import build_wordnet

TITLE = "Deep parsers of common trees"
ABSTRACT = "We parse deep trees. The parsers often find common trees. It is fast."
PAPER = find_analyser().analyse(TITLE, ABSTRACT)
DRAWING = [name for name, code in CODES.items() if code.draws]
CHANGES_ABSTRACT = [name for name, code in CODES.items() if code.changes == "abstract"]
CHANGES_TITLE = [name for name, code in CODES.items() if code.changes in ("title", "title alone")]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        7, "acl", antonyms=find_antonyms(build_wordnet(tmp_path)), top_phrases=frozenset({"deep trees"})
    )


@pytest.mark.parametrize("published", [False, True])
def test_each_code_gives_a_variant_or_a_reason_in_the_order_asked(
    settings: Settings, published: bool
) -> None:
    made = make_variants(PAPER, "P1", reversed(CODES), replace(settings, published=published))
    assert [one.code for one in made] == [*reversed(CODES)]


@pytest.mark.parametrize("published", [False, True])
def test_other_codes_and_other_processes_change_nothing(settings: Settings, published: bool) -> None:
    settings = replace(settings, published=published)
    together = make_variants(PAPER, "P1", CODES, settings)
    sent_paper, sent_settings = pickle.loads(pickle.dumps((PAPER, settings)))
    assert [make_variants(PAPER, "P1", [code], settings)[0] for code in CODES] == together
    assert make_variants(sent_paper, "P1", CODES, sent_settings) == together


def test_what_is_drawn_stays_the_same_from_version_to_version() -> None:
    assert make_variants(PAPER, "P1", DRAWING, Settings(7, "acl")) == [
        Variant(
            "T_AShuff",
            TITLE,
            "It is fast. The parsers often find common trees. We parse deep trees.",
        ),
        Variant("T_ADelRand", TITLE, "We parse deep trees. The often find . It is fast"),
        Variant(
            "T_A_DelNNChar",
            "Dep paers of common tree",
            "We arse deep tres. The prsrs often find common tree. It is fast.",
        ),
        Variant("TRepNNT_A", "Deep Deep parsers of common trees", ABSTRACT),
        Variant(
            "T_A_WS",
            "Deep   parsers of     common trees",
            "We  parse     deep trees. The parsers    often    find  common trees. It is     fast.",
        ),
    ]


@pytest.mark.parametrize(("name", "value"), [("seed", 8), ("corpus", "iclr")])
def test_seed_and_corpus_decide_what_is_drawn(settings: Settings, name: str, value: int | str) -> None:
    other = replace(settings, **{name: value})  # type: ignore[arg-type]
    assert make_variants(PAPER, "P1", DRAWING, other) != make_variants(PAPER, "P1", DRAWING, settings)
    fixed = [code for code in CODES if code not in DRAWING]
    assert make_variants(PAPER, "P1", fixed, other) == make_variants(PAPER, "P1", fixed, settings)


def test_the_source_id_decides_what_is_drawn(settings: Settings) -> None:
    drawn = {
        tuple(make_variants(PAPER, source_id, DRAWING, settings)) for source_id in ("P1", "P2", "Ж", "\ud800")
    }
    assert len(drawn) == 4


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("text", [None, "", " \t\n\xa0"])
def test_a_paper_without_an_abstract_has_the_variants_of_its_title(
    settings: Settings, text: str | None, published: bool
) -> None:
    title = tag_text("Deep trees see the code", "Deep/A trees/N see/V the/D code/N")
    paper = replace(find_analyser().analyse(None, text), title=title)
    settings = replace(settings, published=published)
    for code in (*CHANGES_ABSTRACT, "TRepNNA_A"):
        assert make_variants(paper, "1", [code], settings) == [Absent(code, "no abstract")]
    made = make_variants(paper, "1", CHANGES_TITLE, settings)
    assert [type(one) for one in made] == [Variant] * 8
    assert {one.abstract for one in made if isinstance(one, Variant) and one.code != "TDelNN"} == {text}


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("text", [None, "", " "])
def test_a_paper_without_a_title_has_the_variants_of_its_abstract(
    settings: Settings, text: str | None, published: bool
) -> None:
    paper = find_analyser().analyse(text, "Two deep trees. They often see the trees. So.")
    settings = replace(settings, published=published)
    for code in (*CHANGES_TITLE, "TRepNNT_A", "TRepNNA_A"):
        assert make_variants(paper, "1", [code], settings) == [Absent(code, "no title")]
    made = make_variants(paper, "1", CHANGES_ABSTRACT, settings)
    assert [type(one) for one in made] == [Variant] * len(CHANGES_ABSTRACT)
    assert {one.title for one in made if isinstance(one, Variant)} == {text}


def test_a_paper_without_texts_has_no_variant(settings: Settings) -> None:
    made = make_variants(AnalysedPaper(None, None), "1", CODES, settings)
    assert {one.reason for one in made if isinstance(one, Absent)} == {
        "no title",
        "no abstract",
        "no title and no abstract",
    }
    assert len(made) == 32


def test_one_text_is_changed_where_the_other_is_missing(settings: Settings) -> None:
    paper = AnalysedPaper(None, tag_text("deep trees", "deep/A trees/N"))
    (made,) = make_variants(paper, "1", ["T_A_DelNNChar"], settings)
    assert isinstance(made, Variant)
    assert made.title is None
    assert made.abstract is not None
    assert (made.abstract[:5], len(made.abstract)) == ("deep ", len("deep trees") - 1)


ALONE = AnalysedPaper(tag_text("GPU", "GPU/N"), tag_text("GPUs.", "GPUs/N ./."))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("T_ARot", Variant("T_ARot", "GPU", "GPUs.")),
        ("T_AShuff", Variant("T_AShuff", "GPU", "GPUs.")),
        ("T_ASortAsc", Variant("T_ASortAsc", "GPU", "GPUs.")),
        ("T_ADelRand", Variant("T_ADelRand", "GPU", "GPUs.")),
        ("T_ADelNN", Variant("T_ADelNN", "GPU", ".")),
        ("T_ADelNNPH", Absent("T_ADelNNPH", "no noun phrase in the abstract")),
        ("T_ADelTopNNPH", Absent("T_ADelTopNNPH", "no top noun phrase in the abstract")),
        ("T_ADelQ1", Absent("T_ADelQ1", "fewer than 3 sentences")),
        ("T_ADelVB", Absent("T_ADelVB", "no verb in the abstract")),
        ("T_ADelPR", Absent("T_ADelPR", "no pronoun in the abstract")),
        ("T_ADelDT", Absent("T_ADelDT", "no determiner in the abstract")),
        ("T_ARepADJ", Absent("T_ARepADJ", "no adjective with an antonym")),
        ("T_ADelNonNNs", Variant("T_ADelNonNNs", "GPU", "GPUs")),
        ("T_A_DelNNChar", Variant("T_A_DelNNChar", "GPU", "GPU.")),
        ("T_A_WS", Variant("T_A_WS", "GPU", "GPUs.")),
        ("TDelNN", Variant("TDelNN", "", None)),
        ("TNNU_A", Variant("TNNU_A", "GPU", "GPUs.")),
        ("TNonNNU_A", Absent("TNonNNU_A", "nouns only in the title")),
        ("T_ANonNNU", Variant("T_ANonNNU", "GPU", "GPUs.")),
        ("TRepNNT_A", Variant("TRepNNT_A", "GPU GPU", "GPUs.")),
        ("TRepNNA_A", Absent("TRepNNA_A", "fewer than 2 nouns in the abstract")),
    ],
)
def test_a_paper_of_one_word(settings: Settings, code: str, expected: Variant | Absent) -> None:
    assert make_variants(ALONE, "2", [code], settings) == [expected]


def test_what_leaves_all_as_it_is_is_unchanged(settings: Settings) -> None:
    made = make_variants(ALONE, "2", CODES, settings)
    unchanged = [one.code for one in made if isinstance(one, Variant) and is_unchanged(ALONE, one)]
    assert unchanged == [
        "T_ARot",
        "T_AShuff",
        "T_ASortAsc",
        "T_ASortDesc",
        "T_ADelRand",
        "TNNU_A",
        "T_ANonNNU",
        "T_A_WS",
    ]


def test_what_a_code_needs_has_to_be_given() -> None:
    with pytest.raises(InputError, match="T_ARepADJ needs antonyms"):
        make_variants(PAPER, "1", ["T_ARepADJ"], Settings(1, "acl"))
    with pytest.raises(InputError, match="T_ADelTopNNPH needs"):
        make_variants(PAPER, "1", ["T_ADelTopNNPH"], Settings(1, "acl"))
    with pytest.raises(UnknownNameError):
        make_variants(PAPER, "1", ["T_A"], Settings(1, "acl"))
