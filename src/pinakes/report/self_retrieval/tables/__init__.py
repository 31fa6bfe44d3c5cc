"""The tables of the report on alternative-self retrieval."""
