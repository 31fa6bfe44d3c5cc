"""Scores of a document's sentences for a query: TF-IDF, BM25, features and logistic regression; no database."""
