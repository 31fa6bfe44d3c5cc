"""Classification and regression as tasks: a linear probe over a system's vectors, trained and scored."""
