"""SciRepEval (Singh et al. 2023): the training, metadata and test files of every task, as published.

JSON Lines, JSON arrays, CSV and Parquet; what a record is, its fields say (`records`). A task is named by the
option `task`, or else by the file's folder (`fos/test.csv`, `search/evaluation-00000-of-00001.parquet`), or
else by the file. Splits come from file names; `meta` and `evaluation` are the split `test` of graded
candidates and `all` of labels; where a name says nothing, triplets are `train` and the rest is `all`.
Queries are called `<task>:<query>`, since the same paper is a query of several tasks.
Passed over: the lists of tasks and of labels (`tasks_config.json`, `fos_labels.txt`), embeddings, results.
"""

from pinakes.loaders.scirepeval.loader import LOADER

__all__ = ["LOADER"]
