"""Load, index, run, evaluate, report: plain functions over a database, joined from the parts.

Each step is one function that can be rerun alone. Leaves out: options, exit codes and printing (`cli`).
"""
