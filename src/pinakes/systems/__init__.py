"""Systems that rank: lexical ones over side indexes, dense ones over stored vectors.

`find_system` gives one by name; `System` is what each can do.
"""

from pinakes.systems.base import Ranking, System, SystemDescription
from pinakes.systems.registry import find_system, list_systems

__all__ = ["Ranking", "System", "SystemDescription", "find_system", "list_systems"]
