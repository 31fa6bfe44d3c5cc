"""The tables of the report on extraction of sentences."""
