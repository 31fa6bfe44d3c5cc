"""Systems that rank: lexical ones over side indexes, dense ones over stored vectors, fusions of stored runs.

`base.System` is what each is and can do; `registry.find_system` gives one by name. A module of a system
imports no other system's.
"""

from pinakes.systems.base import Ranking, System, SystemDescription
from pinakes.systems.registry import find_system, list_systems

__all__ = ["Ranking", "System", "SystemDescription", "find_system", "list_systems"]
