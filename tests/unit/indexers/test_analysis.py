"""The stop list that is written down is the one of the library that it is from."""

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from pinakes.indexers.analysis import english_analysis


def test_the_stop_words_are_those_of_scikit_learn() -> None:
    words = english_analysis("scikit-learn").stop_words
    assert len(words) == 318
    assert words == tuple(sorted(ENGLISH_STOP_WORDS))
