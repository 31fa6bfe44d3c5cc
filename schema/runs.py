"""Rankings, with all that made them, their measures, and the parameters that were tuned."""

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, optional, reference, required

runs = sa.Table(
    "runs",
    metadata,
    key_column("run_id", "ours, rising with time"),
    reference("benchmark", "benchmarks.name", role="required", type_=sa.Text),
    required("system", sa.Text, "what ranked: bm25, minilm, or the name given at import"),
    required(
        "run_digest", sa.Text, "sha256 over all that decides the ranking: the same digest, the same hits"
    ),
    required("parameters", sa.Text, "JSON object: the system's parameters"),
    optional("encoder_id", sa.Integer, "encoders.encoder_id where the system compares vectors"),
    optional("encoder_revision", sa.Text, "revision or weight digest of the encoder"),
    optional("precision", sa.Text, "precision of the vectors: fp32 or bf16"),
    optional("query_template", sa.Text, "text template that queries were read with"),
    optional("paper_template", sa.Text, "text template that candidates were read with"),
    sa.Column(
        "mode",
        sa.Text,
        nullable=False,
        server_default="corrected",
        comment="corrected, or published: as the published code has it, with its faults",
    ),
    optional("corpus", sa.Text, "the corpus or selection that was asked, of a benchmark that reads any"),
    optional("variants", sa.Text, "producers of the variants that were asked with, one a line"),
    required("code_version", sa.Text, "version of Pinakes"),
    required("dataset_digest", sa.Text, "digest over the rows of the benchmark's three views"),
    required("view_digest", sa.Text, "benchmarks.definition_digest at the time"),
    optional("device", sa.Text, "what computed: cpu, cuda name"),
    optional("depth", sa.Integer, "papers kept for each query; null: the whole pool"),
    required("started_at", sa.DateTime(timezone=True), "when the ranking began"),
    required("elapsed_s", sa.Double, "seconds that the ranking took"),
    required("queries_expected", sa.Integer, "queries of the benchmark"),
    required("queries_answered", sa.Integer, "queries with at least one hit"),
    required(
        "candidates_expected", sa.BigInteger, "(query, candidate) pairs; candidates of each shared pool"
    ),
    required("candidates_without_text", sa.BigInteger, "of those, how many had no text to rank by"),
    required("hit_count", sa.BigInteger, "rows in hits"),
    optional("imported_from", sa.Text, "name of the file that the run was imported from"),
    optional("import_digest", sa.Text, "sha256 of that file"),
    optional(
        "made_with",
        sa.Text,
        "JSON object: what was asked; versions of Python, libraries, database; operating system, processor; "
        "of an imported run the ir_metadata of its file. Null: not recorded",
    ),
    sa.UniqueConstraint("run_digest", name="runs_digest_key"),
    comment="One ranking of a benchmark's candidates, with all that made it.",
)

hits = sa.Table(
    "hits",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("query_id", "query_id of the benchmark's queries view", sa.Text),
    reference("paper_id", "papers.paper_id"),
    required("rank", sa.Integer, "1 is the best; the order that the ranking's maker gave"),
    required("score", sa.Double, "higher is better; a distance is stored as its negative"),
    info=BULK,
    comment="The rows of the rankings.",
)

predictions = sa.Table(
    "predictions",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("setting", "all: trained on every example; 24-shot: on so few", sa.Text),
    key_column("draw", "which draw of few examples, from 1; 0: none was drawn", sa.Integer),
    key_column("query_id", "the source's id of the test paper", sa.Text),
    key_column("label", "the class predicted; empty: none of several; 'value' where it is a number", sa.Text),
    required("value", sa.Double, "the number predicted, or the class's decision value"),
    info=BULK,
    comment="What probes predict of the test papers of a task.",
)

