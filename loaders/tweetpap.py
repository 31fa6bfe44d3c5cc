"""TweetPap: arXiv papers with the retweets and favourites of the tweet that names them.

Read is `papers.csv`, plain, compressed or in its zip archive. The numbers of a paper's tweet are the labels
`tweetpap_retweets` and `tweetpap_favorites`; `cite` is the citation count. Papers are called by their arXiv
id; a few of the published ids are none ("2041-8205"): they stay as source ids, without an arXiv identifier.
Leaves out, and counts: the tweet's id, which the file holds as a rounded number, its sender and year, and
`abs_pdf`.
"""

import re
from functools import partial
from pathlib import Path
from typing import Final

from pinakes.loaders.base import InputFile, Loader, Options, describe_as
from pinakes.loaders.left_out import leave_fields
from pinakes.loaders.reading.finding import find_line_entries
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.rows import list_identifiers, make_label
from pinakes.loaders.reading.tables import read_table
from pinakes.loaders.reading.values import take_id, take_int, take_year
from pinakes.loaders.staging import RecordError, Rows

_COUNTS: Final = ("retweets", "favorites")
_READ: Final = ("Arxiv_id", "cite", "publish_year", *_COUNTS)
_ARXIV_ID: Final = re.compile(r"[0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}")


def find_files(source: Path | None, _options: Options) -> list[InputFile]:
    """papers.csv, or the entry of that name in each archive."""
    return find_line_entries(source, ".csv", role="papers")


def _parse_paper(row: dict[str, str]) -> Rows:
    source_id = take_id(row, "Arxiv_id")
    leave_fields(row, _READ)
    paper = {
        "source_id": source_id,
        "year": take_year(row["publish_year"]),
        "citation_count": take_int(row["cite"], "cite"),
    }
    counts = {name: take_int(row[name], name) for name in _COUNTS}
    if None in counts.values():
        raise RecordError("missing_field", "no count of retweets or favourites")
    return {
        "papers": [paper],
        "identifiers": list_identifiers(
            source_id, [("arxiv", source_id if _ARXIV_ID.fullmatch(source_id) else None)]
        ),
        "labels": [
            make_label(f"tweetpap_{name}", source_id, "all", "value", value=float(value))
            for name, value in counts.items()
            if value is not None
        ],
    }


LOADER: Final = Loader(
    name="tweetpap",
    summary="TweetPap: retweets and favourites of arXiv papers (papers.csv)",
    describe_corpus=describe_as(
        name="tweetpap", title="TweetPap", licence="MIT", source="https://github.com/lingo-iitgn/TweetPap"
    ),
    find_files=find_files,
    read_chunks=gather_by_role(
        partial(
            read_table,
            parse=_parse_paper,
            delimiter=",",
            quoted=True,
            required=_READ,
        )
    ),
    describes=lambda _role: frozenset({"year", "citation_count", "identifiers"}),
    may_lack_text=True,
)
