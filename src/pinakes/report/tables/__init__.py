"""The tables of a report, as text in cells that terminal, Markdown and HTML draw alike."""
