"""What `show run` has to say: where a run is from, in lines that fit a terminal of 80 columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any, Final

import orjson

from pinakes.report.escapes import escape_controls
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_seconds, format_time, format_value
from pinakes.report.output import Output
from pinakes.report.tables.runs import list_parameters
from pinakes.report.terminal import STANDARD
from pinakes.run.made_with import HEADER
from pinakes.run.provenance import CorpusRead, LoadedFile, Provenance

WIDTH: Final = 80
MOST_FILES: Final = 4
"""of a corpus, before the rest is counted"""
MOST_EVALUATIONS: Final = 3
DIGEST_DIGITS: Final = 12
_NAME_WIDTH: Final = 13

Fact = tuple[str, str]
"""a name, empty below one of the same, and what is said"""


def print_provenance(found: Provenance, out: Output = STANDARD, *, all_files: bool = False) -> None:
    """Print where a run is from, or one JSON object with every digest whole."""
    if out.is_for_programs:
        print_data(asdict(found), out)
        return
    width = max(40, out.width) if out.is_terminal else WIDTH
    for line in render_provenance(found, all_files=all_files, width=width):
        print(line, file=out.file)


def render_provenance(found: Provenance, *, all_files: bool = False, width: int = WIDTH) -> Iterator[str]:
    """The lines, none longer than the width."""
    run = found.run
    yield from _wrap(f"Run {run['run_id']}: {run['system']} on {run['benchmark']}", "", width)
    sections: Sequence[tuple[str, Iterable[Fact]]] = (
        ("", _list_run_facts(found)),
        ("Then and now", _list_checks(found)),
        ("Read", _list_files(found.corpora, all_files)),
        ("Evaluated", _list_evaluations(found)),
        ("Made with", _list_made_with(found)),
    )
    for title, facts in sections:
        listed = list(facts)
        if listed and title:
            yield title
        for name, text in listed:
            yield from _write_fact(name, text, width)


def _write_fact(name: str, text: str, width: int) -> Iterator[str]:
    label = f"  {escape_controls(name)}"
    if len(label) < _NAME_WIDTH + 2:
        yield from _wrap(text, f"{label:<{_NAME_WIDTH + 2}}", width)
    else:
        yield from _wrap(label.strip(), "  ", width)
        yield from _wrap(text, " " * (_NAME_WIDTH + 2), width)


def _wrap(text: str, begin: str, width: int) -> list[str]:
    lines = wrap(
        escape_controls(" ".join(text.split())),
        width,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
    )
    return lines or [begin.rstrip()]


def _list_run_facts(found: Provenance) -> Iterator[Fact]:
    run = found.run
    if found.title:
        yield "benchmark", f"{found.title} ({found.licence})"
    for suite in found.suites:
        yield "suite", suite
    settings = [f"mode {run['mode']}", "whole pool" if run["depth"] is None else f"depth {run['depth']}"]
    settings += [f"precision {run['precision']}"] if run["precision"] else []
    settings += [f"corpus {run['corpus']}"] if run["corpus"] else []
    templates = {run["query_template"], run["paper_template"]} - {None}
    if templates:
        settings.append(f"read as {run['query_template'] or '–'} / {run['paper_template'] or '–'}")
    yield "settings", ", ".join(settings)
    if run["variants"]:
        yield "variants", ", ".join(run["variants"].splitlines())
    parameters = list_parameters(orjson.dumps(run["parameters"]).decode())
    if parameters:
        yield "parameters", ", ".join(f"{name} {_shorten_digest(name, value)}" for name, value in parameters)
    for one in found.encoders:
        yield (
            "encoder",
            f"{one['name']}: {one['model']} at {one['revision'][:DIGEST_DIGITS]}, weights sha256 "
            f"{one['weights_digest'][:DIGEST_DIGITS]}, {one['pooling']}, {one['max_tokens']} tokens",
        )
    answered = f"{run['queries_answered']:,} of {run['queries_expected']:,} queries"
    yield "answers", f"{answered}, {run['hit_count']:,} rows"
    if run["imported_from"]:
        yield "imported", f"{run['imported_from']} sha256 {run['import_digest'][:DIGEST_DIGITS]}"
    took = format_seconds(run["elapsed_s"])
    yield "made", f"{format_time(run['started_at'])} in {took}, Pinakes {run['code_version']}"
    yield "digest", run["run_digest"]


def _shorten_digest(name: str, value: str) -> str:
    """A parameter's value; of digests the beginning.

    >>> _shorten_digest("content_digest", "0123456789abcdef"), _shorten_digest("k1", "1.2")
    ('0123456789ab', '1.2')
    """
    if not name.endswith(("digest", "md5")):
        return value
    return " ".join(one.strip('[]"')[:DIGEST_DIGITS] for one in value.split(","))


def _list_checks(found: Provenance) -> Iterator[Fact]:
    for check in found.checks:
        then, now = (None if one is None else one[:DIGEST_DIGITS] for one in (check.then, check.now))
        said = f"{then}, {check.state}" if then == now or now is None else f"{then}, {check.state}: {now} now"
        yield check.what, f"{said} ({check.why})" if check.why else said
    for corpus in found.corpora:
        since = sum(file.after_run for file in corpus.files)
        if since:
            yield f"corpus {corpus.name}", f"changed: {_count(since, 'file')} loaded after the run had begun"
        if corpus.papers_removed:
            yield f"corpus {corpus.name}", f"{_count(corpus.papers_removed, 'paper')} removed so far"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _list_files(read: Sequence[CorpusRead], all_files: bool) -> Iterator[Fact]:
    for corpus in read:
        if not corpus.is_there:
            yield corpus.name, "not in the database any more"
            continue
        yield corpus.name, f"version {corpus.version}, {corpus.licence}; {corpus.source}"
        shown = corpus.files if all_files else corpus.files[:MOST_FILES]
        for file in shown:
            yield "", _write_file(file)
        if len(corpus.files) > len(shown):
            left = len(corpus.files) - len(shown)
            yield "", f"and {_count(left, 'file')} more: --all-files, or --json, lists them"


def _write_file(file: LoadedFile) -> str:
    when = f"{file.first_at:%Y-%m-%d %H:%M}"
    batches = "" if file.batches == 1 else f" in {file.batches} batches"
    return (
        f"{file.file} sha256 {file.file_digest[:DIGEST_DIGITS]}: {file.rows_loaded:,} {file.role} by "
        f"{file.loader}, {when}{batches}{', after the run' if file.after_run else ''}"
    )


def _list_evaluations(found: Provenance) -> Iterator[Fact]:
    shown = found.evaluations[-MOST_EVALUATIONS:]
    if not shown:
        yield "never", f"`pinakes evaluate {found.run['benchmark']}` scores it"
    for one in shown:
        value = "other measures" if one.headline is None else _write_headline(found, one.headline)
        yield (
            f"{one.evaluated_at:%Y-%m-%d}",
            f"{one.evaluated_at:%H:%M} {value}, by {one.judgments:,} judgments "
            f"{one.judgments_digest[:DIGEST_DIGITS]}, Pinakes {one.code_version}",
        )
    if len(found.evaluations) > len(shown):
        yield "", f"and {_count(len(found.evaluations) - len(shown), 'evaluation')} before"


def _write_headline(found: Provenance, value: float) -> str:
    return f"{found.headline_measure} {format_value(value, 'share', found.headline_measure)}"


def _list_made_with(found: Provenance) -> Iterator[Fact]:
    made: Mapping[str, Any] = found.run["made_with"]
    if HEADER in made:
        yield "file's header", f"{len(made[HEADER])} lines of ir_metadata; --json has them"
        return
    if not made:
        why = "others made it" if found.run["imported_from"] else "made before this was recorded"
        yield "unknown", why
        return
    libraries = ", ".join(f"{name} {number}" for name, number in made["libraries"].items())
    yield "libraries", f"Python {made['python']}, {libraries}"
    yield "database", made["database"]
    device = found.run["device"] or "cpu"
    yield (
        "machine",
        f"{made['distribution']}, {made['processor']} ({made['architecture']}, {made['cores']} cores, "
        f"{made['memory_gb']} GB), on {device}",
    )
    asked = made.get("asked", {})
    yield "asked for", ", ".join(f"{name} {value}" for name, value in asked.items())
