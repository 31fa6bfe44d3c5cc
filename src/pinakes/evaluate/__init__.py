"""Runs scored, compared and held against each other."""
