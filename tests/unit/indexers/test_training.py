"""Encoders trained on several formats: gradients, fits, kills and files; what cannot be is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, DistilBertConfig, DistilBertModel

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_fusion import FusedBottlenecks
from pinakes.indexers.encoder.attached import attach_parts
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.pals import PalSettings, make_pals
from pinakes.indexers.encoder.presets import find_preset, resolve_model
from pinakes.indexers.tensor_files import read_tensors, write_tensors
from pinakes.indexers.training import methods
from pinakes.indexers.training.bases import find_base
from pinakes.indexers.training.batches import Step, plan_epoch
from pinakes.indexers.training.losses import compute_losses
from pinakes.indexers.training.methods import MultiFormatModel
from pinakes.indexers.training.settings import Method, TrainingSettings
from pinakes.indexers.training.tasks import (
    CODES,
    Instances,
    Objective,
    TrainingTask,
    average_by_format,
    find_best,
    find_stopped,
    group_by_weights,
)
from pinakes.indexers.training.training import TrainedEncoder, train_encoder
from pinakes.workload.readers import FormatChoice, Reader, find_readers
from tests.long import long, sample
from tests.toy_codes import build_toy_codes
from tests.toy_encoder import build_toy_encoder

METHODS: tuple[Method, ...] = ("cls", "ctrl", "adapters", "pals", "fusion")
APART = {"adapters": "", "fusion": "_fusion"}
"""methods whose formats share no weight that is trained, and how the folders of a format's weights end"""
TEXTS = [f"{word} {letter}" for letter in "abcdef" for word in ("citation", "graph")]
EVEN, ODD = list(range(0, 12, 2)), list(range(1, 12, 2))
FAST = TrainingSettings(
    batch_size=8, warmup_steps=5, learning_rate=0.01, max_tokens=32, reduction_factor=2, pal_width=12
)


RATES: dict[Method, float] = {"cls": 0.01, "ctrl": 0.01, "adapters": 0.025, "pals": 0.01}
KILLS = {"fusion": (3, 9, 17, 22)}
"""steps at which a training is killed: of a fusion in both of its steps, which have 16 each"""


def make_tasks() -> list[TrainingTask]:
    """A task of each objective over texts of two words; each asks which word it is."""
    rows = np.arange(12)
    word = rows % 2
    triplets = np.array(
        [[EVEN[i], EVEN[i - 1], ODD[i]] for i in range(6)] + [[ODD[i], ODD[i - 1], EVEN[i]] for i in range(6)]
    )
    both = np.stack([word, 1 - word], axis=1)

    def make(
        name: str, kind: str, objective: Objective, classes: tuple[str, ...], *columns: Any
    ) -> TrainingTask:
        texts, targets = columns
        validation = Instances(texts[:4], targets[:4])
        return TrainingTask(name, kind, objective, TEXTS, classes, Instances(texts, targets), validation)

    return [
        make("words", "CLF", "classes", ("citation", "graph"), rows, word),
        make("both", "CLF", "labels", ("graph", "other"), rows, both),
        make("share", "RGN", "number", (), rows, word.astype(float)),
        make("near", "PRX", "triplets", (), triplets, np.empty((12, 0), np.int64)),
        make("asked", "SRCH", "triplets", (), triplets, np.empty((12, 0), np.int64)),
    ]


def make_diverging() -> list[TrainingTask]:
    """The same; the numbers validate on lower ones than they train on, and so worse after each epoch."""
    tasks = make_tasks()
    share = tasks[2]
    wrong = Instances(share.validation.texts, share.validation.targets - 2)
    return [*tasks[:2], replace(share, validation=wrong), *tasks[3:]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("base") / "toy", sentence_transformers_layout=False)


def train(base: Path, folder: Path, settings: TrainingSettings, **options: Any) -> TrainedEncoder:
    return train_encoder(base, options.pop("tasks", make_tasks()), settings, folder, threads=1, **options)


