"""ROUGE as two packages define it, and summaries that grow by it sentence for sentence. No database."""
