"""What a benchmark asks of a system, one module or folder a task; `pinakes.queries.tasks` names them."""