@pytest.mark.parametrize("objective", ["classes", "labels", "number", "triplets"])
def test_gradients_are_those_of_finite_differences(objective: Objective) -> None:
    generator = torch.Generator().manual_seed(5)
    shapes = {"classes": (4, 3), "labels": (4, 3), "number": (4, 1), "triplets": (4, 3, 5)}
    outputs = torch.randn(shapes[objective], generator=generator, dtype=torch.float64, requires_grad=True)
    targets = {
        "classes": torch.tensor([0, 2, 1, 1]),
        "labels": torch.randint(0, 2, (4, 3), generator=generator),
        "number": torch.randn(4, generator=generator, dtype=torch.float64),
        "triplets": torch.empty(4, 0),
    }[objective]
    assert torch.autograd.gradcheck(lambda given: compute_losses(objective, given, targets, 1.0), (outputs,))


def test_losses_are_those_worked_out_by_hand() -> None:
    half = np.log(2)
    zeros = torch.zeros(1, 2)
    assert compute_losses("classes", zeros, torch.tensor([1]), 1.0).item() == pytest.approx(half)
    assert compute_losses("labels", zeros, torch.tensor([[1, 0]]), 1.0).item() == pytest.approx(half)
    assert compute_losses("number", torch.tensor([[3.0]]), torch.tensor([1.0]), 1.0).item() == 4
    far = torch.tensor([[[0.0], [1.0], [9.0]]])
    assert compute_losses("triplets", far, torch.empty(1, 0), 1.0).item() == 0
    assert compute_losses("triplets", far, torch.empty(1, 0), 10.0).item() == 2


@pytest.mark.parametrize("method", [long("cls"), "ctrl", long("adapters"), long("pals")])
def test_each_method_fits_a_task_of_each_format(method: Method, base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, method=method, epochs=80, batch_size=60, warmup_steps=20)
    settings = replace(settings, learning_rate=RATES[method])
    trained = train(base, tmp_path / "fitted", settings)
    require_halved(trained)


def require_halved(trained: TrainedEncoder) -> None:
    first, last = trained.validation[0], trained.validation[-1]
    halved = [a < b / 2 for a, b in zip(last, first, strict=True) if a is not None and b is not None]
    assert halved == [True] * 5, (first, last)


@pytest.mark.parametrize("batching", ["equal", "mixed", "sequential"])
def test_an_epoch_reads_each_instance_once(batching: Any) -> None:
    steps = plan_epoch([7, 2, 12], 6, batching, seed=3, epoch=1)
    read = sorted((task, int(row)) for step in steps for task, rows in step for row in rows)
    assert read == [(task, row) for task, size in enumerate([7, 2, 12]) for row in range(size)]
    again = plan_epoch([7, 2, 12], 6, batching, seed=3, epoch=2)
    assert list_rows(steps) != list_rows(again)
    assert list_rows(steps) == list_rows(plan_epoch([7, 2, 12], 6, batching, seed=3, epoch=1))


def list_rows(steps: list[Step]) -> list[list[tuple[int, list[int]]]]:
    return [[(task, rows.tolist()) for task, rows in step] for step in steps]


def test_equal_batches_have_equal_shares_while_tasks_last() -> None:
    steps = plan_epoch([20, 20, 4], 6, "equal", seed=3, epoch=1)
    shares = [{task: len(rows) for task, rows in step} for step in steps]
    assert shares == [{0: 2, 1: 2, 2: 2}] * 2 + [{0: 3, 1: 3}] * 5 + [{0: 1, 1: 1}]


class KilledError(Exception):
    """Stands for a kill."""


def kill_at(step: int) -> Any:
    def stop(now: int, steps: int, losses: dict[str, float]) -> None:
        if now == step:
            raise KilledError

    return stop


