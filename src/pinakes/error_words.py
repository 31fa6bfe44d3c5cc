"""What no part of Pinakes raised itself, in words: a missing extra, a machine's refusal, a driver's error."""

import sys

from pinakes.extras import explain_missing
from pinakes.faults import explain_fault


def explain_error(error: Exception) -> str | None:
    """What happened and what to do next; None where it is a defect."""
    return explain_missing(error) or explain_fault(error) or _explain_driver(error)


def _explain_driver(error: Exception) -> str | None:
    """A driver's error that nothing translated on its way; a driver that is not loaded raised nothing."""
    if "pinakes.database.driver_errors" not in sys.modules:
        return None
    from pinakes.database.driver_errors import driver_errors, explain

    ours = explain(error) if isinstance(error, driver_errors()) else None
    return None if ours is None else str(ours)
