"""Rankings that are one JSON document: ranx's runs, CSFCube's ranked pools, MDCR's scores."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.run.files.rows import FileRows, make_rows, open_ranking, show, take_score


def read_ranx_run(file: InputFile, _query_ids: Collection[str], _facet: str | None) -> FileRows:
    """A run as ranx writes it: `{query: {document: score}}`.

    Raises:
        InputError: the file is not of that form, names an id twice, or a score is no finite number.
    """
    rows: tuple[list[str], list[str], list[float]] = ([], [], [])
    for query_id, ranked in read_object(file).items():
        if not isinstance(ranked, dict):
            raise InputError(
                f"{file.name}: what stands for query {show(query_id)} is {show(ranked)}; expected an object "
                "{document: score}."
            )
        rows[0].extend([query_id] * len(ranked))
        rows[1].extend(ranked)
        rows[2].extend(_take_scores(file, query_id, ranked))
    return make_rows(*rows)


def _take_scores(file: InputFile, query_id: str, ranked: dict[str, Any]) -> list[float]:
    taken = []
    for source_id, score in ranked.items():
        try:
            taken.append(take_score(score))
        except ValueError as error:
            raise InputError(
                f"{file.name}: the score of {show(source_id)} for query {show(query_id)}: {error}; expected "
                "a number."
            ) from error
    return taken


def read_csfcube_ranking(file: InputFile, query_ids: Collection[str], facet: str | None) -> FileRows:
    """A CSFCube ranked pool: `{paper: [[candidate, distance], …]}`, best first; ties keep the file's order.

    The facet is `facet`, or the last part of the file's name before `-ranked`.

    Raises:
        InputError: the file is not of that form, or its distances do not ascend.
    """
    facet = facet or file.name.split("-ranked")[0].rsplit("-", 1)[-1]
    rows: tuple[list[str], list[str], list[float]] = ([], [], [])
    for paper, ranking in read_object(file).items():
        query_id = f"{paper}_{facet}"
        if query_id not in query_ids:
            raise InputError(
                f"{file.name}: {query_id} is no query of the benchmark; name the facet with --facet."
            )
        pairs = _take_pairs(file, paper, ranking)
        distances = [distance for _, distance in pairs]
        if distances != sorted(distances):
            raise InputError(f"{file.name}: the distances of {paper} do not ascend; expected the best first.")
        rows[0].extend([query_id] * len(pairs))
        rows[1].extend(candidate for candidate, _ in pairs)
        rows[2].extend(0.0 - distance for distance in distances)
    return make_rows(*rows, places=np.arange(len(rows[0]), dtype=np.float64))


def _take_pairs(file: InputFile, paper: str, ranking: object) -> Sequence[tuple[str, float]]:
    try:
        if not isinstance(ranking, list):
            raise TypeError
        return [(str(candidate), take_score(distance)) for candidate, distance in ranking]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{file.name}: the ranking of {paper} is not a list of [candidate, distance] pairs."
        ) from error


def read_mdcr_scores(file: InputFile, query_ids: Collection[str], _facet: str | None) -> FileRows:
    """MDCR's scores: `{"<query>_<candidate>": score}`, higher is better.

    Where ids hold underscores themselves, a key is cut where a query of the benchmark ends.

    Raises:
        InputError: a key begins with no query of the benchmark, or a score is no number.
    """
    rows: tuple[list[str], list[str], list[float]] = ([], [], [])
    for key, score in read_object(file).items():
        try:
            query_id, source_id = split_key(key, query_ids)
            value = take_score(score)
        except ValueError as error:
            raise InputError(f"{file.name}: {show(key)}: {error}.") from error
        rows[0].append(query_id)
        rows[1].append(source_id)
        rows[2].append(value)
    return make_rows(*rows)


def split_key(key: str, query_ids: Collection[str]) -> tuple[str, str]:
    """The query and the candidate of a key of MDCR's scores; `ValueError` where it is not cut in one way.

    >>> split_key("a_1_b_2", {"a_1", "c"})
    ('a_1', 'b_2')
    """
    parts = key.split("_")
    cuts = [cut for cut in range(1, len(parts)) if "_".join(parts[:cut]) in query_ids]
    if len(cuts) == 1:
        return "_".join(parts[: cuts[0]]), "_".join(parts[cuts[0] :])
    begins = "with more than one query" if cuts else "with no query"
    raise ValueError(f"the key begins {begins} of the benchmark; expected <query>_<candidate>")


def read_object(file: InputFile) -> dict[str, Any]:
    """The JSON object that a file is; no object in it may name a key twice."""
    with open_ranking(file) as stream:
        content = stream.read()
    try:
        found = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_take_object)
    except json.JSONDecodeError as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not UTF-8 (byte {error.start}).") from error
    except RecursionError as error:
        raise InputError(f"{file.name} is nested too deep; expected an object of rankings.") from error
    except ValueError as error:
        raise InputError(f"{file.name}: {error}.") from error
    if not isinstance(found, dict):
        raise InputError(f"{file.name} holds a JSON {type(found).__name__}; expected an object.")
    return found


def _take_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    raise ValueError(f"an object names {show(twice)} twice; expected it once")
