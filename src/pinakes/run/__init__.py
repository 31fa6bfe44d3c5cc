"""Runs: made, imported, exported, reproduced, tuned."""
