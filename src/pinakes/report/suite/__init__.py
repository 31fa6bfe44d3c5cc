"""The report on a suite: its leaderboard, one row an encoder, and the table of all figures."""