probes = sa.Table(
    "probes",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("setting", "as in predictions", sa.Text),
    key_column("draw", "as in predictions", sa.Integer),
    optional("c", sa.Double, "the C that was chosen, or given; null where each label has its own"),
    optional("label_c", sa.Text, "JSON object: label -> its C"),
    optional("grid_score", sa.Double, "what C was chosen by, on the folds: accuracy, or R^2"),
    required("train_count", sa.Integer, "examples that it was trained on"),
    required("train_missing", sa.Integer, "of the examples chosen, how many have no vector"),
    required("test_missing", sa.Integer, "of the test papers, how many have no vector"),
    required("leaked", sa.Integer, "test papers that are training examples too"),
    required("open_count", sa.Integer, "predictions that the solver's tolerance leaves open"),
    required("unconverged", sa.Integer, "fits that stopped at the limit of passes"),
    required("one_class_fits", sa.Integer, "fits whose examples were of one class"),
    info=BULK,
    comment="How the probes of a run were trained, and what was not as it should be.",
)

cluster_assignments = sa.Table(
    "cluster_assignments",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("query_id", "query_id of the benchmark's signatures view", sa.Text),
    required("cluster", sa.Text, "the cluster that it was put into: dataset, block and number"),
    info=BULK,
    comment="Which signatures a run takes to be of one person.",
)

clusterings = sa.Table(
    "clusterings",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("dataset", "dataset of the signatures", sa.Text),
    required("train_blocks", sa.Integer, "blocks that pairs were taken from to train on"),
    required("dev_blocks", sa.Integer, "blocks that the threshold was chosen by"),
    required("test_blocks", sa.Integer, "blocks that were clustered"),
    required("train_pairs", sa.Integer, "pairs of signatures that were trained on"),
    required("same_pairs", sa.Integer, "of those, pairs of one person"),
    required("clusters", sa.Integer, "clusters that the test blocks fall into"),
    required("papers", sa.Integer, "papers that the signatures stand on"),
    required("papers_without_vector", sa.Integer, "of those, papers that the system gives no vector of"),
    required("threshold", sa.Double, "distance up to which clusters were joined"),
    optional("dev_f1", sa.Double, "B3_F1 of the dev blocks at that distance; null where they have no pair"),
    info=BULK,
    comment="How a run's signatures were clustered, and what was not as it should be.",
)

self_ranks = sa.Table(
    "self_ranks",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("scheme", "I, II: titles as queries; NN: neighbours as queries", sa.Text),
    key_column("vectors", "raw, l2 or standardised; raw where there are no vectors", sa.Text),
    key_column("code", "code of the neighbour; T in the schemes I and II", sa.Text),
    key_column("query_id", "the source's id of the paper", sa.Text),
    optional(
        "rank",
        sa.Integer,
        "rank of the paper's own title and abstract among the candidates, from 1; null: the system "
        "represents one of the two by nothing",
    ),
    optional("ties", sa.Integer, "other candidates with the same score as its own"),
    optional(
        "changed", sa.Double, "share of the characters changed: edit distance over the longer; null: a title"
    ),
    info=BULK,
    comment="At which rank an altered text finds the title and abstract that it is of.",
)

neighbour_overlaps = sa.Table(
    "neighbour_overlaps",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("code", "code of the neighbour", sa.Text),
    key_column("query_id", "the source's id of the paper", sa.Text),
    key_column(
        "reading",
        "all: every candidate; without_own: without the query itself; without_pair: nor the other of the two",
        sa.Text,
    ),
    optional(
        "shared_10",
        sa.Integer,
        "how many of the 10 nearest of the neighbour are among the original's; null: the system "
        "represents one of the two by nothing",
    ),
    optional("shared_20", sa.Integer, "how many of the 20 nearest"),
    optional("same", sa.Boolean, "whether neighbour and original are the same to the system"),
    info=BULK,
    comment="How many nearest candidates a neighbour shares with the original.",
)

similarity_statistics = sa.Table(
    "similarity_statistics",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("code", "code of the neighbour; T_A: the originals", sa.Text),
    required("papers", sa.Integer, "papers compared, each with each"),
    required("pairs", sa.BigInteger, "pairs of papers"),
    required("lowest", sa.Double, "the lowest cosine of a pair"),
    required("highest", sa.Double, "the highest"),
    required("mean", sa.Double, "the mean"),
    required("deviation", sa.Double, "the standard deviation, of all pairs"),
    required("above_mean", sa.BigInteger, "pairs whose cosine is above the mean"),
    info=BULK,
    comment="How alike a system takes the neighbours of one code to be, over all pairs of papers.",
)

