"""Texts into vectors: models, presets, packed batches."""
