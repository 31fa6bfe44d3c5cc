"""What encoders are trained on: instances of tasks, drawn from the database by SQL and a seed, recorded."""
