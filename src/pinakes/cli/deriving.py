"""The commands that make rows of papers' texts: `derive neighbours`, `derive summaries`."""

from typing import Annotated

import typer

from pinakes.cli.option_sets import CommandGroup
from pinakes.cli.options import CommonOptions

app = CommandGroup()
derive_app = CommandGroup(no_args_is_help=True)
app.add_typer(
    derive_app, name="derive", help="Make what is derived of papers' texts, or bring it up to date."
)


@derive_app.command("neighbours")
def derive_neighbours(
    corpus: Annotated[str, typer.Option(help="The corpus whose papers are altered.")],
    codes: Annotated[
        str | None, typer.Option(help="Which of the 32, as T_ARot,TDelNN. Default: all of them.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 1,
    analyser: Annotated[
        str, typer.Option(help="What finds sentences, words and their tags: textblob, nltk or spacy.")
    ] = "textblob",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="As the published code makes them, with its faults.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes that analyse texts and make neighbours.")] = 1,
    *,
    common: CommonOptions,
) -> None:
    """Make the textual neighbours of a corpus's papers that are missing, or of an older text."""
    from pinakes.report.present.derive import print_neighbours
    from pinakes.texts.corpus_neighbours import NeighbourRequest, derive_neighbours, split_codes

    request = NeighbourRequest(corpus, split_codes(codes), seed, analyser, as_published, jobs)
    with common.connect() as database:
        made = derive_neighbours(database, request, progress=common.show_progress())
    print_neighbours(made, common.output)


@derive_app.command("summaries")
def derive_summaries(
    corpus: Annotated[str, typer.Option(help="The corpus whose papers and cited works make examples.")],
    splitter: Annotated[
        str, typer.Option(help="What finds sentences: punkt, nltk, or source (those that the source gave).")
    ] = "punkt",
    labeller: Annotated[
        list[str] | None,
        typer.Option(
            help="Who says which sentences are relevant, as 'citing exact', 'citing aligned 0.6' or "
            "'greedy rouge2 f rouge_score citing'; may be repeated. Default: these three."
        ),
    ] = None,
    min_positives: Annotated[
        int, typer.Option(help="Relevant sentences that an example has at least, by the first labeller.")
    ] = 0,
    min_sentences: Annotated[int, typer.Option(help="Sentences that an example's paper has at least.")] = 1,
    seed: Annotated[int, typer.Option(help="Of both splits.")] = 1,
    test: Annotated[float, typer.Option(help="Share of the examples, or of their papers, to test.")] = 0.1,
    dev: Annotated[float, typer.Option(help="Share of them to choose models by.")] = 0.1,
    jobs: Annotated[int, typer.Option(help="Processes that split and label.")] = 1,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Also the labels of the published dataset.")
    ] = False,
    *,
    common: CommonOptions,
) -> None:
    """Make examples of query-focused summarisation: what papers say of the works that they cite."""
    from pinakes.report.present.derive import print_summaries
    from pinakes.texts.summaries.derive import derive_summaries
    from pinakes.texts.summaries.labellers import choose_labellers
    from pinakes.texts.summaries.request import SummaryRequest

    labellers = choose_labellers(labeller or (), as_published=as_published)
    shares = (test, dev)
    request = SummaryRequest(corpus, splitter, labellers, min_positives, min_sentences, jobs, seed, *shares)
    with common.connect() as database:
        made = derive_summaries(database, request, progress=common.show_progress())
    print_summaries(made, common.output)
