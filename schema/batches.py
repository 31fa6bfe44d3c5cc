"""What was loaded, what was not, and why."""

from typing import Literal, get_args

import sqlalchemy as sa

from pinakes.schema.base import BULK, key_column, metadata, one_of, optional, reference, required

Reason = Literal[
    "invalid_utf8",
    "not_json",
    "not_an_object",
    "not_xml",
    "malformed_line",
    "too_large",
    "missing_field",
    "invalid_value",
    "duplicate_id",
    "unknown_paper",
    "unknown_query",
    "unknown_sentence",
]
REJECTION_REASONS = get_args(Reason)

UnreadReason = Literal[
    "unknown_name",
    "other_content",
    "copy",
    "empty",
    "hidden",
]
UNREAD_REASONS = get_args(UnreadReason)

load_batches = sa.Table(
    "load_batches",
    metadata,
    key_column("batch_id", "ours"),
    reference("corpus_id", "corpora.corpus_id", role="required", type_=sa.Integer),
    required("loader", sa.Text, "name of the loader"),
    required("file", sa.Text, "name of the file"),
    required("file_digest", sa.Text, "sha256 of the file's bytes, or of a generator's options"),
    required("role", sa.Text, "what the file holds: papers, queries, judgments, …"),
    required("options_digest", sa.Text, "sha256 of the loader's options"),
    required(
        "round", sa.Integer, "1 for the first time that the file is loaded; 2 when it came back later, …"
    ),
    required("first_row", sa.BigInteger, "number of the batch's first record in the file; 1 is the first"),
    required("last_row", sa.BigInteger, "number of its last record; first_row - 1 where there was none"),
    optional(
        "first_byte", sa.BigInteger, "where the batch begins in the decompressed file, from 0; if known"
    ),
    optional("end_byte", sa.BigInteger, "where its last record ends, without the line end"),
    required("is_last", sa.Boolean, "whether the file ends with this batch"),
    required("rows_in", sa.BigInteger, "records read = loaded + rejected"),
    required("rows_loaded", sa.BigInteger, "records accepted: new + updated + unchanged"),
    required("rows_updated", sa.BigInteger, "of those, records that replaced an older version"),
    required("rows_unchanged", sa.BigInteger, "of those, records that were there already"),
    required("rows_rejected", sa.BigInteger, "records in rejected_rows"),
    required("citations", sa.BigInteger, "mentions that the batch brought"),
    required("started_at", sa.DateTime(timezone=True), "when the batch began"),
    required("elapsed_s", sa.Double, "seconds that it took"),
    sa.UniqueConstraint(
        "corpus_id",
        "loader",
        "role",
        "file_digest",
        "options_digest",
        "round",
        "first_row",
        name="load_batches_key",
    ),
    sa.CheckConstraint("rows_in = rows_loaded + rows_rejected", name="load_batches_balance_check"),
    comment="Which records of which file are in: one row a transaction.",
)

rejected_rows = sa.Table(
    "rejected_rows",
    metadata,
    reference("batch_id", "load_batches.batch_id"),
    key_column("row_number", "number of the record in the file; 1 is the first"),
    required("location", sa.Text, "line number or element path"),
    required("reason", sa.Text, "one of a listed set"),
    required("message", sa.Text, "what was wrong, in words"),
    optional("raw", sa.Text, "the record as it stood; bytes that are not text are escaped"),
    one_of("reason", REJECTION_REASONS, "rejected_rows_reason_check"),
    comment="Every record that was not accepted, with the reason and the raw text.",
)

unread_files = sa.Table(
    "unread_files",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column("loader", "name of the loader", sa.Text),
    key_column("source", "name of the file or folder that was handed in", sa.Text),
    key_column("file", "the file's name below it; in an archive behind the archive's", sa.Text),
    required("reason", sa.Text, "one of a listed set"),
    required("message", sa.Text, "why, in words; may be empty"),
    reference("batch_id", "load_batches.batch_id", " that met it in an archive", role="optional"),
    one_of("reason", UNREAD_REASONS, "unread_files_reason_check"),
    comment="Every file that was handed in and that no loader read, with the reason.",
    info=BULK,
)

left_out_items = sa.Table(
    "left_out_items",
    metadata,
    reference("batch_id", "load_batches.batch_id"),
    key_column("kind", "the table that a row would belong to, or `field NAME` of the source", sa.Text),
    key_column("reason", "one of a listed set: loaders.staging.LEFT_OUT", sa.Text),
    required("item_count", sa.BigInteger, "how many"),
    comment="Items of accepted records of which no row was made: by kind and reason.",
)

load_reports = sa.Table(
    "load_reports",
    metadata,
    reference("corpus_id", "corpora.corpus_id", type_=sa.Integer),
    key_column(
        "files_digest", "sha256 over what was loaded: loader, options, and the files' digests", sa.Text
    ),
    key_column("measure", "what is counted: rows_in, rejected.not_json, papers_without_abstract, …", sa.Text),
    required("loader", sa.Text, "name of the loader"),
    required("last_batch_id", sa.BigInteger, "the newest load_batches.batch_id that the counts take in"),
    required("row_count", sa.BigInteger, "how many"),
    comment="Data quality after each load: what became of the rows, and what the corpus then lacked.",
)
