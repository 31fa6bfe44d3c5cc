"""The matrix of reproduction: every published figure beside what is measured here."""
