"""The exit codes of commands, which the manual's table lists."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    """everything that was asked for was done"""
    FAILED = 1
    """it was not; the message says why. What a machine or a database refuses is told in words too"""
    USAGE = 2
    """the command line was wrong"""
    REGRESSION = 3
    """scores fell below those that were accepted"""
    BUSY = 4
    """another process holds the DuckDB file or does the same job, and the time to wait is up"""
    DEFECT = 70
    """a defect of Pinakes, with its traceback (EX_SOFTWARE of sysexits.h)"""
    INTERRUPTED = 130
    """interrupted by the user"""
