"""Examples of query-focused summarisation, made of papers, what they cite, and how."""
