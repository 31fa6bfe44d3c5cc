"""Faults at every system call: commands are disturbed at their N-th, checked, and run again (`make faults`)."""
