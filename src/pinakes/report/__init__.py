"""Scores and rankings as people read them: terminal tables, Markdown, one HTML page, plots, progress.

`data` has the records that `pinakes.report.gather` fills from the database, `tables` makes of them what the
terminal, Markdown and HTML show alike.
"""
