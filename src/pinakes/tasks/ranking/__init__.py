"""The task of ranking candidate papers for each query."""
