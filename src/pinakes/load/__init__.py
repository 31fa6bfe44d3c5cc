"""Corpora into the database: fetched, loaded, resolved, deduplicated."""
