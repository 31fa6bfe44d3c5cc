"""Chunks into tables: checked, merged and recorded set-wise, one transaction a chunk.

Ids are resolved by one lookup for each kind of key, and set in the Arrow tables; what is new is then appended
in bulk, and SQL compares only what is there already. Our ids continue the greatest one, in the order of
the source's records, so the same files give the same ids everywhere.
"""

from pinakes.loaders.merge.context import MergeContext, MergeCounts, find_known
from pinakes.loaders.merge.merging import merge_chunk
from pinakes.loaders.merge.preparing import encode_chunk

__all__ = ["MergeContext", "MergeCounts", "encode_chunk", "find_known", "merge_chunk"]
