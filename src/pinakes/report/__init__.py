"""Scores and rankings as people read them: terminal tables, Markdown, HTML pages, plots, progress.

A report goes one way: `gather` reads the database into the records of `data`; `tables` and `plots` make of
them what `html`, `markdown` and the terminal show alike. `exhibits` and `errors` go the same way, each in its
room. `present` has what each room of commands says of its summaries.
"""
