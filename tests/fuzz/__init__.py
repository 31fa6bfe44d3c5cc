"""Loaders read damaged sources without end: `make fuzz MINUTES=10`."""
