"""Sentences of two papers compared: best pairs and optimal transport."""
