"""Faiss side indexes."""
