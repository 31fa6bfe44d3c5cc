"""Answers that are rows of `hits`, scored: what the tasks share that rank papers."""
