"""`pinakes tune`: parameters chosen on validation queries."""
