"""The lines of ranking files that others write: TREC runs, CSFCube's ranked pools, MDCR's scores."""

import gzip
import math
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from pinakes.errors import InputError


@dataclass(frozen=True, slots=True)
class FileHit:
    """One row of a ranking file: `rank` from 1 in its query, `score` higher is better."""

    query_id: str
    source_id: str
    rank: int
    score: float


def read_trec_run(path: Path, _query_ids: Collection[str], _facet: str | None) -> list[FileHit]:
    """A TREC run: `query Q0 document rank score tag`; the rank column is ignored, as trec_eval ignores it.

    Order is trec_eval 9's: score as float32 descending, then document id byte-wise descending. Lines that
    begin with `#` are comments.

    Raises:
        InputError: a line is no row of a run, or names a document twice for one query.
    """
    scored: dict[str, list[tuple[str, float]]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip() and not line.startswith("#"):
            query_id, source_id, score = _parse_trec_line(path, number, line)
            scored.setdefault(query_id, []).append((source_id, score))
    return _rank(path, {query_id: _sort(pairs) for query_id, pairs in sorted(scored.items())})


def read_csfcube_ranking(path: Path, query_ids: Collection[str], facet: str | None) -> list[FileHit]:
    """A CSFCube ranked pool: `{paper: [[candidate, distance], …]}`, best first; ties keep the file's order.

    The facet is `facet`, or the last part of the file's name before `-ranked`.

    Raises:
        InputError: the file is not of that form, or its distances do not ascend.
    """
    facet = facet or path.name.split("-ranked")[0].rsplit("-", 1)[-1]
    scored = {}
    for paper, ranking in _read_object(path).items():
        query_id = f"{paper}_{facet}"
        if query_id not in query_ids:
            raise InputError(
                f"{path.name}: {query_id} is no query of the benchmark; name the facet with --facet."
            )
        try:
            pairs = [(str(candidate), -float(distance)) for candidate, distance in ranking]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{path.name}: the ranking of {paper} is not a list of [candidate, distance] pairs."
            ) from error
        scores = [score for _, score in pairs]
        if any(map(math.isnan, scores)) or scores != sorted(scores, reverse=True):
            raise InputError(f"{path.name}: the distances of {paper} do not ascend; expected the best first.")
        scored[query_id] = pairs
    return _rank(path, scored)


def read_mdcr_scores(path: Path, query_ids: Collection[str], _facet: str | None) -> list[FileHit]:
    """MDCR's scores: `{"<query>_<candidate>": score}`, higher is better.

    Where ids hold underscores themselves, a key is cut where a query of the benchmark ends.

    Raises:
        InputError: a key begins with no query of the benchmark, or a score is no number.
    """
    scored: dict[str, list[tuple[str, float]]] = {}
    for key, score in _read_object(path).items():
        query_id, source_id = _split_key(path, key, query_ids)
        if not isinstance(score, int | float):
            raise InputError(f"{path.name}: the score of {key} is {score!r}; expected a number.")
        scored.setdefault(query_id, []).append((source_id, float(score)))
    return _rank(path, {query_id: _sort(pairs) for query_id, pairs in sorted(scored.items())})


FORMATS: Final[dict[str, Callable[[Path, Collection[str], str | None], list[FileHit]]]] = {
    "trec": read_trec_run,
    "csfcube": read_csfcube_ranking,
    "mdcr": read_mdcr_scores,
}


def _sort(pairs: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Papers with their scores in the order of trec_eval."""
    ordered = sorted(pairs, key=lambda pair: pair[0].encode(), reverse=True)
    with np.errstate(over="ignore"):  # beyond float32 a score is infinite, as trec_eval reads it
        return sorted(ordered, key=lambda pair: float(np.float32(pair[1])), reverse=True)


def _rank(path: Path, scored: Mapping[str, list[tuple[str, float]]]) -> list[FileHit]:
    """The hits of rankings, the best first; a paper that a query ranks twice is refused."""
    found = []
    for query_id, pairs in scored.items():
        seen: set[str] = set()
        for rank, (source_id, score) in enumerate(pairs, start=1):
            if source_id in seen:
                raise InputError(f"{path.name}: query {query_id} ranks {source_id} twice; expected it once.")
            seen.add(source_id)
            found.append(FileHit(query_id, source_id, rank, score))
    return found


def _parse_trec_line(path: Path, number: int, line: str) -> tuple[str, str, float]:
    columns = line.split()
    try:
        query_id, _, source_id, _, score, _ = columns
        value = float(score)
    except ValueError as error:
        raise InputError(
            f"{path.name}, line {number}: {line.strip()!r} is no row of a TREC run; expected "
            "`query Q0 document rank score tag`."
        ) from error
    if not math.isfinite(value):
        raise InputError(f"{path.name}, line {number}: the score {score} is not a finite number.")
    return query_id, source_id, value


def _split_key(path: Path, key: str, query_ids: Collection[str]) -> tuple[str, str]:
    parts = key.split("_")
    cuts = [cut for cut in range(1, len(parts)) if "_".join(parts[:cut]) in query_ids]
    if len(cuts) == 1:
        return "_".join(parts[: cuts[0]]), "_".join(parts[cuts[0] :])
    begins = "with more than one query" if cuts else "with no query"
    raise InputError(f"{path.name}: {key!r} begins {begins} of the benchmark; expected <query>_<candidate>.")


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(read_text(path))
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path.name} is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{path.name} holds a JSON {type(content).__name__}; expected an object.")
    return content


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, gzipped where its name ends in .gz; `InputError` where it is not that."""
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}.") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path.name} is damaged or cut short; fetch it again.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 (byte {error.start}).") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def write_lines(path: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that takes its name only when it is whole; the number of lines."""
    building = path.with_name(f".{path.name}.part")
    count = 0
    try:
        with building.open("w", encoding="utf-8", newline="\n") as stream:
            for line in lines:
                stream.write(line + "\n")
                count += 1
        building.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        building.unlink(missing_ok=True)
    return count
