"""How well altered texts find the texts they are of: ranks, shared neighbours, similarities. No database."""
