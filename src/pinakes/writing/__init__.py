"""What is written to files: whole or not at all, in formats that other programs read."""
