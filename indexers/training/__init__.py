"""Encoders trained on tasks of several formats at once, after SciRepEval (Singh et al. 2023, section 4)."""
