"""MDCR's construction in plain Python, to hold the SQL against: dicts and sorted lists, by the sources' ids.

Leaves out: speed. Rankings are made up: md5 orders each query's pool, differently for each system.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from pinakes.database import Database
from pinakes.schema import hits
from tests.sampled_rows import add_run

Candidates = dict[str, list[tuple[str, str]]]
"""query id -> (type, source id) in the order in which they were taken"""

MOST = 200


def digest(*parts: object) -> str:
    """The md5 by which everything is ordered."""
    return hashlib.md5(":".join(map(str, parts)).encode()).hexdigest()


def ask(database: Database, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def rank_pools(database: Database, systems: Iterable[str], depth: int = 60) -> None:
    """A made-up run of each system: the pool by md5; what is numbered even is ranked alike by all."""
    pools = defaultdict(list)
    for pool, paper_id, source_id in ask(
        database,
        "SELECT pool, papers.paper_id, source_id FROM field_level.candidates AS candidates "
        "INNER JOIN papers ON candidates.paper_id = papers.paper_id",
    ):
        pools[pool].append((source_id, paper_id))
    queries = ask(
        database, "SELECT query_id, pool FROM field_level.queries WHERE fold = 'test' AND repeat = '1'"
    )
    for run_id, system in enumerate(systems, 1):
        add_run(database, run_id, "field_level", system)
        ranked: list[tuple[int, str, int, int, float]] = []
        for query_id, pool in queries:

            def order(member: tuple[str, int], query_id: str = query_id, system: str = system) -> str:
                shared = int(digest(query_id, member[0])[:2], 16) % 2
                return digest(query_id, member[0], "" if shared else system)

            best = sorted(pools[pool], key=order)[:depth]
            ranked += [(run_id, query_id, paper, rank, 1 / rank) for rank, (_, paper) in enumerate(best, 1)]
        with database.begin() as session:
            session.insert(hits, pa.table(list(zip(*ranked, strict=True)), names=hits.columns.keys()))


class Reference:
    """The construction of one seed, from what the database holds."""

    def __init__(self, database: Database, seed: str, *, models: int, top: int, top_of: str) -> None:
        self.seed, self.top, self.top_of = seed, top, top_of
        ids = dict(ask(database, "SELECT paper_id, source_id FROM papers"))
        self.usable = {
            ids[paper]
            for (paper,) in ask(
                database,
                "SELECT paper_id FROM prefiltered_papers AS papers INNER JOIN samplings "
                "ON papers.benchmark = samplings.benchmark "
                "WHERE papers.benchmark = 'field_level' AND papers.year <= samplings.year",
            )
        }
        self.citing, self.cited_by = defaultdict(set), defaultdict(set)
        for citing, cited in ask(database, "SELECT citing_paper_id, cited_paper_id FROM citation_links"):
            if citing != cited:
                self.citing[ids[citing]].add(ids[cited])
                self.cited_by[ids[cited]].add(ids[citing])
        self.fields = defaultdict(set)
        for paper, field in ask(database, "SELECT paper_id, field FROM paper_fields"):
            self.fields[field].add(ids[paper])
        self.queries = {
            query_id: (ids[paper], field)
            for query_id, paper, field in ask(
                database,
                "SELECT query_id, paper_id, field FROM sampled_queries "
                "WHERE benchmark = 'field_level' AND fold = 'test'",
            )
        }
        self.relevant = defaultdict(set)
        for query_id, paper in ask(
            database, "SELECT query_id, paper_id FROM sampled_citations WHERE benchmark = 'field_level'"
        ):
            self.relevant[query_id].add(ids[paper])
        self.tops = self._read_tops(database, ids)
        self.jaccard = self._compare()
        self.models = sorted(self.jaccard, key=lambda system: (self.jaccard[system], system))[:models]

    def refused(self, query_id: str) -> set[str]:
        """What can be no negative of a query."""
        return self.relevant[query_id] | {self.queries[query_id][0]}

    def _read_tops(self, database: Database, ids: Mapping[int, str]) -> dict[str, dict[str, list[str]]]:
        rows = ask(
            database,
            "SELECT runs.system, queries.query_id, hits.paper_id FROM hits "
            "INNER JOIN runs ON hits.run_id = runs.run_id "
            "INNER JOIN field_level.queries AS queries ON hits.query_id = queries.query_id "
            "WHERE queries.repeat = '1' ORDER BY runs.system, queries.query_id, hits.rank",
        )
        ranked: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for system, ranked_id, paper in rows:
            ranked[system][ranked_id.rsplit("/", 1)[1]].append(ids[paper])
        return {
            system: {query_id: self._cut(query_id, papers) for query_id, papers in queries.items()}
            for system, queries in ranked.items()
        }

    def _cut(self, query_id: str, papers: list[str]) -> list[str]:
        """The negatives among the best candidates, or the best negatives."""
        if self.top_of == "negatives":
            return [paper for paper in papers if paper not in self.refused(query_id)][: self.top]
        candidates = [paper for paper in papers if paper != self.queries[query_id][0]]
        return [paper for paper in candidates[: self.top] if paper not in self.refused(query_id)]

    def _compare(self) -> dict[str, float]:
        found = {}
        for one in self.tops:
            indexes = [
                len(set(best) & set(self.tops[other][query_id]))
                / len(set(best) | set(self.tops[other][query_id]))
                for other in self.tops
                if other != one
                for query_id, best in self.tops[one].items()
            ]
            found[one] = sum(indexes) / len(indexes)
        return found

    def _sort(self, query_id: str, papers: Iterable[str], source: str) -> list[str]:
        return sorted(papers, key=lambda paper: digest(query_id, paper, source, self.seed))

    def _offer_graph(self, query_id: str) -> list[str]:
        relevant = self.relevant[query_id]
        near = {paper: self.citing[paper] | self.cited_by[paper] for paper in relevant}
        walk = sorted(relevant, key=lambda paper: (-len(near[paper] & relevant) / len(relevant), paper))
        offered: list[str] = []
        for paper in walk:
            usable = (near[paper] & self.usable) - self.refused(query_id) - set(offered)
            offered += self._sort(query_id, usable, "graph")
        return offered

    def _offer_most_cited(self, query_id: str) -> list[str]:
        field = self.fields[self.queries[query_id][1]] & self.usable
        cited = sorted(
            (paper for paper in field if self.cited_by[paper]),
            key=lambda paper: (-len(self.cited_by[paper]), paper),
        )
        return self._sort(query_id, set(cited[:MOST]) - self.refused(query_id), "most_cited")

    def _deal_random(self, draws: int) -> dict[str, list[str]]:
        papers = sorted(self.usable, key=lambda paper: digest(paper, "random", self.seed))
        turns = sorted(
            ((query_id, draw) for query_id in self.queries for draw in range(1, draws + 1)),
            key=lambda turn: digest(*turn, "random", self.seed),
        )
        dealt = sorted(
            (query_id, draw, papers[number % len(papers)]) for number, (query_id, draw) in enumerate(turns)
        )
        offered: dict[str, list[str]] = defaultdict(list)
        for query_id, _, paper in dealt:
            if paper not in self.refused(query_id) and paper not in offered[query_id]:
                offered[query_id].append(paper)
        return offered

    def construct(self, negatives: int = 10, cited: int = 5) -> tuple[Candidates, Counter[tuple[str, str]]]:
        """The candidates of every query, and how often a type wanted what another had."""
        dealt = self._deal_random(4 * negatives)
        taken: Candidates = {}
        clashes: Counter[tuple[str, str]] = Counter()
        for query_id in self.queries:
            offers = {"cited": self._sort(query_id, self.relevant[query_id], "cited")[:cited]}
            for model in self.models:
                usable = set(self.tops[model][query_id]) & self.usable
                offers[model] = self._sort(query_id, usable, model)
            offers["graph"] = self._offer_graph(query_id)
            offers["most_cited"] = self._offer_most_cited(query_id)
            offers["random"] = dealt[query_id]
            types: dict[str, str] = {}
            for source, papers in offers.items():
                clashes.update((source, types[paper]) for paper in papers[:negatives] if paper in types)
                types |= dict.fromkeys([p for p in papers if p not in types][:negatives], source)
            taken[query_id] = [(source, paper) for paper, source in types.items()]
        return taken, clashes
