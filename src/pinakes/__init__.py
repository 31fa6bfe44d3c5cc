"""Pinakes: scholarly papers, references and citations in tables; retrieval benchmarks in SQL.

Importing the package does nothing but name its version; every part is imported where it is used.
"""

__version__ = "0.1.0"
