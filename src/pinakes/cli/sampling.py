"""The command that draws queries and pools from a corpus: `sample`, with the options of `sample.options`."""

import inspect
from typing import Annotated, Any

import typer

from pinakes.cli import steps
from pinakes.cli.options import BenchmarkName, DatabaseUrl, Json, Quiet, Wait
from pinakes.sample.options import declared_options


def sample(
    benchmark: BenchmarkName,
    corpus: Annotated[str, typer.Option(help="The corpus that queries and candidates are drawn from.")],
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Draw a benchmark's queries and candidate pools from a corpus, in place of those it had."""
    given = {name: options[declared.flag] for name, declared in declared_options().items()}
    with steps.connect(db, wait_s=wait) as database:
        summary = steps.sample(database, benchmark, corpus, given, progress=steps.show_progress(quiet=quiet))
    steps.print_sample(summary, as_json=json)


def _declare_flags() -> list[tuple[str, Any, None]]:
    """Name, annotation and default of every option that `sample.options` declares."""
    return [
        (
            flag,
            Annotated[
                list[type_] | None if may_repeat else type_ | None,  # type: ignore[valid-type]
                typer.Option(help=option.help, min=option.minimum, show_default=False),
            ],
            None,
        )
        for flag, type_, may_repeat, option in declared_options().values()
    ]


def add_sampling_command(app: typer.Typer) -> None:
    """Add `sample` to the command line, `options` replaced by the declared ones, behind the corpus."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    flags = [
        inspect.Parameter(name, by_name, default=default, annotation=annotation)
        for name, annotation, default in _declare_flags()
    ]
    benchmark, corpus, *others, _ = inspect.signature(sample).parameters.values()
    parameters = [benchmark, corpus, *flags, *(one.replace(kind=by_name) for one in others)]
    sample.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app.command()(sample)
