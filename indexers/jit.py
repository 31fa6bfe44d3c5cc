"""`pinakes.jit`, where the indexers have always found it."""

from pinakes.jit import jit as jit
