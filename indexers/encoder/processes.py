"""Several devices, each with a process and an encoder of its own; texts go to them by their digests."""

import multiprocessing
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from pinakes.errors import IndexingError, PinakesError
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import WINDOW, encode_texts, text_digest
from pinakes.indexers.encoder.presets import ModelSource

Key = TypeVar("Key")

_TEXTS_AT_ONCE: Final = 1024
_CHUNKS_AHEAD: Final = 16
_BATCHES_AHEAD: Final = 8
_POLL_S: Final = 1.0


class EncoderProcesses(Generic[Key]):
    """Encoders of one model on several devices, as a context manager; the processes start with it.

    The same device may be named twice: two processes then share it. `options` go to `load_encoder`. Keys
    travel between processes, so they have to be plain values. `threads` is for each process on a CPU; None
    shares the cores out evenly.
    """

    def __init__(
        self,
        source: ModelSource,
        devices: Sequence[str],
        options: Mapping[str, Any] | None = None,
        token_budget: int | None = None,
        window: int = WINDOW,
        threads: int | None = None,
        compile: bool = False,
    ) -> None:
        self._devices = list(devices)
        # Spawned, not forked: CUDA does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._tasks: list[Any] = [context.Queue(_CHUNKS_AHEAD) for _ in devices]
        self._results: Any = context.Queue(_BATCHES_AHEAD * len(devices))
        shared = threads or max(1, (os.cpu_count() or 1) // len(devices))
        settings = (source, dict(options or {}), token_budget, window, shared, compile)
        self._processes = [
            context.Process(target=_work, args=(device, *settings, tasks, self._results), daemon=True)
            for device, tasks in zip(devices, self._tasks, strict=True)
        ]

    def __enter__(self) -> "EncoderProcesses[Key]":
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
        for tasks in (*self._tasks, self._results):
            tasks.cancel_join_thread()
            tasks.close()

    @property
    def process_ids(self) -> list[int]:
        """The processes' ids, in the order of the devices."""
        return [process.pid for process in self._processes if process.pid is not None]

    def encode(self, texts: Iterable[tuple[Key, str]]) -> Iterator[EncodedBatch[Key]]:
        """Yield the vectors of every text, as `encode_texts` does; batches come as the devices finish them.

        `texts` is read in a thread of its own. The same texts on as many devices give the same vectors.
        Raises IndexingError if a process fails or ends; nothing can be encoded here afterwards.
        """
        stopped = threading.Event()
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="feed-encoders") as feeder:
            feeding = feeder.submit(self._feed, texts, stopped)
            try:
                working = len(self._processes)
                while working:
                    found = self._take(feeding)
                    if found is None:
                        working -= 1
                    else:
                        yield found
            finally:
                stopped.set()

    def _take(self, feeding: Future[None]) -> EncodedBatch[Key] | None:
        """The next batch, or None where a process has done all its texts."""
        while True:
            with suppress(queue.Empty):
                kind, content = self._results.get(timeout=_POLL_S)
                if kind == "failed":
                    raise IndexingError(content)
                return EncodedBatch(*content) if kind == "batch" else None
            if feeding.done():
                feeding.result()
            self._require_alive()

    def _require_alive(self) -> None:
        for device, process in zip(self._devices, self._processes, strict=True):
            if not process.is_alive():
                raise IndexingError(
                    f"the process that encodes on {device} ended with exit code {process.exitcode}; expected "
                    "it to end with its texts. Free memory or name fewer devices, and start again: what is "
                    "stored is not encoded twice"
                )

    def _feed(self, texts: Iterable[tuple[Key, str]], stopped: threading.Event) -> None:
        waiting: list[list[tuple[Key, str]]] = [[] for _ in self._tasks]
        for key, text in texts:
            number = choose_shard(text_digest(text), len(waiting))
            waiting[number].append((key, text))
            if len(waiting[number]) == _TEXTS_AT_ONCE:
                _put(self._tasks[number], waiting[number], stopped)
                waiting[number] = []
            if stopped.is_set():
                return
        for tasks, rest in zip(self._tasks, waiting, strict=True):
            _put(tasks, rest, stopped)
            _put(tasks, None, stopped)


def choose_shard(digest: str, shards: int) -> int:
    """Which of `shards` parts a text belongs to: by its digest alone, so the same in every run.

    >>> choose_shard("d41d8cd9-8f00-b204-e980-0998ecf8427e", 4)
    1
    """
    return int(digest[:8], 16) % shards


def _put(tasks: Any, content: object, stopped: threading.Event) -> None:
    while not stopped.is_set():
        with suppress(queue.Full):
            tasks.put(content, timeout=_POLL_S)
            return


def _work(
    device: str,
    source: ModelSource,
    options: dict[str, Any],
    token_budget: int | None,
    window: int,
    threads: int,
    compile: bool,
    tasks: Any,
    results: Any,
) -> None:
    """What a process does: encode until it is ended."""
    import torch

    from pinakes.indexers.encoder.model import load_encoder

    threading.Thread(target=end_with_parent, daemon=True).start()
    if device == "cpu":
        torch.set_num_threads(threads)
    try:
        encoder = load_encoder(source, device=device, **options)
        if compile:
            encoder.compile()
        while True:
            for batch in encode_texts(encoder, _take_texts(tasks), token_budget, window):
                results.put(("batch", (batch.keys, batch.vectors, batch.tokens)))
            results.put(("done", None))
    except PinakesError as error:
        results.put(("failed", str(error)))


def _take_texts(tasks: Any) -> Iterator[tuple[Any, str]]:
    while (texts := tasks.get()) is not None:
        yield from texts


def end_with_parent() -> None:
    """End this process when its parent has: one that is killed cannot end its children."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
