"""The report on alternative-self retrieval: the paper's tables and pictures, ours beside the published."""