@pytest.mark.parametrize("method", sample(METHODS, 2))
def test_a_killed_training_ends_as_an_undisturbed_one(method: Method, base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, method=method, epochs=2, checkpoint_steps=2, patience=5)
    tasks = make_diverging()
    whole = train(base, tmp_path / "a" / "whole", settings, tasks=tasks)
    for step in KILLS.get(method, (3, 9)):
        with pytest.raises(KilledError):
            train(base, tmp_path / "b" / "whole", settings, tasks=tasks, on_step=kill_at(step))
    resumed = train(base, tmp_path / "b" / "whole", settings, tasks=tasks)
    assert resumed.kept_epoch == whole.kept_epoch
    assert set(whole.kept_epoch.values()) == {1, 2} or method not in APART
    assert resumed.losses == whole.losses
    assert resumed.validation == whole.validation
    written = [
        path.relative_to(tmp_path / "a") for path in sorted(tmp_path.joinpath("a").rglob("*.safetensors"))
    ]
    assert written
    for path in written:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    assert not (tmp_path / "b" / "whole" / "checkpoint").exists()


def test_a_checkpoint_of_other_settings_or_another_version_is_refused(base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, checkpoint_steps=1)
    with pytest.raises(KilledError):
        train(base, tmp_path / "it", settings, on_step=kill_at(2))
    with pytest.raises(IndexingError, match="other settings"):
        train(base, tmp_path / "it", replace(settings, seed=2))
    with pytest.raises(IndexingError, match="other tasks"):
        train(base, tmp_path / "it", settings, tasks=make_tasks()[:2])
    path = tmp_path / "it" / "checkpoint" / "checkpoint.safetensors"
    tensors, state = read_tensors(path)
    write_tensors(path, tensors, {**state, "progress": {**state["progress"], "best_epoch": 0}})
    with pytest.raises(IndexingError, match="of another version of Pinakes"):
        train(base, tmp_path / "it", settings)


