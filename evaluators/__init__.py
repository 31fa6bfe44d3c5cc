"""Numbers in, numbers out: rankings and judgments become scores.

`registry` names the measures, `evaluate` computes them per query and by subset, `significance` compares
two systems.
"""
