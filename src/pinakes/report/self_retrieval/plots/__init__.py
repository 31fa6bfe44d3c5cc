"""The pictures of the report on alternative-self retrieval as SVG text."""