@pytest.mark.parametrize("method", sample(METHODS, 2))
def test_the_encoder_in_the_folder_gives_the_trained_vectors(
    method: Method, base: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    train(base, folder, replace(FAST, method=method))
    for asked, codes in {"CLF": ("CLF", "CLF"), "SRCH": ("QRY", "PRX")}.items():
        readers = find_readers(str(folder), FormatChoice(asked))
        found = [encode(reader, "citation graph") for reader in (*readers.queries, *readers.papers)]
        expected = [read_by_transformers(folder, method, code, "citation graph") for code in codes]
        np.testing.assert_allclose(found, expected, atol=1e-6)
    preset = find_preset(str(folder))
    assert preset is not None
    assert (preset.name, preset.distance, preset.normalize) == ("mine", "l2", False)


def encode(reader: Reader, text: str) -> Any:
    encoder = load_encoder(resolve_model(reader.encoder), "fp32")
    return encoder.embed(encoder.tokenize([reader.prefix + text]))[0]


def read_by_transformers(folder: Path, method: Method, code: str, text: str) -> Any:
    """The vector by transformers' own forward pass, with the format's part put into its layers."""
    has_parts = method in ("adapters", "pals", "fusion")
    inner = folder / "mine" if has_parts else folder
    tokenizer, model = AutoTokenizer.from_pretrained(inner), AutoModel.from_pretrained(inner).eval()
    given = tokenizer(f"[{code}] {text}" if method == "ctrl" else text, return_tensors="pt")
    if has_parts:
        attach_parts(model, folder / f"{code.lower()}{'_fusion' if method == 'fusion' else ''}")
        model.eval()
    with torch.no_grad():
        return model(**given).last_hidden_state[0, 1 if method == "ctrl" else 0].numpy()


def test_embeddings_of_formats_differ_and_those_of_cls_do_not(base: Path, tmp_path: Path) -> None:
    numbers: dict[Method, int] = {"ctrl": 4, "adapters": 4, "pals": 4, "fusion": 4, "cls": 1}
    for method, distinct in numbers.items():
        folder = tmp_path / method
        train(base, folder, replace(FAST, method=method, epochs=1))
        found = set()
        for code in ("CLF", "RGN", "PRX", "QRY"):
            choice = FormatChoice(code)
            reader = find_readers(str(folder), choice).papers[0]
            found.add(encode(reader, "paper").tobytes())
        assert len(found) == distinct, method


def test_adapters_leave_the_base_as_it_was(base: Path, tmp_path: Path) -> None:
    trained = train(base, tmp_path / "mine", replace(FAST, method="adapters", epochs=1))
    before = AutoModel.from_pretrained(base).state_dict()
    after = AutoModel.from_pretrained(tmp_path / "mine" / "mine").state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    # Two layers and four codes; 16 numbers to 8 and back, with biases.
    assert trained.trained == 2 * 4 * (2 * 16 * 8 + 8 + 16)


def test_fusions_fit_a_task_of_each_format_and_leave_adapters_and_base_as_they_were(
    base: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, batch_size=60, warmup_steps=10, learning_rate=0.025)
    train(base, tmp_path / "adapted", replace(settings, method="adapters", epochs=15))
    settings = replace(settings, method="fusion", epochs=80, learning_rate=0.01)
    fused = train(tmp_path / "adapted", tmp_path / "fused", settings)
    require_halved(fused)
    assert fused.trained == 4 * 2 * (3 * 16 * 16 + 2 * 16)  # of four codes in each of two layers
    for code in ("clf", "rgn", "prx", "qry"):
        for name in ("adapter.safetensors", "adapter_config.json"):
            place = Path(code) / name
            assert (tmp_path / "fused" / place).read_bytes() == (tmp_path / "adapted" / place).read_bytes()
    before = AutoModel.from_pretrained(base).state_dict()
    after = AutoModel.from_pretrained(tmp_path / "fused" / "fused").state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    record = json.loads((tmp_path / "fused" / "training.json").read_text(encoding="utf-8"))
    assert record["base_training"]["decided"]["settings"]["method"] == "adapters"
    # By base and settings trainings are told to differ in their seed alone.
    assert record["decided"]["base"] == record["base_training"]["decided"]["base"]
    assert record["base_folder"] == base.name


def test_a_fusion_begins_as_the_librarys_and_its_values_are_held_near_the_identity(
    base: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, method="fusion", epochs=1)
    train(base, tmp_path / "adapted", replace(settings, method="adapters"))
    found = find_base(tmp_path / "adapted", "fusion", ("CLF", "RGN"))
    model = MultiFormatModel(found, settings, make_tasks())
    fusions = [module for module in model.modules() if isinstance(module, FusedBottlenecks)]
    expected = torch.full((16, 16), 1e-6).fill_diagonal_(1.0)
    assert [torch.equal(one.value.weight, expected) for one in fusions] == [True] * 8
    with torch.no_grad():
        fusions[3].value.weight[0, 0] = 3.0
    penalty = model.compute_penalty()
    assert penalty is not None
    assert penalty.item() == pytest.approx(0.01 * 4.0, abs=1e-6)


def test_a_base_of_another_kind_than_the_method_needs_is_refused(base: Path, tmp_path: Path) -> None:
    words, _, share, *_ = make_tasks()
    for method in ("adapters", "pals"):
        train(base, tmp_path / method, replace(FAST, method=method, epochs=1), tasks=[words, share])
    fusion = replace(FAST, method="fusion", epochs=1)
    for name, settings, tasks, message in (
        (
            "adapters",
            FAST,
            None,
            r"adapters has a part for each format \(CLF, RGN\); expected a base without",
        ),
        ("pals", fusion, None, r"pals has a part for each format \(CLF, RGN\); expected a base without"),
        ("adapters", fusion, None, r"has no adapter for PRX, QRY \(it has CLF, RGN\)"),
        ("", fusion, [words], "a fusion has the format CLF alone; expected two or more"),
    ):
        of = make_tasks() if tasks is None else tasks
        with pytest.raises(IndexingError, match=message):
            train(tmp_path / name if name else base, tmp_path / "it", settings, tasks=of)
    assert not (tmp_path / "it").exists()


def test_adapters_of_a_fusion_that_were_trained_otherwise_are_refused(base: Path, tmp_path: Path) -> None:
    fusion = replace(FAST, method="fusion", epochs=1)
    with pytest.raises(KilledError):
        train(base, tmp_path / "it", fusion, on_step=kill_at(9))  # the first step of the fusions
    with pytest.raises(IndexingError, match="is of a training with other settings"):
        train(base, tmp_path / "it", replace(fusion, seed=2))


def test_pals_are_beside_each_layer_and_the_whole_network_is_trained(base: Path, tmp_path: Path) -> None:
    trained = train(base, tmp_path / "mine", replace(FAST, method="pals", epochs=1))
    before = AutoModel.from_pretrained(base)
    # Of each code the projections once, 16 numbers to 12 and back, and attention in each of two layers.
    pals = 4 * ((16 * 12 + 12) + (12 * 16 + 16) + 2 * 3 * (12 * 12 + 12))
    assert trained.trained == trained.parameters == sum(one.numel() for one in before.parameters()) + pals
    after = AutoModel.from_pretrained(tmp_path / "mine" / "mine").state_dict()
    changed = [name for name, value in before.state_dict().items() if not torch.equal(value, after[name])]
    assert {"embeddings.word_embeddings.weight", "encoder.layer.0.attention.self.query.weight"} <= {*changed}
    # BERT base as in table 5: two million numbers a format.
    large = make_pals(PalSettings("CLF", 768, 12, width=204, heads=6))
    numbers = {id(value): value.numel() for pal in large for value in pal.parameters()}
    assert sum(numbers.values()) == 1_819_836


def test_annealed_batches_are_of_one_task_by_its_size_which_counts_less_at_the_end() -> None:
    sizes = [24_300, 3_200]
    for epoch, share in ((1, 24_300 / 27_500), (2, 0.6)):
        steps = plan_epoch(sizes, 10, "annealed", seed=3, epoch=epoch, epochs=2)
        assert len(steps) == 2750
        assert {len(step) for step in steps} == {1}
        assert np.mean([step[0][0] == 0 for step in steps]) == pytest.approx(share, abs=0.03)
    rows = [step[0][1] for step in steps if step[0][0] == 1]
    # 1,100 batches of 10 read 3,200 instances three times whole, each time in another order.
    turns = np.concatenate(rows)[: 3 * 3200].reshape(3, 3200)
    assert [sorted(turn) for turn in turns.tolist()] == [list(range(3200))] * 3
    assert len({tuple(turn) for turn in turns.tolist()}) == 3
    again = plan_epoch(sizes, 10, "annealed", seed=3, epoch=2, epochs=2)
    assert list_rows(again) == list_rows(steps)
    assert TrainingSettings(method="pals").batching_used == "annealed"
    assert TrainingSettings(method="pals", batching="equal").batching_used == "equal"
    assert TrainingSettings().batching_used == "equal"


def test_a_batch_that_is_larger_than_its_task_reads_it_once() -> None:
    steps = plan_epoch([3, 3, 3], 8, "annealed", seed=1, epoch=1)
    assert [sorted(rows.tolist()) for step in steps for _, rows in step] == [[0, 1, 2]] * 2


@pytest.mark.parametrize("method", METHODS)
def test_vectors_and_gradients_are_those_of_padded_texts(
    method: Method, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, of = replace(FAST, method=method), base
    if method == "fusion":
        of = tmp_path / "adapted"
        train(base, of, replace(FAST, method="adapters", epochs=1))
    torch.manual_seed(1)
    model = MultiFormatModel(find_base(of, method, CODES), settings, make_tasks()).eval()
    tokens = [
        model.put_code(row, "PRX")
        for row in model.encode_texts(["a graph", "of", "the citation graph of a b"])
    ]
    found = []
    for packs in (True, False):
        monkeypatch.setattr(methods, "can_run_packed", lambda *_, packs=packs: packs)
        model.zero_grad()
        vectors = model.embed(tokens, "PRX", "cpu")
        (vectors**3).sum().backward()  # type: ignore[no-untyped-call]
        gradients = {
            name: value.grad for name, value in model.list_trained().items() if value.grad is not None
        }
        found.append({"vectors": vectors.detach(), **gradients})
    assert found[0].keys() == found[1].keys()
    for name, value in found[1].items():
        torch.testing.assert_close(found[0][name], value, atol=1e-4, rtol=1e-4, msg=name)


def test_states_that_are_computed_again_give_losses_that_differ_in_rounding(
    base: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, method="pals", epochs=1)
    plain = train(base, tmp_path / "plain", settings)
    again = train(base, tmp_path / "again", replace(settings, recompute=True))
    for one, other in zip(again.losses, plain.losses, strict=True):
        assert one == [None if value is None else pytest.approx(value, abs=1e-4) for value in other]


def test_memory_that_does_not_suffice_halves_what_goes_through_at_once(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = MultiFormatModel.embed
    seen: list[int] = []

    def refuse(self: MultiFormatModel, tokens: list[list[int]], code: str, device: str) -> torch.Tensor:
        seen.append(sum(map(len, tokens)))
        if seen[-1] > 40:
            raise torch.OutOfMemoryError("no room")
        return embed(self, tokens, code, device)

    monkeypatch.setattr(MultiFormatModel, "embed", refuse)
    trained = train(base, tmp_path / "it", replace(FAST, epochs=1, micro_tokens=128))
    assert max(seen) > 40
    assert trained.steps == len(plan_epoch([12] * 5, 8, "equal", 1, 1))
    monkeypatch.setattr(MultiFormatModel, "embed", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError()))
    with pytest.raises(IndexingError, match="memory does not hold one instance"):
        train(base, tmp_path / "other", FAST)


def test_a_loss_that_is_no_number_stops_and_keeps_the_checkpoint(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(FAST, checkpoint_steps=2)
    with pytest.raises(KilledError):
        train(base, tmp_path / "it", settings, on_step=kill_at(4))
    kept = (tmp_path / "it" / "checkpoint" / "checkpoint.safetensors").read_bytes()
    embed = MultiFormatModel.embed
    monkeypatch.setattr(MultiFormatModel, "embed", lambda *given: embed(*given) * float("nan"))
    with pytest.raises(IndexingError, match=r"the loss of \w+ is no number in step 3 \(instances \d"):
        train(base, tmp_path / "it", settings)
    assert (tmp_path / "it" / "checkpoint" / "checkpoint.safetensors").read_bytes() == kept


def test_patience_stops_and_keeps_the_best_epoch(base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, method="cls", epochs=30, patience=2, learning_rate=0.5, warmup_steps=1)
    trained = train(base, tmp_path / "it", settings)
    assert trained.epochs_run < 30
    means = [sum(value or 0 for value in average(losses).values()) for losses in trained.validation]
    assert set(trained.kept_epoch.values()) == {1 + int(np.argmin(means))}


@pytest.mark.parametrize("method", sample(METHODS, 2))
def test_formats_that_share_no_trained_weight_keep_the_best_epoch_of_each(
    method: Method, base: Path, tmp_path: Path
) -> None:
    of, tasks = base, make_diverging()
    if method == "fusion":
        of = tmp_path / "adapted"
        train(base, of, replace(FAST, method="adapters", epochs=1))
    # So long a patience stops no format: up to each epoch the training is that of so many epochs.
    settings = replace(FAST, method=method, epochs=4, batching="equal")
    kept = train(of, tmp_path / "kept" / "it", replace(settings, patience=4), tasks=tasks)
    groups = {"CLF": (0, 1), "RGN": (2,), "PRX": (3, 4), "QRY": (3, 4)}
    formats = [task.format for task in tasks]
    for code, numbers in groups.items():
        of_code = numbers if method in APART else range(5)
        named = [formats[number] for number in of_code]
        losses = [average_by_format(named, [row[number] for number in of_code]) for row in kept.validation]
        assert kept.kept_epoch[code] == 1 + int(np.argmin([sum(one.values()) for one in losses]))
    assert (len(set(kept.kept_epoch.values())) > 1) == (method in APART)
    for epoch in set(kept.kept_epoch.values()):
        train(of, tmp_path / str(epoch) / "it", replace(settings, epochs=epoch), tasks=tasks)
    for code, epoch in kept.kept_epoch.items():
        place = Path("it", f"{code.lower()}{APART[method]}" if method in APART else "")
        written = sorted((tmp_path / "kept" / place).rglob("*.safetensors"))
        assert written
        for path in written:
            same = tmp_path / str(epoch) / path.relative_to(tmp_path / "kept")
            assert path.read_bytes() == same.read_bytes(), (code, path.name)


def test_without_patience_or_what_validates_the_last_epoch_is_kept(base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, method="adapters", epochs=2)
    plain = train(base, tmp_path / "plain" / "it", settings, tasks=make_diverging())
    assert set(plain.kept_epoch.values()) == {2}
    tasks = make_diverging()
    none = Instances(np.empty(0, np.int64), np.empty(0, np.float64))
    tasks[2] = replace(tasks[2], validation=none)
    kept = train(base, tmp_path / "kept" / "it", replace(settings, patience=2), tasks=tasks)
    assert kept.kept_epoch["RGN"] == 2
    files = [tmp_path / name / "it" / "rgn" / "adapter.safetensors" for name in ("plain", "kept")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_kept_with_the_tasks_that_train_them(method: Method, base: Path, tmp_path: Path) -> None:
    of, tasks = base, make_tasks()
    if method == "fusion":
        of = tmp_path / "adapted"
        train(base, of, replace(FAST, method="adapters", epochs=1))
    model = MultiFormatModel(find_base(of, method, CODES), replace(FAST, method=method), tasks)
    groups = group_by_weights([model.list_trained(task) for task in tasks])
    # A search's papers have the code of proximity.
    apart = [((0, 1), {"both", "words"}), ((2,), {"share"}), ((3, 4), set[str]())]
    heads = {
        numbers: {name.split(".")[1] for name in names if name.startswith("heads.")}
        for numbers, names in groups.items()
    }
    expected = apart if method in APART else [((0, 1, 2, 3, 4), {"both", "words", "share"})]
    assert sorted(heads.items()) == expected
    assert sorted(name for names in groups.values() for name in names) == sorted(model.list_trained())
    mixed = [replace(task, group=code) for task, code in zip(tasks, (*CODES, "CLF"), strict=True)]
    by_code = group_by_weights([model.list_trained(task) for task in mixed])
    assert sorted(by_code) == ([(0, 4), (1,), (2,), (3,)] if method in APART else [(0, 1, 2, 3, 4)])


def test_a_loss_that_is_no_number_is_of_no_best_epoch() -> None:
    assert find_best([{"CLF": float("nan")}, {"CLF": 2.0}, {"CLF": float("nan")}, {"CLF": 2.0}]) == 2
    assert find_best([{}, {}]) == find_best([{"CLF": float("nan")}]) == 0


@pytest.mark.parametrize("batching", ["equal", "mixed", "sequential", "annealed"])
def test_a_format_that_stopped_gives_no_more_batches_and_the_others_go_on(
    batching: Any, base: Path, tmp_path: Path
) -> None:
    tasks = make_tasks()
    settings = replace(FAST, epochs=6, patience=1, batching=batching, learning_rate=0.5, warmup_steps=1)
    trained = train(base, tmp_path / "it", settings, tasks=tasks)
    record = json.loads((tmp_path / "it" / "training.json").read_text(encoding="utf-8"))
    formats = [task.format for task in tasks]
    by_epoch = [average_by_format(formats, losses) for losses in trained.validation]
    assert record["stopped"] == find_stopped(by_epoch, 1)
    assert record["stopped"]
    # The tasks of each epoch: where its steps ended, the validation of the stopped formats does not matter.
    sizes = [len(task.train) for task in tasks]
    step = 0
    for epoch in range(1, trained.epochs_run + 1):
        stopped = {name for name, at in record["stopped"].items() if at < epoch}
        left = [0 if task.format in stopped else size for task, size in zip(tasks, sizes, strict=True)]
        planned = plan_epoch(left, settings.batch_size, batching, settings.seed, epoch, settings.epochs or 0)
        for one in planned:
            read = {number for number, loss in enumerate(trained.losses[step]) if loss is not None}
            assert read == {number for number, rows in one if len(rows)}
            assert not any(formats[number] in stopped for number in read)
            step += 1
    assert step == trained.steps


def average(losses: list[float | None]) -> dict[str, float]:
    clf = [value for value in losses[:2] if value is not None]
    return {"CLF": sum(clf) / 2, **{str(n): value for n, value in enumerate(losses[2:]) if value is not None}}


def test_what_made_the_weights_stands_beside_them(base: Path, tmp_path: Path) -> None:
    train(base, tmp_path / "it", replace(FAST, epochs=1))
    record = json.loads((tmp_path / "it" / "training.json").read_text(encoding="utf-8"))
    assert record["decided"]["settings"]["seed"] == 1
    assert set(record["decided"]["tasks"]) == {"words", "both", "share", "near", "asked"}
    assert len(record["losses"]) == record["steps"]
    with pytest.raises(IndexingError, match="holds a trained encoder"):
        train(base, tmp_path / "it", FAST)


def test_what_cannot_be_trained_on_is_refused(base: Path, tmp_path: Path) -> None:
    words, _, share, *_ = make_tasks()
    none = Instances(np.empty(0, np.int64), np.empty(0, np.int64))
    refused = {
        "no task is named": [],
        "words is named twice": [words, words],
        "has no instance to train on": [replace(words, train=none)],
        "has 1 classes": [replace(words, classes=("graph",))],
        "asks for number": [replace(share, format="CLF")],
        "infinite or no number": [replace(share, train=Instances(np.arange(2), np.array([0.5, np.nan])))],
    }
    for message, tasks in refused.items():
        with pytest.raises(IndexingError, match=message):
            train(base, tmp_path / "it", FAST, tasks=tasks)
    assert not (tmp_path / "it").exists()


def test_a_base_that_does_not_fit_is_refused(base: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match=r"vocabulary has \[CLF\], \[RGN\]"):
        train(build_toy_codes(tmp_path / "codes"), tmp_path / "it", FAST)
    with pytest.raises(IndexingError, match="cannot be loaded"):
        train(tmp_path / "absent", tmp_path / "it", FAST)
    for method in ("adapters", "pals"):
        with pytest.raises(IndexingError, match=r"is a distilbert; expected a BERT"):
            train(build_distilbert(base, tmp_path / method), tmp_path / "it", replace(FAST, method=method))
    refused: list[dict[str, Any]] = [{"pal_width": 8}, {"batching": "magic"}]
    for wrong in (*refused, {"method": "magic"}, {"batch_size": 0}, {"learning_rate": 0.0}, {"epochs": 0}):
        with pytest.raises(IndexingError, match="expected"):
            replace(FAST, **wrong)


def build_distilbert(toy: Path, folder: Path) -> Path:
    AutoTokenizer.from_pretrained(toy).save_pretrained(folder)
    config = DistilBertConfig(vocab_size=90, dim=16, n_layers=1, n_heads=2, hidden_dim=32)
    DistilBertModel(config).save_pretrained(folder)
    return folder


def test_a_folder_that_names_parts_outside_is_refused(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    train(base, folder, replace(FAST, method="adapters", epochs=1))
    described = json.loads((folder / "pinakes_encoder.json").read_text(encoding="utf-8"))
    described["members"]["CLF"] = "mine+../elsewhere"
    (folder / "pinakes_encoder.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(IndexingError, match="folders beside it alone"):
        find_preset(str(folder))
