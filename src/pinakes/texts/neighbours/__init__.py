"""Textual neighbours: the 32 altered texts of a paper by which Singh and Singh (2022) probe encoders."""
