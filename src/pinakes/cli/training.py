"""The commands that train encoders and compare what was trained: `train`, `compare-methods`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions, Device, InTrain, SystemChoices, Systems
from pinakes.cli.running import Mode

app = CommandGroup()


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn."""

    task: Annotated[
        list[str],
        typer.Option(
            "--task",
            help="A benchmark that has a split for training, or KIND:CORPUS, where KIND is citations, "
            "influential, same_author, year, citation_count or fields. May be repeated.",
        ),
    ]
    held_out: Annotated[
        list[str] | None,
        typer.Option(help="A benchmark whose test papers and queries are left out too. May be repeated."),
    ] = None
    most: Annotated[int, typer.Option(help="The most instances of a task.", min=1)] = 600_000
    triplets: Annotated[int, typer.Option(help="The most triplets of a query.", min=1)] = 5
    validation: Annotated[float, typer.Option(help="The share of papers and queries that validate.")] = 0.1


@dataclass(frozen=True, slots=True)
class Schedule:
    """How it is trained; the defaults are those of SciRepEval's appendix B."""

    epochs: Annotated[
        int | None, typer.Option(help="Default: 2; for adapters 6; for a fusion 6, then 4.", min=1)
    ] = None
    batch_size: Annotated[int, typer.Option(help="Instances a step.", min=1)] = 256
    batching: Annotated[
        str | None,
        typer.Option(
            help="equal (shares of the tasks in a batch), mixed, sequential, or annealed (a task a batch, by "
            "its size, which counts less from epoch to epoch). Default: equal; for pals annealed."
        ),
    ] = None
    learning_rate: Annotated[float, typer.Option(help="The peak of the learning rate.")] = 5e-5
    warmup_steps: Annotated[int, typer.Option(help="Steps to the peak.", min=0)] = 700
    margin: Annotated[float, typer.Option(help="Of the triplet loss.")] = 1.0
    max_tokens: Annotated[int, typer.Option(help="Longer texts are cut here.", min=4)] = 512
    reduction_factor: Annotated[
        int, typer.Option(help="The width through that of an adapter's bottleneck.", min=1)
    ] = 16
    pal_width: Annotated[
        int, typer.Option(help="Numbers that a projected attention layer works on; a multiple of 6.", min=6)
    ] = 204
    micro_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens through the model at once; halved where memory runs out. Default: 2048 on a CPU, "
            "else 32768.",
            min=1,
        ),
    ] = None
    patience: Annotated[
        int,
        typer.Option(
            help="Stop a format after so many epochs without a lower validation loss; 0: never.", min=0
        ),
    ] = 0
    checkpoint_steps: Annotated[int, typer.Option(help="Steps between two kept states.", min=1)] = 200
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Compute states again for gradients: less memory.")
    ] = False
    precision: Annotated[str, typer.Option(help="fp32, bf16 or (on CUDA) fp16, of products.")] = "fp32"
    seed: Annotated[int, typer.Option(help="Of what is drawn, its order, and what training begins with.")] = 1


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="What the encoder is called, as my_encoder.")],
    drawing: Drawing,
    schedule: Schedule,
    base: Annotated[
        str,
        typer.Option(
            help="The encoder that is trained further; for a fusion also one that was trained with adapters."
        ),
    ] = "minilm",
    method: Annotated[
        str,
        typer.Option(
            help="cls (one embedding), ctrl (control codes), adapters (one a format), pals (projected "
            "attention layers a format) or fusion (attention over all adapters, a format)."
        ),
    ] = "ctrl",
    folder: Annotated[Path, typer.Option(help="Where the encoder's folder is made.")] = Path("encoders"),
    device: Device = None,
    devices: Annotated[
        str | None, typer.Option(help="Several, each with a process of its own, as cuda:0,cuda:1.")
    ] = None,
    processes: Annotated[int, typer.Option(help="Processes that share a CPU's cores.", min=1)] = 1,
    grouping: Annotated[
        str,
        typer.Option(help="Which tasks share an embedding: those of a format, or random groups, as many."),
    ] = "format",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be drawn; train nothing.")
    ] = False,
    *,
    common: CommonOptions,
) -> None:
    """Train an encoder on tasks of several formats: one embedding, or one a format."""
    from pinakes.indexers.training.settings import TrainingSettings
    from pinakes.train.data import DrawOptions
    from pinakes.train.summarise import summarise
    from pinakes.train.train import TrainRequest, describe_summary, draw_for, list_devices, train

    settings: dict[str, Any] = asdict(schedule)
    request = TrainRequest(
        name,
        base,
        tuple(drawing.task),
        DrawOptions(
            seed=schedule.seed,
            most=drawing.most,
            triplets_per_query=drawing.triplets,
            validation=drawing.validation,
            held_out=tuple(drawing.held_out or ()),
        ),
        TrainingSettings(method=method, **settings),  # type: ignore[arg-type]
        folder,
        list_devices(device, devices, processes),
        grouping=grouping,
    )
    with common.connect() as database:
        drawn = draw_for(database, request, progress=common.show_progress())
        summaries = summarise(drawn)
        if dry_run:
            common.print_records([asdict(one) for one in summaries])
            return
        for one in summaries:
            left_out = "; ".join(f"{count} left out: {why}" for why, count in one.left_out.items())
            common.say(f"{one.name}: {one.train} instances, {one.validation} to validate. {left_out}".strip())
            if one.unjudged:
                common.say(f"{one.name}: {one.unjudged} of its negatives are of the pool, and not judged")
        summary = train(database, request, drawn, progress=common.show_progress(), say=common.say)
    common.print_records([describe_summary(summary)])
    common.say(f"then, as any encoder: pinakes run BENCHMARK --system {summary.encoder}")


@app.command()
def compare_methods(
    benchmarks: Annotated[list[str], typer.Argument(help="The benchmarks; each has a format.")],
    system: Systems,
    choices: Annotated[SystemChoices, Omit("format")],
    in_train: InTrain = None,
    folder: Annotated[Path | None, typer.Option(help="Of the report. Default: none is written.")] = None,
    mode: Mode = "corrected",
    *,
    common: CommonOptions,
) -> None:
    """Run and score trained encoders and others on benchmarks, and compare the methods over seeds."""
    from pinakes.evaluate.methods import MethodsRequest, compare_methods
    from pinakes.report.present.methods import print_methods, write_methods

    with common.connect() as database:
        options = choices.for_database(database, common.say)
        request = MethodsRequest(system, benchmarks, tuple(in_train or ()), options, mode)
        found = compare_methods(database, request, progress=common.show_progress(), report=common.say)
    print_methods(found, common.output)
    if folder is not None:
        common.say(*map(str, write_methods(found, folder)))
