"""Runs: made, imported, exported."""
