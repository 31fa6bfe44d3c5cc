"""The report on extraction of sentences: ROUGE-SciQFS's tables, ours beside the published."""
