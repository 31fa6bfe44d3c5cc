"""Systems that score sentences by a network that is trained on a benchmark's own examples."""
