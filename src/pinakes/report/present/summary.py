"""What `summarize` has to say: sentences with the query's terms marked, as text, Markdown or JSON."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final

from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from pinakes.indexers.analysis import english_analysis, well_formed
from pinakes.report.escapes import escape_controls
from pinakes.report.for_programs import print_data
from pinakes.report.markdown import escape_markdown
from pinakes.report.output import Output
from pinakes.report.terminal import STANDARD, make_console
from pinakes.search.documents import ScoredSentence, Summary

_WORD: Final = re.compile(r"[^\W_]+")
_MARK: Final = "bold green"
_QUERY_LENGTH: Final = 300
Span = tuple[int, int]


def find_terms(query: str, texts: list[str]) -> list[list[Span]]:
    """Where in each text a word stands that has a stem with one of the query, stop words left out.

    A query of stop words alone is met by them.

    >>> find_terms("The ranking of papers", ["We rank the papers."])
    [[(3, 7), (12, 18)]]
    """
    for analysis in (english_analysis(), english_analysis("none")):
        analyser = analysis.build()
        wanted = set(analyser.analyze(well_formed(query)))
        if wanted:
            break
    met: dict[str, bool] = {}

    def is_met(word: str) -> bool:
        if word not in met:
            met[word] = not wanted.isdisjoint(analyser.analyze(well_formed(word)))
        return met[word]

    return [[match.span() for match in _WORD.finditer(text) if is_met(match[0])] for text in texts]


def print_summary(summary: Summary, out: Output = STANDARD, *, as_markdown: bool = False) -> None:
    """Print the sentences in the document's order, section by section; on a terminal the terms stand out.

    Where the output is no terminal it is the same text without colours, a sentence a line.
    """
    if out.is_for_programs:
        print_data(describe_summary(summary), out)
        return
    console = make_console(out)
    if as_markdown or not out.is_terminal:
        for line in write_lines(summary, as_markdown=as_markdown):
            console.print(Text(line), soft_wrap=True)
        return
    spans = find_terms(summary.query, _list_texts(summary))
    marked = iter([_mark(text, of_text) for text, of_text in zip(_list_texts(summary), spans, strict=True)])
    console.print(Text(escape_controls(_name(summary)), style="bold"))
    (query_spans,) = find_terms(summary.query, [_shorten(summary.query)])
    console.print(Text("Query: ") + _mark(_shorten(summary.query), query_spans))
    console.print(Text(_describe(summary), style="dim"))
    for title, sentences in _by_section(summary):
        console.print()
        if title:
            console.print(Text(escape_controls(title), style="bold underline"))
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for justify in ("right", "right", "left"):
            grid.add_column(justify=justify, no_wrap=justify == "right", overflow="fold")
        for one in sentences:
            grid.add_row(Text(str(one.sentence.number), "dim"), Text(f"{one.score:.4f}", "dim"), next(marked))
        console.print(Padding(grid, (0, 0, 0, 2)))


def describe_summary(summary: Summary) -> dict[str, Any]:
    """The summary as one JSON object, its scores unrounded."""
    return {
        "document": summary.document.name,
        "title": summary.document.title,
        "query": summary.query,
        "scorer": summary.scorer,
        "splitter": summary.splitter,
        "document_sentences": len(summary.document.sentences),
        "notes": list(summary.notes),
        "sentences": [{**asdict(one.sentence), "score": one.score} for one in summary.sentences],
    }


def write_lines(summary: Summary, *, as_markdown: bool) -> Iterator[str]:
    """The summary as lines that Markdown reads too; with `as_markdown` escaped, the query's terms bold."""
    write = escape_markdown if as_markdown else escape_controls
    texts = _list_texts(summary)
    spans = find_terms(summary.query, texts) if as_markdown else [[] for _text in texts]
    written = iter(
        [
            _write_bold(text, of_text) if as_markdown else text
            for text, of_text in zip(texts, spans, strict=True)
        ]
    )
    yield from (f"# {write(_name(summary))}", "", f"Query: {write(_shorten(summary.query))}", "")
    yield write(_describe(summary))
    for title, sentences in _by_section(summary):
        yield ""
        if title:
            yield from (f"## {write(title)}", "")
        for one in sentences:
            yield f"- {one.sentence.number} ({one.score:.4f}): {next(written)}"


def _by_section(summary: Summary) -> Iterator[tuple[str | None, list[ScoredSentence]]]:
    """The sentences of each section, in order, below its title."""
    groups = groupby(summary.sentences, key=lambda one: (one.sentence.section_number, one.sentence.section))
    for (_number, title), sentences in groups:
        yield title, list(sentences)


def _list_texts(summary: Summary) -> list[str]:
    return [escape_controls(one.sentence.text) for one in summary.sentences]


def _name(summary: Summary) -> str:
    document = summary.document
    return f"{document.title} ({document.name})" if document.title else document.name


def _describe(summary: Summary) -> str:
    found, held = len(summary.sentences), len(summary.document.sentences)
    return f"{found} of {held} sentences, by {escape_controls(summary.scorer)}, split by {summary.splitter}"


def _shorten(text: str) -> str:
    plain = escape_controls(text)
    return plain if len(plain) <= _QUERY_LENGTH else f"{plain[:_QUERY_LENGTH]}…"


def _mark(text: str, spans: list[Span]) -> Text:
    marked = Text(text)
    for start, end in spans:
        marked.stylize(_MARK, start, end)
    return marked


def _write_bold(text: str, spans: list[Span]) -> str:
    """The text as Markdown, the spans bold.

    >>> _write_bold("We rank *papers*.", [(3, 7)])
    'We **rank** \\\\*papers\\\\*.'
    """
    parts, last = [], 0
    for start, end in spans:
        parts += [_escape(text[last:start]), f"**{_escape(text[start:end])}**"]
        last = end
    return "".join([*parts, _escape(text[last:])])


def _escape(text: str) -> str:
    """Escaped for Markdown, with the white space at both ends kept."""
    body = escape_markdown(text)
    return f"{text[: len(text) - len(text.lstrip())]}{body}{text[len(text.rstrip()) :] if body else ''}"
