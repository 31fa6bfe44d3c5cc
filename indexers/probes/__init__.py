"""Linear models over vectors that are trained for a task (probes), as SciRepEval trains them; no database."""