vector_maps = sa.Table(
    "vector_maps",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("code", "T_A: title and abstract; T: the title", sa.Text),
    key_column("query_id", "the source's id of the paper", sa.Text),
    required("x", sa.Double, "first coordinate of t-SNE"),
    required("y", sa.Double, "second coordinate"),
    info=BULK,
    comment="A plane map of a sample of a run's vectors.",
)

score_intervals = sa.Table(
    "score_intervals",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("measure", "as in scores", sa.Text),
    key_column("subset", "as in scores", sa.Text),
    required("low", sa.Double, "2.5th percentile of the value over resamples of the test papers or queries"),
    required("high", sa.Double, "97.5th percentile"),
    required("resamples", sa.Integer, "how many samples with replacement were drawn"),
    required("seed", sa.Integer, "what they were drawn with"),
    comment="Bootstrap intervals of scores.",
)

suite_runs = sa.Table(
    "suite_runs",
    metadata,
    key_column("suite", "as in suite_figures", sa.Text),
    key_column("system", "as it was asked for, with its options: an encoder for each format is one", sa.Text),
    key_column("mode", "as in runs", sa.Text),
    key_column("benchmark", "as in runs", sa.Text),
    reference("run_id", "runs.run_id", role="required"),
    comment="The runs of a system that were asked for by the suite; a run may be of several systems.",
)

suite_intervals = sa.Table(
    "suite_intervals",
    metadata,
    reference("run_id", "runs.run_id"),
    key_column("suite", "as in suite_figures", sa.Text),
    key_column("figure", "as in suite_figures", sa.Integer),
    required("low", sa.Double, "as in score_intervals, of the mean of the figure's scores"),
    required("high", sa.Double, "97.5th percentile"),
    required("resamples", sa.Integer, "how many samples with replacement were drawn"),
    required("seed", sa.Integer, "what they were drawn with"),
    comment="Bootstrap intervals of the figures of suites.",
)

scores = sa.Table(
    "scores",
    metadata,
    reference("run_id", "runs.run_id", role="required"),
    required("measure", sa.Text, "name of the measure, in ir-measures' syntax or our own"),
    required("subset", sa.Text, "which queries: all, facet=method, all/test, facet=method/test, …"),
    optional("query_id", sa.Text, "the query that the value is of; null on an aggregate"),
    required("value", sa.Double, "unrounded; a missing query counts as zero"),
    required("queries_expected", sa.Integer, "queries of the subset that have judgments"),
    required("queries_answered", sa.Integer, "expected queries that the run answered"),
    required("queries_missing", sa.Integer, "expected queries that the run did not answer"),
    sa.UniqueConstraint("run_id", "measure", "subset", "query_id", name="scores_key"),
    sa.CheckConstraint("queries_expected = queries_answered + queries_missing", name="scores_coverage_check"),
    comment="Measures of a run, per query and aggregated (query_id null).",
)

tuned_parameters = sa.Table(
    "tuned_parameters",
    metadata,
    reference("benchmark", "benchmarks.name", type_=sa.Text),
    key_column("system", "system whose parameters these are", sa.Text),
    key_column("parameters", "JSON object of the tuned parameters: k1 and b", sa.Text),
    required("settings", sa.Text, "JSON object of what they were tuned under: analysis, text templates"),
    required("measure", sa.Text, "the measure that the choice was made by"),
    required("value", sa.Double, "its mean over the validation queries; a missing query counts as zero"),
    required("validation", sa.Text, "which queries: split=train, fold=dev, or half of the benchmark's own"),
    required("query_count", sa.Integer, "how many validation queries there were"),
    required("chosen", sa.Boolean, "whether a run takes these parameters when none are given"),
    required("dataset_digest", sa.Text, "digest over the benchmark's queries and candidates at the time"),
    required("tuned_at", sa.DateTime(timezone=True), "when the grid was finished"),
    comment="Every parameter tried by the last tuning of a system on a benchmark; one is chosen.",
)
