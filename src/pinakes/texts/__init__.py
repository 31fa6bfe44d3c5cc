"""Rows that are derived from papers' texts: variants, splits into sentences, computed labels."""
