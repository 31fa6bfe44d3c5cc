"""Load, index, run, evaluate, report: plain functions over a database, joined from the parts.

Each step is one function that can be rerun alone; `steps` has them all under one name. Leaves out: options
and exit codes (`cli`).
"""
