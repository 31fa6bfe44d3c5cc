"""The records of SciRepEval, distinguished by their fields, and the rows that each becomes.

| a record with | is |
|---|---|
| query, candidates | a paper or a text with graded candidates: search, same author, influential citations |
| query, pos, neg | a training triplet: the grades 1 and 0 for the query's paper |
| query_id, cand_id, score | a grade; of reviewer matching, the candidate is a reviewer |
| r_id, papers | a reviewer, a paper without a text: label `r_id` on each own paper, task `<task>:reviewers` |
| paper_id, label | a class, several, none (`none` of the task `<task>:unlabelled`), or a number |
| references, cited_by | a paper of SciDocs (`pinakes.loaders.scidocs`) |
| doc_id or corpus_id | a paper; the labels beside its text have the task `<task>:texts` |

Several classes are a list of them, or of a 0 or 1 for each that there is.
What stands beside texts is for training models, what has only a paper's id for the probes: both have a split
`train`, so they have tasks of their own.

A query that stands in several records with candidates is a query each time (`<task>:7`, `<task>:7.2`); one of
several triplets is one query. A paper judged twice alike for a query counts once; otherwise the record is
rejected. Candidates' descriptions fill gaps and overwrite nothing. Left out and counted are all other fields,
as `n_key_citations`, `user_id`, indexes of labels (`labels`, where `labels_text` names them), the dataset of
a same-author query, and ratings, h-indexes and tweets in metadata, of which the tasks' numbers are made.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from pinakes.loaders import scidocs
from pinakes.loaders.base import PAPER_COLUMNS
from pinakes.loaders.left_out import keep_distinct, leave_fields, leave_out
from pinakes.loaders.reading.rows import (
    Row,
    list_fields,
    list_pool_sources,
    make_judgment,
    make_label,
)
from pinakes.loaders.reading.values import (
    take_grade,
    take_id,
    take_ids,
    take_list,
    take_number,
    take_object,
    take_text,
)
from pinakes.loaders.scirepeval.descriptions import DESCRIPTION, IDS, describe, leave_parts, mention
from pinakes.loaders.staging import RecordError, Rows

DESCRIBED: Final = frozenset({*PAPER_COLUMNS, "identifiers", "authorships", "fields", "citations"})
_TEXT_TASKS: Final = frozenset({"search", "nfcorpus", "trec_covid", "feeds_title"})
_NUMBER_TASKS: Final = frozenset({
    "cite_count", "citation_count", "pub_year", "publication_year", "tweet_mentions", "peer_review_score",
    "hindex", "max_hindex",
})  # fmt: skip
_TARGETS: Final = ("log_citations", "scaled_year")
"""what `tasks_config.json` trains regression on"""
_TEXTS: Final = DESCRIPTION.union(_TARGETS, ("descriptor", "qualifier", "labels_text"))
"""What is read of a paper with labels beside its text; the rest is left out."""


class TaskFile:
    """One file of a task: makes rows of its records, and remembers what they named already.

    Args:
        task: the task's name.
        split: the split that the file's name says; empty where it says none.
        graded_split: the split of graded candidates where the file's name says none.
        assessor: who judged.
    """

    def __init__(self, task: str, split: str, graded_split: str, assessor: str) -> None:
        self._task = task
        self._kind = re.sub(r"\W+", "_", task.lower())
        self._split = split
        self._graded_split = split or graded_split
        self._assessor = assessor
        self._queries: set[str] = set()
        self._times: Counter[str] = Counter()
        self._grades: dict[tuple[str, str], int] = {}

    def parse(self, record: Mapping[str, Any]) -> Rows:
        """The rows of one record."""
        layouts = (
            (("query", "candidates"), self._parse_ranked),
            (("query", "pos", "neg"), self._parse_triplet),
            (("query_id", "cand_id"), self._parse_judged),
            (("r_id", "papers"), self._parse_reviewer),
            (("references", "cited_by"), self._parse_scidocs),
        )
        for names, parse in layouts:
            if all(name in record for name in names):
                return parse(record)
        if "label" in record and not {"title", "doc_id", "corpus_id"} & record.keys():
            return self._parse_labelled(record)
        return self._parse_paper(record)

    def _parse_ranked(self, record: Mapping[str, Any]) -> Rows:
        requested = record["query"]
        candidates = [_take_member(candidate) for candidate in take_list(record, "candidates")]
        graded = [candidate for candidate in candidates if candidate.get("score") is not None]
        papers = [*([requested] if isinstance(requested, dict) else []), *candidates]
        grades: dict[str, int] = {}
        for candidate in graded:
            _grade_once(grades, take_id(candidate, *IDS), take_grade(candidate["score"]))
        mentioned = mention(papers)
        leave_parts(record, "query", "candidates")
        leave_out("judgments", "repeated", len(graded) - len(grades))
        query = self._name_query(record, requested)
        judgments = [
            make_judgment(query["query_id"], paper, grade, self._graded_split, assessor=self._assessor)
            for paper, grade in grades.items()
        ]
        pool = {take_id(candidate, *IDS) for candidate in candidates} - grades.keys()
        sources = list_pool_sources(query["query_id"], ((paper, "candidates") for paper in sorted(pool)))
        return {"queries": [query], "judgments": judgments, "pool_sources": sources} | mentioned

    def _name_query(self, record: Mapping[str, Any], requested: object) -> Row:
        """The query of a record with candidates, under a name that no earlier one has."""
        query: Row = {"field": self._task, "fold": self._graded_split}
        if isinstance(requested, dict):
            query["paper_source_id"] = requested_id = take_id(requested, *IDS)
        else:
            query["text"] = take_text(record, "query")
            if query["text"] is None:
                raise RecordError("missing_field", "an empty query")
            requested_id = take_id(record, "doc_id", "query_id", "session_id")
        self._times[requested_id] += 1
        times = self._times[requested_id]
        query["query_id"] = f"{self._task}:{requested_id}" + (f".{times}" if times > 1 else "")
        return query

    def _parse_triplet(self, record: Mapping[str, Any]) -> Rows:
        query, positive, negative = (take_object(record, name) or {} for name in ("query", "pos", "neg"))
        requested = take_id(query, *IDS)
        query_id = f"{self._task}:{requested}"
        split = self._split or "train"
        grades: dict[str, int] = {}
        for paper, grade in ((positive, 1), (negative, 0)):
            _grade_once(grades, take_id(paper, *IDS), grade)
        for judged, grade in grades.items():
            if self._grades.get((requested, judged), grade) != grade:
                raise RecordError(
                    "invalid_value", f"{judged} is cited in one triplet of {requested}, not in another"
                )
        leave_parts(record, "query", "pos", "neg")
        new = {judged: grade for judged, grade in grades.items() if (requested, judged) not in self._grades}
        rows = {
            "judgments": [make_judgment(query_id, judged, grade, split) for judged, grade in new.items()],
            "queries": [
                {"query_id": query_id, "paper_source_id": requested, "field": self._task, "fold": split}
                for _ in range(requested not in self._queries)
            ],
        } | mention([query, positive, negative])
        self._queries.add(requested)
        self._grades |= {(requested, judged): grade for judged, grade in new.items()}
        return rows

    def _parse_judged(self, record: Mapping[str, Any]) -> Rows:
        requested, candidate = take_id(record, "query_id"), take_id(record, "cand_id")
        leave_fields(record, {"query_id", "cand_id", "score"})
        grade = take_grade(record.get("score"))
        judgment = make_judgment(requested, candidate, grade, self._graded_split, assessor=self._assessor)
        asks_papers = self._kind not in _TEXT_TASKS
        return scidocs.judge_of_task(
            self._task, self._graded_split, judgment, self._queries, asks_papers=asks_papers
        )

    def _parse_reviewer(self, record: Mapping[str, Any]) -> Rows:
        reviewer = take_id(record, "r_id")
        leave_fields(record, {"r_id", "papers"})
        task = f"{self._task}:reviewers"
        labels = [make_label(task, paper, "all", reviewer) for paper in take_ids(record, "papers", "labels")]
        return {"mentioned_papers": [{"source_id": reviewer}], "labels": labels}

    def _parse_labelled(self, record: Mapping[str, Any]) -> Rows:
        labels = self._list_labels(self._task, take_id(record, "paper_id"), record["label"])
        if not labels:
            raise RecordError("missing_field", "an empty label")
        leave_fields(record, {"paper_id", "label"})
        return {"labels": labels}

    def _parse_scidocs(self, record: Mapping[str, Any]) -> Rows:
        source_id = take_id(record, *IDS)
        leave_fields(record, DESCRIPTION | scidocs.PAPER)
        rows = scidocs.parse_paper(source_id, {**record, "paper_id": source_id})
        return {**describe(source_id, record), **rows}

    def _parse_paper(self, record: Mapping[str, Any]) -> Rows:
        source_id = take_id(record, *IDS)
        rows = describe(source_id, record)
        descriptor, qualifier = take_text(record, "descriptor"), take_text(record, "qualifier")
        named = [
            name for name in (descriptor, descriptor and qualifier and f"{descriptor}/{qualifier}") if name
        ]
        classes = [*take_list(record, "labels_text"), *([descriptor] if descriptor else [])]
        is_unlabelled = not classes and isinstance(record.get("labels_text"), list)
        given = classes if classes or is_unlabelled else record.get("label")
        leave_fields(record, _TEXTS if given is not record.get("label") else _TEXTS | {"label"})
        task = f"{self._task}:texts"
        labels = self._list_labels(task, source_id, given)
        labels += [
            self._make_number(task, source_id, value)
            for name in _TARGETS
            if (value := record.get(name)) is not None
        ]
        return rows | {
            "fields": list_fields(source_id, named, "mesh"),
            "labels": labels,
        }

    def _list_labels(self, task: str, source_id: str, label: object) -> list[Row]:
        """The labels that a value says: a class, a list of classes or of none, a number, or nothing."""
        if label is None or label == "":
            return []
        label = _name_classes(label)
        if label == []:
            # The paper is in the split all the same: it is right to predict no class for it.
            return [make_label(f"{task}:unlabelled", source_id, self._split or "all", "none")]
        if not isinstance(label, list) and (
            self._kind in _NUMBER_TASKS or (isinstance(label, float) and not label.is_integer())
        ):
            return [self._make_number(task, source_id, label)]
        classes = [
            take_id({"label": name}, "label") for name in (label if isinstance(label, list) else [label])
        ]
        # Table 1 of the paper marks the training labels of fields of study as silver, the test's as gold.
        quality = "silver" if self._kind == "fos" and self._split in ("train", "dev") else "gold"
        split = self._split or "all"
        return [
            make_label(task, source_id, split, name, quality=quality)
            for name in keep_distinct("labels", classes)
        ]

    def _make_number(self, task: str, source_id: str, value: object) -> Row:
        number = take_number(value, "label")
        if number is None:
            raise RecordError("missing_field", "an empty label")
        return make_label(task, source_id, self._split or "all", "value", value=number)


def _name_classes(label: object) -> object:
    """The label; where it is one number a class, 1 for those of the paper, the numbers of its classes.

    A list of classes names none twice, so that three or more zeros and ones say which classes a paper has.

    >>> _name_classes([0, 1, 1]), _name_classes([0, 0, 0]), _name_classes([3, 5]), _name_classes(2)
    (['1', '2'], [], [3, 5], 2)
    """
    if not isinstance(label, list) or len(label) <= 2 or not all(flag in (0, 1) for flag in label):
        return label
    width = len(str(len(label) - 1))  # 02 before 10: probes take classes in the order of their names
    return [f"{number:0{width}}" for number, flag in enumerate(label) if flag]


def _take_member(candidate: object) -> dict[str, Any]:
    if not isinstance(candidate, dict):
        raise RecordError("invalid_value", f"candidates: expected objects, found {candidate!r:.80}")
    return candidate


def _grade_once(grades: dict[str, int], paper: str, grade: int) -> None:
    if grades.setdefault(paper, grade) != grade:
        raise RecordError("invalid_value", f"{paper} is judged {grades[paper]} and {grade}")
