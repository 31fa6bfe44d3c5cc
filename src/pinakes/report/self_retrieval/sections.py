"""The report section by section: what a page shows, in its order."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pinakes.report.asked_runs import AskedRun
from pinakes.report.parts import Part, Picture, Section, Words, fold
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.findings import FEWEST_PAIRS, describe_loss
from pinakes.report.self_retrieval.names import ROBUSTNESS
from pinakes.report.self_retrieval.plots import found, space
from pinakes.report.self_retrieval.plots.panels import PANELS_BESIDE, split_runs
from pinakes.report.self_retrieval.tables import codes, paper
from pinakes.report.self_retrieval.tables.side_by_side import compare_tables, keep_tables, published_table

_VIEW_TITLES: Final = {
    "table_2": "Table 2: the paper's corpora, and how many of their papers are here",
    "datasets": "Papers that can be asked, and why some cannot",
}
_NO_TABLE_6: Final = (
    "Table 6 of the paper lists what two search engines answered to two queries on a day. No data of it can "
    "be loaded and no one can repeat it, so it has no counterpart here; how the nearest papers of a text and "
    "of its neighbour differ is what AOP measures, over thousands of papers."
)


def list_sections(report: SelfReport) -> list[Section]:
    """All sections that have something to show."""
    made = [
        Section("Robustness", _show_robustness(report)),
        Section("Titles as queries", _show_titles(report)),
        Section("Do neighbours find their original?", _show_returns(report)),
        Section("Do they share its nearest papers?", _show_overlaps(report)),
        Section("How alike are all papers?", _show_similarities(report)),
        Section("Loss against change", _show_losses(report)),
        Section("Papers and neighbours", _show_coverage(report)),
        Section("What the paper prints of other corpora", _show_published(report)),
    ]
    return [section for section in made if section.parts]


def _show_robustness(report: SelfReport) -> list[Part]:
    parts: list[Part] = [*compare_tables(report, [paper.robustness_table(report)])]
    if any((run.run_id, "all", ROBUSTNESS) in report.values for run in report.runs):
        parts.append(Picture(partial(found.plot_robustness, report, name="robustness")))
    return parts


def _show_titles(report: SelfReport) -> list[Part]:
    parts: list[Part] = [*compare_tables(report, [paper.task_table()])]
    mapped = [run for run in report.runs if run.run_id in report.maps]
    if mapped:
        caption = (
            "t-SNE of a sample of papers (Figures 2 and 8). A place means nothing by itself, only what is "
            "near what."
        )
        parts.append(Picture(partial(space.plot_maps, report, mapped, name="maps"), caption))
    return [*parts, *compare_tables(report, [paper.normalised_table()])]


def _show_returns(report: SelfReport) -> list[Part]:
    if not report.codes:
        return []
    parts: list[Part] = [*compare_tables(report, [paper.return_table(report)])]
    parts += _draw_corpora(
        report, report.runs, found.plot_category_returns, "returns", "NN1 and NN10 by category"
    )
    title = "NN1 and NN10 of every code (Figures 6 and 12)"
    drawn = [
        picture
        for place, corpus in enumerate(report.list_corpora())
        for picture in _draw_all(
            report,
            report.list_runs(corpus),
            found.plot_code_returns,
            f"codes{place}",
            f"{title}, on {corpus}: NN1 full, what NN10 adds pale.",
        )
    ]
    tables = [codes.code_table(report, run) for run in report.runs]
    return [*parts, *fold(title, drawn), *fold("All codes in figures, run by run", tables)]


def _show_overlaps(report: SelfReport) -> list[Part]:
    runs = [run for run in report.runs if any(key[0] == run.run_id for key in report.overlaps)]
    return [
        *compare_tables(report, [paper.overlap_table(report)]),
        *_draw_corpora(report, runs, space.plot_boxes, "boxes", "AOP-10 of every code (Figures 7 and 13)"),
        *keep_tables([paper.capability_table(report)]),
        *fold(
            "AOP-10 and AOP-20 in the three readings", compare_tables(report, paper.reading_tables(report))
        ),
    ]


def _show_similarities(report: SelfReport) -> list[Part]:
    runs = [run for run in report.runs if any(key[0] == run.run_id for key in report.similarities)]
    spread = (
        "Similarity of all pairs (Figures 4 and 9): the line from the lowest to the highest, the bar one "
        "standard deviation to each side of the mean"
    )
    above = "Per cent of pairs above the mean of their code (Figures 3 and 10)"
    return [
        *_draw_corpora(report, runs, space.plot_similarities, "similarity", spread),
        *_draw_corpora(report, runs, space.plot_above_mean, "above", above, beside=6),
        *fold("The same in figures", keep_tables([codes.similarity_table(report, run) for run in runs])),
    ]


def _show_losses(report: SelfReport) -> list[Part]:
    runs = [run for run in report.runs if any(key[0] == run.run_id for key in report.losses)]
    if not runs:
        return []
    caption = (
        "Neighbours that do not find their original first, over how much is changed; a point of a line is "
        f"of at least {FEWEST_PAIRS} neighbours, a small dot is a code"
    )
    tables = keep_tables([codes.loss_table(report, run) for run in runs])
    first, *others = dict.fromkeys(run.corpus for run in runs)
    said = {corpus: _describe_losses(report, runs, corpus) for corpus in (first, *others)}
    return [
        said[first],
        *_draw_corpora(report, runs, found.plot_losses, "loss", caption),
        *fold("What this shows on the other corpora", [said[corpus] for corpus in others]),
        *fold("The same in figures, with the number of pairs", tables),
    ]


def _describe_losses(report: SelfReport, runs: Sequence[AskedRun], corpus: str) -> Words:
    return Words([describe_loss(report, run) for run in runs if run.corpus == corpus])


def _show_coverage(report: SelfReport) -> list[Part]:
    views = [
        codes.view_table(_VIEW_TITLES.get(name, name), view)
        for name, view in report.views.items()
        if view.rows
    ]
    covered = codes.coverage_tables(report)
    return [*views, *covered[:1], *(part for table in covered[1:] for part in fold(table.title, [table]))]


def _show_published(report: SelfReport) -> list[Part]:
    wanted = [paper.task_table(), paper.normalised_table(), paper.overlap_table(report)]
    tables = keep_tables([published_table(report, one) for one in wanted])
    return [*(part for table in tables for part in fold(table.title, [table])), Words([_NO_TABLE_6])]


def _draw_corpora(
    report: SelfReport,
    runs: Sequence[AskedRun],
    plot: Callable[..., str],
    name: str,
    caption: str,
    beside: int = PANELS_BESIDE,
) -> list[Part]:
    """The pictures of the first corpus, and below them those of the others, folded."""
    parts: list[Part] = []
    for place, corpus in enumerate(dict.fromkeys(run.corpus for run in runs)):
        of_corpus = [run for run in runs if run.corpus == corpus]
        drawn = _draw_all(report, of_corpus, plot, f"{name}{place}", f"{caption}, on {corpus}.", beside)
        parts += fold(f"The same on {corpus}", drawn) if place else drawn
    return parts


def _draw_all(
    report: SelfReport,
    runs: Sequence[AskedRun],
    plot: Callable[..., str],
    name: str,
    caption: str,
    beside: int = PANELS_BESIDE,
) -> list[Picture]:
    """As many pictures as it takes, the caption below the last."""
    chunks = split_runs(runs, beside)
    captions = ["" for _chunk in chunks[1:]] + [caption]
    return [
        Picture(partial(plot, report, chosen, name=f"{name}-{place}"), words)
        for place, (chosen, words) in enumerate(zip(chunks, captions, strict=True))
    ]
