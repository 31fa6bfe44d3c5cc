"""Scores of a document's sentences for a query: by terms, by vectors, by logistic regression; no database."""
