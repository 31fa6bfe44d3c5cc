"""Texts analysed by hand: each sentence is written with its tags, as `Deep/A models/N ./.`."""

from collections.abc import Mapping

from pinakes.texts.neighbours.analysis import AnalysedText


def tag_text(
    text: str,
    *sentences: str,
    phrases: tuple[str, ...] = (),
    list_tags: str = "",
    altered: Mapping[int, str] | None = None,
) -> AnalysedText:
    """The text with these sentences, and these noun phrases wherever their tokens stand."""
    starts: list[int] = []
    ends: list[int] = []
    tags = ""
    spans = []
    for sentence in sentences:
        first = len(starts)
        for token in sentence.split(" "):
            word, tag = token.rsplit("/", 1)
            starts.append(text.index(word, ends[-1] if ends else 0))
            ends.append(starts[-1] + len(word))
            tags += tag
        spans.append((first, len(starts)))
    words = [text[start:end].lower() for start, end in zip(starts, ends, strict=True)]
    found = [
        (at, at + len(phrase.split(" ")))
        for at in range(len(words))
        for phrase in phrases
        if " ".join(words[at : at + len(phrase.split(" "))]) == phrase
    ]
    return AnalysedText(text, starts, ends, tags, spans, found, list_tags, altered or {})
