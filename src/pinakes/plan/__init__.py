"""What an evaluation costs on a cluster, on paper: rates, a model of the steps, what breaks first."""
