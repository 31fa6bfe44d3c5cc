"""Antonyms come out of WordNet's files as its authors describe them."""

import pickle
import zipfile
from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.texts.neighbours import antonyms
from pinakes.texts.neighbours.antonyms import find_antonyms
from tests.wordnets import build_wordnet

DEBIAN = Path("/usr/share/wordnet")


@pytest.mark.parametrize(
    ("adjective", "expected"),
    [
        ("deep", "shallow"),
        ("Deep", "shallow"),  # index files are in lower case
        ("deeper", "shallow"),  # its base form
        ("worse", "good"),  # of adj.exc
        ("good", "evil"),  # of two lemmas; bad is of one
        ("light", "darkness"),  # a noun's, met before dark and heavy
        ("lit", "dark"),  # dark and unlit are of one lemma each, and dark(p) is met first, without its marker
        ("heavy", "light"),  # of one lemma the first alone: light(a) is not counted too
        ("online", "off_line"),
        ("computational", None),
        ("pytorch", None),
        ("", None),
        ("深い", None),
        ("\ud800", None),
    ],
)
def test_the_most_frequent_first_antonym_of_all_lemmas(
    tmp_path: Path, adjective: str, expected: str | None
) -> None:
    assert find_antonyms(build_wordnet(tmp_path)).find(adjective) == expected


def test_a_zip_of_nltk_gives_the_same(tmp_path: Path) -> None:
    folder = build_wordnet(tmp_path / "wordnet")
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"wordnet/{path.name}")
    found = find_antonyms(tmp_path / "wordnet.zip")
    assert (found.producer, found.find("robust")) == ("wordnet-0.9", "frail")


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path)))
    assert find_antonyms().source == tmp_path


def test_another_process_can_be_given_them(tmp_path: Path) -> None:
    given = pickle.loads(pickle.dumps(find_antonyms(build_wordnet(tmp_path))))
    assert given.find("common") == "individual"


def test_nltks_folder_is_found_where_debians_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data

    monkeypatch.delenv("PINAKES_WORDNET", raising=False)
    monkeypatch.setattr(antonyms, "_DEBIAN", tmp_path / "absent")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "other"), str(tmp_path)])
    folder = build_wordnet(tmp_path / "corpora" / "wordnet")
    assert find_antonyms().source == folder


def test_a_missing_wordnet_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    monkeypatch.delenv("PINAKES_WORDNET", raising=False)
    monkeypatch.setattr(antonyms, "_DEBIAN", tmp_path / "absent")
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(InputError, match="apt-get install wordnet-base"):
        find_antonyms()


def test_a_named_folder_without_wordnet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(tmp_path))
    with pytest.raises(InputError, match="holds no WordNet"):
        find_antonyms()


def test_an_incomplete_wordnet_is_refused(tmp_path: Path) -> None:
    (build_wordnet(tmp_path) / "index.noun").unlink()
    with pytest.raises(InputError, match=r"index\.noun"):
        find_antonyms(tmp_path)


@pytest.mark.skipif(not (DEBIAN / "data.adj").is_file(), reason="Debian's wordnet-base is not installed")
def test_the_real_wordnet_gives_the_antonyms_of_table_7() -> None:
    found = find_antonyms(DEBIAN)
    words = ("common", "deep", "robust", "contextual", "good", "large", "better")
    assert found.producer == "wordnet-3.0"
    expected = ["individual", "shallow", "frail", None, "evil", "small", "ill"]
    assert [found.find(word) for word in words] == expected


@pytest.mark.parametrize("word", ["er", "est", "s", "es", "ing", "ed", ""])
def test_a_word_that_is_an_ending_alone_has_no_antonym(tmp_path: Path, word: str) -> None:
    assert find_antonyms(build_wordnet(tmp_path)).find(word) is None
