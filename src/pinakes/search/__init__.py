"""A loaded corpus searched for a text or a paper."""
