"""Pinakes from Python: a connection, whose methods load, index, train, run, score, compare, search, export.

A method is called as its command is and takes what that takes, by the same names. Where a command prints
rows, the method gives the rows that `--json` prints, as `Records`. The module is long by its docstrings, of
which docs/python.md is made: each method says its arguments again, since a reader of `help()` sees one.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import pyarrow as pa

from pinakes.answers import Records, Result, Searcher
from pinakes.error_words import explain_error
from pinakes.errors import InputError, PinakesError
from pinakes.memory import read_memory

if TYPE_CHECKING:  # importing `pinakes` waits for none of them
    from pinakes.database import Database
    from pinakes.database.read_only import Limits
    from pinakes.evaluate.each import Failure
    from pinakes.evaluate.methods import MethodComparison
    from pinakes.load.summary import LoadSummary
    from pinakes.search.explain import Explanation
    from pinakes.systems.base import SystemOptions

Names = str | Sequence[str]
"""one name, or several"""

_Given = ParamSpec("_Given")
_Gives = TypeVar("_Gives")


def _in_words(method: Callable[_Given, _Gives]) -> Callable[_Given, _Gives]:
    """The method, where what a machine, a driver or the installation refuses is a `PinakesError` too."""

    @wraps(method)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Gives:
        try:
            return method(*given, **named)
        except PinakesError:
            raise
        except Exception as error:
            if (explained := explain_error(error)) is None:
                raise
            raise PinakesError(explained) from error

    return call


@dataclass(frozen=True, slots=True)
class Connection:
    """A database, made by `connect`. It is opened for each call alone: nobody waits for an open notebook.

    Attributes:
        address: where it is.
        read_only: whether the methods that write refuse: `init`, `load`, `import_corpora`, `index`, `train`,
            `compare_methods`, `run`, `evaluate` and `accept`.
        wait: seconds to wait for a DuckDB file that another process holds.
        memory: how much memory a call may take; None: what is usual.
    """

    address: Any
    read_only: bool = True
    wait: float = 0.0
    memory: str | None = None

    @property
    def url(self) -> str:
        """Where the database is; its password is hidden."""
        return str(self.address.render_as_string(hide_password=True))

    @_in_words
    def sql(self, text: str, *, timeout: float | None = None, max_rows: int | None = None) -> Result:
        """The result of one query; as `pinakes sql` it can change nothing, whatever the text is.

        Args:
            text: one SELECT, or EXPLAIN, SHOW, DESCRIBE, SUMMARIZE.
            timeout: seconds after which the query is ended.
            max_rows: rows beyond which the query is ended.

        Raises:
            InputError: the database refuses the query, or a limit is reached.
            DatabaseError: the database cannot be opened.
        """
        from pinakes.database.read_only import Limits

        with self._open_read_only() as database:
            return _ask(database, text, Limits(timeout, max_rows))

    @_in_words
    def recipe(self, name: str, **values: str | float) -> Result:
        """The answer to a question of the cookbook; as `pinakes sql --recipe` it can change nothing.

        Args:
            name: of the recipe, as `hard-queries`.
            values: of its parameters, as `benchmark="csfcube"`.

        Raises:
            UnknownNameError: there is no such recipe or parameter, or the database has no such benchmark,
                corpus, system or measure.
            InputError: a value is missing or of another kind.
            DatabaseError: the database cannot be opened.
        """
        from pinakes.database.read_only import NO_LIMITS
        from pinakes.recipes import fill, find_recipe

        found = find_recipe(name)
        with self._open_read_only() as database:
            text = fill(database, found, {key: str(value) for key, value in values.items()})
            return _ask(database, text, NO_LIMITS)

    @_in_words
    def init(self, *, over: str | os.PathLike[str] | None = None) -> Records:
        """Make the tables, and the views of every benchmark: a row for each corpus that is read in place.

        A DuckDB file that is missing is made. What is there already is left, but for views that are renewed.

        Args:
            over: what `export_partitioned` wrote, a folder or `s3://BUCKET/PREFIX`, whose corpora DuckDB
                reads in place, and changes none; None: corpora will be the database's own, and there are no
                rows. Another call names another folder, or takes the files of today.

        Raises:
            InputError: the folder is not whole, the database is on Postgres or has corpora of its own, or
                the connection only reads.
            PinakesError: the object store cannot be used.
            SchemaVersionError: an older or a newer Pinakes made the database.
        """
        from pinakes.database import connect_to_fill
        from pinakes.queries.install import initialise
        from pinakes.schema import has_tables

        self._refuse_read_only()

        def is_empty(database: "Database") -> bool:
            return not has_tables(database)

        with connect_to_fill(self.address, is_empty, wait_s=self.wait, memory=self._bytes()) as database:
            if over is None:
                initialise(database)
                return Records()
            from pinakes.export.corpora.in_place import read_in_place, require_readable

            require_readable(database, os.fspath(over))
            initialise(database)
            return Records({"corpus": name} for name in read_in_place(database, os.fspath(over)))

    @_in_words
    def load(
        self,
        loader: str,
        source: str | os.PathLike[str] | None = None,
        *,
        corpus: str | None = None,
        version: str | None = None,
        licence: str | None = None,
        option: Mapping[str, object] | None = None,
        papers: int | None = None,
        seed: int | None = None,
        max_rejects: float = 0.01,
        on_error: Literal["reject", "stop"] = "reject",
        replace: bool = False,
        limit: int | None = None,
        jobs: int = 1,
        dry_run: bool = False,
        on: str | None = None,
    ) -> "LoadSummary":
        """Load a corpus, or go on with a load that was stopped: what became of every record.

        Args:
            loader: the format, as s2orc or beir, or ir-datasets:DATASET.
            source: the published file or folder.
            corpus: the corpus's name; None: that of the release.
            version: the corpus's version.
            licence: the corpus's licence.
            option: options of the loader's own, by name.
            papers: synthetic: how many papers.
            seed: synthetic: which world.
            max_rejects: the greatest share of records that may be rejected, from 0 to 1.
            on_error: reject a record that is not accepted, or stop at it.
            replace: whether to remove rows of a file's older version that it no longer has.
            limit: records of each file to read at most.
            jobs: processes that read files ahead.
            dry_run: whether to take it all back in the end.
            on: the address of a Ray cluster whose workers read the files; None: this machine does.

        Raises:
            InputError: the source is not what the loader reads, or the connection only reads.
            LoadError: a file breaks off, or more records were rejected than allowed: what was accepted is in.
        """
        from pinakes.load.corpus import LoadRequest, check_source, read_loader_name
        from pinakes.load.load import load as load_corpus

        path = None if source is None else Path(source)
        numbers = {"papers": papers, "seed": seed}
        given = {name: value for name, value in numbers.items() if value is not None} | dict(option or {})
        name, named = read_loader_name(loader)
        request = LoadRequest(
            name,
            path,
            {key: str(value) for key, value in given.items()} | named,
            corpus,
            version,
            licence,
            dry_run,
            limit,
            jobs,
            on_error,
            replace,
            max_rejects,
            self._bytes(),
            on,
        )
        check_source(request)
        with self._open_to_fill() as database:
            summary = load_corpus(database, request)
        summary.require_few_rejected(max_rejects)
        return summary

    @_in_words
    def import_corpora(self, folder: str | os.PathLike[str], *, corpus: Names = ()) -> Records:
        """Take corpora that `export_partitioned` wrote, with the same rows and ids: a row for each corpus.

        All are taken in one transaction, or none; each file is compared with its sha256. The database has its
        tables already (`init`).

        Args:
            folder: where they are: a folder, or s3://BUCKET/PREFIX.
            corpus: one or several; none: all.

        Raises:
            UnknownNameError: the folder has no such corpus.
            InputError: the folder is not whole or a file is damaged, the database has a corpus of the name or
                the same ids, or the connection only reads.
            DatabaseError: the corpora of the database are read in place, or there is no such database.
            SchemaVersionError: the database has no tables, or those of another version.
        """
        from pinakes.export.corpora.take import import_corpora as take

        with self._open() as database:
            return Records(asdict(one) for one in take(database, os.fspath(folder), _list_names(corpus)))

    @_in_words
    def index(
        self,
        benchmark: str | None = None,
        *,
        system: Names,
        corpus: str | None = None,
        producer: str | None = None,
        mode: str = "corrected",
        postings: bool | None = None,
        precision: str = "auto",
        device: str | None = None,
        option: Mapping[str, object] | None = None,
        format: str | None = None,
        query_template: str | None = None,
        paper_template: str | None = None,
        on: str | None = None,
    ) -> Records:
        """Make what systems need to rank a benchmark, or to search a corpus: a row for each index.

        Args:
            benchmark: the benchmark's name; None: the corpus is indexed for `search`.
            system: bm25, tfidf, minilm, a model's folder, or a hub id; one or several.
            corpus: of a benchmark that reads any, or that is searched.
            producer: whose variants of papers a benchmark asks with, where several made some.
            mode: the mode in which the benchmark will run: corrected or published.
            postings: whether the index's terms and postings are in tables too, for SQL (sparse_bm25); None:
                as it was, and what is there is renewed.
            precision: fp32, bf16, fp16 or auto.
            device: cpu or cuda; None: CUDA where there is a device.
            option: options of the system's own, by name.
            format: which of a system's embeddings: CLF, RGN, PRX, QRY or SRCH.
            query_template: text template for queries; None: the benchmark's.
            paper_template: text template for papers; None: the benchmark's.
            on: a Ray cluster that shares the work: ray://HOST:PORT, HOST:PORT, auto or local; None: none.

        Raises:
            UnknownNameError: no such benchmark, corpus, system or template.
            InputError: neither a benchmark nor a corpus is named, or the connection only reads.
        """
        from pinakes.index.index import index as index_benchmark
        from pinakes.index.index import index_corpus, require_target

        require_target(benchmark, corpus, producer, mode)
        with self._open() as database:
            options = _choose(database, precision, None, device, option, format, on=on)
            if benchmark is None:
                made = [
                    index_corpus(
                        database,
                        corpus or "",
                        name,
                        options=options,
                        paper_template=paper_template,
                        postings=postings,
                    )
                    for name in _list_names(system)
                ]
            else:
                made = [
                    index_benchmark(
                        database,
                        benchmark,
                        name,
                        options=options,
                        query_template=query_template,
                        paper_template=paper_template,
                        corpus=corpus,
                        producer=producer,
                        mode=mode,
                        postings=postings,
                    )
                    for name in _list_names(system)
                ]
        return Records(asdict(one) for one in made)

    @_in_words
    def train(
        self,
        name: str,
        *,
        task: Names,
        base: str = "minilm",
        method: str = "ctrl",
        held_out: Names = (),
        most: int = 600_000,
        triplets: int = 5,
        validation: float = 0.1,
        epochs: int | None = None,
        batch_size: int = 256,
        batching: str | None = None,
        learning_rate: float = 5e-5,
        warmup_steps: int = 700,
        margin: float = 1.0,
        max_tokens: int = 512,
        reduction_factor: int = 16,
        pal_width: int = 204,
        micro_tokens: int | None = None,
        patience: int = 0,
        checkpoint_steps: int = 200,
        recompute: bool = False,
        precision: str = "fp32",
        seed: int = 1,
        folder: str | os.PathLike[str] = Path("encoders"),
        device: str | None = None,
        devices: str | None = None,
        processes: int = 1,
        grouping: str = "format",
        dry_run: bool = False,
    ) -> Records:
        """Train an encoder on tasks of several formats: one embedding, or one a format; what it gave.

        A training that was stopped goes on from its last checkpoint.

        Args:
            name: what the encoder is called, as my_encoder.
            task: a benchmark that has a split for training, or KIND:CORPUS, where KIND is citations,
                influential, same_author, year, citation_count or fields; one or several.
            base: the encoder that is trained further; for a fusion also one that was trained with adapters.
            method: cls (one embedding), ctrl (control codes), adapters (one a format), pals (projected
                attention layers a format) or fusion (attention over all adapters, a format).
            held_out: benchmarks whose test papers and queries are left out too.
            most: the most instances of a task.
            triplets: the most triplets of a query.
            validation: the share of papers and queries that validate.
            epochs: None: 2; for adapters 6; for a fusion 6, then 4.
            batch_size: instances a step.
            batching: equal, mixed, sequential or annealed; None: equal; for pals annealed.
            learning_rate: the peak of the learning rate.
            warmup_steps: steps to the peak.
            margin: of the triplet loss.
            max_tokens: longer texts are cut here.
            reduction_factor: the width through that of an adapter's bottleneck.
            pal_width: numbers that a projected attention layer works on; a multiple of 6.
            micro_tokens: tokens through the model at once, halved where memory runs out; None: 2,048 on a
                CPU, else 32,768.
            patience: stop a format after so many epochs without a lower validation loss; 0: never.
            checkpoint_steps: steps between two kept states.
            recompute: whether states are computed again for gradients, which takes less memory.
            precision: fp32, bf16 or (on CUDA) fp16, of products.
            seed: of what is drawn, its order, and what training begins with.
            folder: where the encoder's folder is made.
            device: cpu or cuda; None: CUDA where there is a device.
            devices: several, each with a process of its own, as cuda:0,cuda:1.
            processes: processes that share a CPU's cores.
            grouping: which tasks share an embedding: those of a format, or random groups, as many.
            dry_run: whether to say what would be drawn, and to train nothing.

        Raises:
            UnknownNameError: no such task, corpus, benchmark or base.
            IndexingError: a task cannot be trained on, the folder holds another training or a finished one,
                or a loss is no number.
            InputError: an option is not as it must be, or the connection only reads.
        """
        from pinakes.indexers.training.settings import TrainingSettings
        from pinakes.train.data import DrawOptions
        from pinakes.train.summarise import summarise
        from pinakes.train.train import TrainRequest, describe_summary, draw_for, list_devices
        from pinakes.train.train import train as train_encoder

        drawing = DrawOptions(
            seed=seed,
            most=most,
            triplets_per_query=triplets,
            validation=validation,
            held_out=tuple(_list_names(held_out)),
        )
        settings = TrainingSettings(
            method=method,  # type: ignore[arg-type]
            epochs=epochs,
            batch_size=batch_size,
            batching=batching,  # type: ignore[arg-type]
            learning_rate=learning_rate,
            warmup_steps=warmup_steps,
            margin=margin,
            max_tokens=max_tokens,
            reduction_factor=reduction_factor,
            pal_width=pal_width,
            micro_tokens=micro_tokens,
            patience=patience,
            checkpoint_steps=checkpoint_steps,
            recompute=recompute,
            precision=precision,  # type: ignore[arg-type]
            seed=seed,
        )
        named = list_devices(device, devices, processes)
        request = TrainRequest(
            name, base, tuple(_list_names(task)), drawing, settings, Path(folder), named, grouping=grouping
        )
        with self._open() as database:
            drawn = draw_for(database, request)
            if dry_run:
                return Records(asdict(one) for one in summarise(drawn))
            return Records([describe_summary(train_encoder(database, request, drawn))])

    @_in_words
    def compare_methods(
        self,
        benchmarks: Names,
        *,
        system: Names,
        in_train: Names = (),
        folder: str | os.PathLike[str] | None = None,
        mode: str = "corrected",
        precision: str = "auto",
        distance: str | None = None,
        device: str | None = None,
        option: Mapping[str, object] | None = None,
    ) -> "MethodComparison":
        """Run and score trained encoders and others on benchmarks, and compare the methods over seeds.

        Indexes, runs and current scores that are there are not made again. The result has `methods`,
        `figures` (one of each system and figure), `means` and `differences` (of the methods, by column) and
        `trainings`.

        Args:
            benchmarks: one or several, each with a format.
            system: two or more: encoders' folders, averages of them as mean:A,B, and other systems.
            in_train: those of the benchmarks that are of a kind that was trained on, though of other data.
            folder: where the report is written; None: none is.
            mode: corrected, or published: as the published code has it, with its faults.
            precision: fp32, bf16, fp16 or auto.
            distance: cosine, l2 or inner_product; None: the encoder's own, or cosine.
            device: cpu or cuda; None: CUDA where there is a device.
            option: options of the system's own, by name.

        Raises:
            UnknownNameError: no such benchmark or system.
            BenchmarkError: a benchmark has no format, or its corpus is not loaded.
            RunError, EvaluationError: a system cannot be run on a benchmark, or a score is missing.
            InputError: fewer than two systems, a name twice, or the connection only reads.
        """
        from pinakes.evaluate.methods import MethodsRequest
        from pinakes.evaluate.methods import compare_methods as compare
        from pinakes.report.present.methods import write_methods

        with self._open() as database:
            options = _choose(database, precision, distance, device, option, None)
            request = MethodsRequest(
                _list_names(system), _list_names(benchmarks), tuple(_list_names(in_train)), options, mode
            )
            found = compare(database, request)
        if folder is not None:
            write_methods(found, Path(folder))
        return found

    @_in_words
    def run(
        self,
        benchmark: str,
        *,
        system: Names,
        depth: int | None = None,
        query_template: str | None = None,
        paper_template: str | None = None,
        again: bool = False,
        mode: str = "corrected",
        corpus: str | None = None,
        producer: str | None = None,
        precision: str = "auto",
        distance: str | None = None,
        device: str | None = None,
        option: Mapping[str, object] | None = None,
        format: str | None = None,
        on: str | None = None,
    ) -> Records:
        """Have systems answer the questions of a benchmark or a suite and store the answers: a row a run.

        A run of which nothing changed is not made again.

        Args:
            benchmark: the benchmark's name, or a suite's.
            system: bm25, tfidf, minilm, a model's folder, or a hub id; one or several.
            depth: papers kept for each query; None: the benchmark's.
            query_template: text template for queries; None: the benchmark's.
            paper_template: text template for papers; None: the benchmark's.
            again: whether to rank again even where nothing changed.
            mode: corrected, or published: as the published code has it, with its faults.
            corpus: of a benchmark that reads any, a loaded corpus or a dataset of its own.
            producer: whose variants of papers ask, where several made some.
            precision: fp32, bf16, fp16 or auto.
            distance: cosine, l2 or inner_product; None: the encoder's own, or cosine.
            device: cpu or cuda; None: CUDA where there is a device.
            option: options of the system's own, by name.
            format: which of a system's embeddings: CLF, RGN, PRX, QRY or SRCH; None: the benchmark's format.
            on: a Ray cluster that shares the work: ray://HOST:PORT, HOST:PORT, auto or local; None: none.

        Raises:
            UnknownNameError: no such benchmark, system or template.
            BenchmarkError: the benchmark's corpus is not loaded.
            RunError: an index is missing or stale, or a benchmark of a suite failed; the message says which.
            InputError: an option is not of this benchmark or system, or the connection only reads.
        """
        from pinakes.errors import RunError
        from pinakes.evaluate.suite import run_suite
        from pinakes.report.present.failures import list_failures
        from pinakes.run.run import RunRequest
        from pinakes.run.run import run as run_benchmark
        from pinakes.workload.suite import is_suite

        with self._open() as database:
            options = _choose(database, precision, distance, device, option, format, on=on)
            ranking = (options, depth, query_template, paper_template, again, mode)
            if not is_suite(benchmark):
                requests = [
                    RunRequest(benchmark, name, *ranking, corpus, producer) for name in _list_names(system)
                ]
                return Records(asdict(run_benchmark(database, request)) for request in requests)
            if corpus or producer:
                raise InputError("corpus and producer are of one benchmark; leave them out for a suite.")
            done = run_suite(database, RunRequest(benchmark, "", *ranking), _list_names(system))
        if done.failed:
            raise RunError(list_failures(done.failed))
        return Records(asdict(one) for one in done.made)

    @_in_words
    def evaluate(
        self,
        benchmark: str | None = None,
        *,
        all_benchmarks: bool = False,
        run: Sequence[int] = (),
        measure: Names = (),
        per_query: bool = False,
        changed: bool = False,
        fail_on_drop: Names = (),
        alpha: float = 0.05,
    ) -> Records:
        """Score runs of a benchmark or a suite and store the scores: a row each of run, subset and measure.

        Args:
            benchmark: the benchmark's name, or a suite's; None: with all_benchmarks.
            all_benchmarks: all that have runs: a row each of benchmark and run, with the headline measure.
            run: ids of runs; none: all of the benchmark's.
            measure: measures, as nDCG@10; none: the benchmark's.
            per_query: whether to give the value of each query, not those of subsets.
            changed: only runs that are new, or whose judgments, views, measures or scoring code changed.
            fail_on_drop: gates against the accepted values, as 0.01, nDCG@10=0.01 or significant.
            alpha: up to which p value a drop is significant.

        Raises:
            UnknownNameError: no such benchmark or measure.
            EvaluationError: there is no run, or runs cannot be scored; the others are.
            RegressionError: a value fell below the accepted one by more than a gate allows; it is stored.
            InputError: what is of one benchmark is given for several, or the connection only reads.
        """
        from pinakes.errors import EvaluationError
        from pinakes.evaluate.each import Failure
        from pinakes.evaluate.gates import check_gates, read_gate
        from pinakes.report.present.failures import list_failures
        from pinakes.report.present.gates import require_level
        from pinakes.workload.suite import is_suite

        gates = [read_gate(text) for text in _list_names(fail_on_drop)]
        _require_one(benchmark, all_benchmarks)
        failed: list[Failure] = []
        with self._open() as database:
            if benchmark is not None and not is_suite(benchmark):
                names, rows = [benchmark], _score_one(database, benchmark, run, measure, per_query, changed)
            elif run or measure or per_query:
                raise InputError("run, measure and per_query are of one benchmark.")
            else:
                names, rows, failed = _score_several(database, benchmark, changed)
            if gates:
                checked = check_gates(database, names, gates, alpha=alpha, run_ids=tuple(run))
                require_level(checked, failed, lambda _line: None)
        if failed:
            raise EvaluationError(list_failures(failed))
        return Records(rows)

    @_in_words
    def accept(
        self, benchmark: str | None = None, *, all_benchmarks: bool = False, run: Sequence[int] = ()
    ) -> Records:
        """Accept the scores as they are: `fail_on_drop` compares with them from now on. A row for each value.

        Args:
            benchmark: the benchmark's name; None: with all_benchmarks.
            all_benchmarks: all that have accepted values or scores.
            run: ids of runs; none: all of the benchmark's.

        Raises:
            EvaluationError: a benchmark has no scores; the others are accepted.
            InputError: run is given for several benchmarks, or the connection only reads.
        """
        from pinakes.errors import EvaluationError
        from pinakes.evaluate.accept import accept, accept_each
        from pinakes.report.present.failures import list_failures

        _require_one(benchmark, all_benchmarks)
        if benchmark is None and run:
            raise InputError("run is of one benchmark; name it.")
        with self._open() as database:
            if benchmark is not None:
                return Records(asdict(one) for one in accept(database, benchmark, run_ids=tuple(run)))
            accepted, failed = accept_each(database)
        if failed:
            raise EvaluationError(list_failures(failed))
        return Records(asdict(one) for one in accepted)

    @_in_words
    def compare(
        self,
        benchmark: str,
        *,
        run: Sequence[int] = (),
        measure: str | None = None,
        by: str | None = None,
        seed: int = 0,
        all_runs: bool = False,
    ) -> Records:
        """Test each pair of runs for a difference: t, Wilcoxon, randomisation, bootstrap; Holm over pairs.

        Args:
            benchmark: the benchmark's name.
            run: ids of runs; none: the newest of each setting.
            measure: the measure; None: the headline measure.
            by: a grouping column: test within each of its groups too.
            seed: of the randomisation test.
            all_runs: whether also runs that a newer one of the same settings replaced.

        Raises:
            UnknownNameError: no such benchmark or grouping column.
            EvaluationError: fewer than two runs are scored by the measure.
        """
        from pinakes.evaluate.compare import compare_subsets
        from pinakes.report.present.compare import comparison_rows, resampled_rows

        with self._open_to_look() as database:
            found = compare_subsets(
                database, benchmark, run_ids=list(run), measure=measure, seed=seed, all_runs=all_runs, by=by
            )
        return Records(dict(row) for row in comparison_rows(found.pairs) or resampled_rows(found.resampled))

    @_in_words
    def search(
        self,
        corpus: str,
        text: str = "",
        *,
        system: str = "bm25",
        k: int = 10,
        paper: str | None = None,
        sentences: Sequence[int] = (),
        year_from: int | None = None,
        year_to: int | None = None,
        venue: str | None = None,
        field: str | None = None,
        min_citations: int | None = None,
        through: str = "exact",
        paper_template: str | None = None,
        precision: str = "auto",
        distance: str | None = None,
        device: str | None = None,
        option: Mapping[str, object] | None = None,
        format: str | None = None,
    ) -> Records:
        """The papers of a corpus that are nearest to a text or a paper; a filter never gives fewer.

        Args:
            corpus: the corpus's name.
            text: what to look for; no character of it is syntax.
            system: bm25, tfidf, minilm, …
            k: how many papers.
            paper: ask with this paper of the corpus, by its source's id, in place of the text.
            sentences: ask with these sentences of its abstract, from 1; none: with title and abstract.
            year_from: the earliest year.
            year_to: the latest year.
            venue: the venue, word for word.
            field: a field of study.
            min_citations: the least citation count.
            through: how vectors are compared: exact, pgvector, or faiss:KIND.
            paper_template: text template for papers; None: the system's.
            precision: fp32, bf16, fp16 or auto.
            distance: cosine, l2 or inner_product; None: the encoder's own, or cosine.
            device: cpu or cuda; None: CUDA where there is a device.
            option: options of the system's own, by name.
            format: which of a system's embeddings: CLF, RGN, PRX, QRY or SRCH.

        Raises:
            UnknownNameError: no such corpus, system or template.
            InputError: there is nothing to ask with, no such paper or sentence, or none passes the filter.
            RunError: an index is missing or stale; the message has the command that makes it.
        """
        from pinakes.search.filter import PaperFilter
        from pinakes.search.search import SearchRequest
        from pinakes.search.search import search as search_corpus

        with self._open_to_look() as database:
            request = SearchRequest(
                corpus,
                text,
                system,
                k,
                PaperFilter(year_from, year_to, venue, field, min_citations),
                paper_template,
                _choose(database, precision, distance, device, option, format, through),
                paper,
                tuple(sentences),
            )
            return Records(asdict(one) for one in search_corpus(database, request))

    @_in_words
    def searcher(
        self,
        corpus: str,
        *,
        system: str = "bm25",
        year_from: int | None = None,
        year_to: int | None = None,
        venue: str | None = None,
        field: str | None = None,
        min_citations: int | None = None,
        through: str = "exact",
        paper_template: str | None = None,
        precision: str = "auto",
        distance: str | None = None,
        device: str | None = None,
        option: Mapping[str, object] | None = None,
        format: str | None = None,
    ) -> Searcher:
        """A corpus that is searched many times: `db.searcher("scifact").search(texts, k=10)`.

        It holds the index, the titles and, for an encoder, every vector in memory, and no database: it finds
        what was in the corpus when it was opened. Results are those of `search`; of an encoder's texts that
        are asked together the last bits of a score may differ.

        Args:
            corpus: the corpus's name.
            system: bm25, tfidf, minilm, …
            year_from: the earliest year.
            year_to: the latest year.
            venue: the venue, word for word.
            field: a field of study.
            min_citations: the least citation count.
            through: how vectors are compared: exact, or faiss:KIND.
            paper_template: text template for papers; None: the system's.
            precision: fp32, bf16, fp16 or auto.
            distance: cosine, l2 or inner_product; None: the encoder's own, or cosine.
            device: cpu or cuda; None: CUDA where there is a device.
            option: options of the system's own, by name.
            format: which of a system's embeddings: CLF, RGN, PRX, QRY or SRCH.

        Raises:
            UnknownNameError: no such corpus, system or template.
            InputError: no paper passes the filter, or the vectors are compared in the database.
            RunError: an index is missing or stale; the message has the command that makes it.
        """
        from pinakes.search.filter import PaperFilter
        from pinakes.search.search import SearchRequest
        from pinakes.search.searcher import open_searcher

        with self._open_to_look() as database:
            request = SearchRequest(
                corpus,
                system=system,
                wanted=PaperFilter(year_from, year_to, venue, field, min_citations),
                paper_template=paper_template,
                options=_choose(database, precision, distance, device, option, format, through),
            )
            opened = open_searcher(database, request)

        @_in_words
        def find(texts: Sequence[str], k: int) -> list[Records]:
            return [Records(map(asdict, found)) for found in opened.search(texts, k)]

        return Searcher(corpus, opened.system, find)

    @_in_words
    def explain(
        self,
        query: str,
        paper: str,
        *,
        corpus: str | None = None,
        benchmark: str | None = None,
        system: str = "sparse_bm25",
        option: Mapping[str, object] | None = None,
        query_template: str | None = None,
        paper_template: str | None = None,
    ) -> "Explanation":
        """The score of a paper for a text, or for a query of a benchmark: what each term adds, and the rank.

        `pandas.DataFrame(found.terms)` has a row a term.

        Args:
            query: a text, or with a benchmark the id of one of its queries.
            paper: the paper, by its source's id.
            corpus: the corpus of the paper.
            benchmark: in place of the corpus: the benchmark whose query it is.
            system: sparse_bm25, or a named baseline that it is.
            option: options of the system's own, by name.
            query_template: text template for queries; None: the benchmark's.
            paper_template: text template for papers; None: the benchmark's, or the system's.

        Raises:
            UnknownNameError: no such corpus, benchmark, system, template or query.
            InputError: there is no such paper, nothing to ask with, or the system cannot explain a score.
            RunError: the index is missing or stale; the message has the command that makes it.
        """
        from pinakes.search.explain import ExplainRequest
        from pinakes.search.explain import explain as explain_score

        with self._open_to_look() as database:
            options = _choose(database, "auto", None, None, option, None)
            request = ExplainRequest(
                query, paper, corpus, benchmark, system, options, query_template, paper_template
            )
            return explain_score(database, request)

    @_in_words
    def export_partitioned(
        self, folder: str | os.PathLike[str], *, corpus: Names = (), buckets: int | None = None
    ) -> Records:
        """Write corpora as Parquet files by corpus and hash of the paper's id: a row for each corpus.

        All is of one moment. A manifest, written last, names the files; what it does not name is removed.

        Args:
            folder: the folder that is made or renewed, or s3://BUCKET/PREFIX.
            corpus: one or several; none: all.
            buckets: files of each table, from 1 to 1024; None: one for each million papers.

        Raises:
            UnknownNameError: there is no such corpus.
            InputError: there is none at all, the buckets are too many, or the folder cannot be written.
        """
        from pinakes.export.corpora.write import export_corpora

        with self._open_to_look() as database:
            written = export_corpora(database, os.fspath(folder), _list_names(corpus), buckets)
        return Records(asdict(one) for one in written)

    def __repr__(self) -> str:
        """How it was made."""
        return f"pinakes.connect({self.url!r}, read_only={self.read_only})"

    def _open_read_only(self) -> "Database":
        from pinakes.database import connect_read_only

        return connect_read_only(self.address, wait_s=self.wait, memory=self._bytes())

    def _open_to_look(self) -> "Database":
        from pinakes.database import connect_to_look

        return connect_to_look(self.address, wait_s=self.wait, memory=self._bytes())

    def _open(self) -> "Database":
        from pinakes.database import connect as open_database

        self._refuse_read_only()
        return open_database(self.address, wait_s=self.wait, create=False, memory=self._bytes())

    @contextmanager
    def _open_to_fill(self) -> Iterator["Database"]:
        from pinakes.database import connect_to_fill
        from pinakes.load.corpus import holds_no_load
        from pinakes.queries.install import initialise

        self._refuse_read_only()
        with connect_to_fill(self.address, holds_no_load, wait_s=self.wait, memory=self._bytes()) as database:
            initialise(database, pass_over_missing=True)
            yield database

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise InputError(
                "this connection only reads; make one that writes by pinakes.connect(url, read_only=False)."
            )

    def _bytes(self) -> int | None:
        return None if self.memory is None else read_memory(self.memory)


def connect(
    url: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = True,
    wait: float = 0.0,
    memory: str | None = None,
) -> Connection:
    """A database to ask; with `read_only=False` also to fill and to run benchmarks in.

    Args:
        url: a DuckDB file, or a URL, duckdb:///FILE or postgresql://USER@HOST/NAME; None:
            `PINAKES_DATABASE_URL`, or pinakes.duckdb in the working folder.
        read_only: whether the methods that write refuse. `sql` never writes.
        wait: seconds to wait for a DuckDB file that another process holds.
        memory: how much memory a call may take, as 2GB, or a share of the machine's, as 25%.

    Raises:
        DatabaseError: there is no such database, or the URL is of another kind or has a parameter that is
            not allowed. With `read_only=False` a DuckDB file that is missing is made by `load` and `init`.
        DatabaseBusyError: another process holds the DuckDB file.
    """
    from pinakes.database.address import read_address

    connection = Connection(read_address(url), read_only, wait, memory)
    if read_only:
        connection._open_read_only().close()
    return connection


def _choose(
    database: "Database",
    precision: str,
    distance: str | None,
    device: str | None,
    option: Mapping[str, object] | None,
    format_: str | None,
    through: str = "exact",
    on: str | None = None,
) -> "SystemOptions":
    from pinakes.systems.base import SystemOptions
    from pinakes.workload.benchmark import find_index_folder

    parameters = {name: str(value) for name, value in (option or {}).items()}
    folder = find_index_folder(database)
    return SystemOptions(folder, precision, distance, device, parameters, through, format=format_, on=on)


def _require_one(benchmark: str | None, all_benchmarks: bool) -> None:
    """Raise `InputError` where neither or both of one benchmark and all of them are named."""
    if (benchmark is None) is not all_benchmarks:
        raise InputError("name one benchmark, or take all of them.")


def _score_one(
    database: "Database", benchmark: str, run: Sequence[int], measure: Names, per_query: bool, changed: bool
) -> list[dict[str, object]]:
    from pinakes.evaluate.evaluate import evaluate
    from pinakes.report.present.evaluate import list_score_rows

    measures = _list_names(measure)
    found = evaluate(database, benchmark, run_ids=tuple(run), measures=measures, only_changed=changed)
    return list_score_rows(found, per_query=per_query)


def _score_several(
    database: "Database", suite: str | None, changed: bool
) -> "tuple[list[str], list[dict[str, object]], list[Failure]]":
    """The benchmarks whose values can be compared, rows, and what failed."""
    from pinakes.evaluate.accept import list_acceptable
    from pinakes.evaluate.each import evaluate_each, list_run
    from pinakes.evaluate.suite import evaluate_suite
    from pinakes.report.present.evaluate import list_each
    from pinakes.report.present.suite import list_suite_rows

    if suite is None:
        names = list_acceptable(database)
        done = evaluate_each(database, list_run(database), only_changed=changed)
        rows = list_each(database, done.scored)
    else:
        done = evaluate_suite(database, suite, only_changed=changed)
        names = list(done.scored)
        rows = list_suite_rows(database, suite)
    failed = {one.benchmark for one in done.failed}
    return [name for name in names if name not in failed], rows, list(done.failed)


def _list_names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _ask(database: "Database", text: str, limits: "Limits") -> Result:
    from pinakes.database.read_only import ask_arrow

    with ask_arrow(database, text, limits) as result:
        batches = [batch for part in result.parts for batch in part.to_batches()]
        return Result(pa.Table.from_batches(batches, result.schema))
