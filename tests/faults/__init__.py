"""Faults at system calls: commands are disturbed at their N-th, checked, and run again (`make faults`)."""
