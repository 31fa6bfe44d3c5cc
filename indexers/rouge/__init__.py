"""ROUGE as two packages define it, and summaries that are augmented by it sentence for sentence. No database."""
