"""What may be said of a window."""

from enum import StrEnum


class WindowState(StrEnum):
    """State of a window; the worst of its partitions and pairs of tiers counts, in this order."""

    COMPLETE = "complete"
    PENDING = "pending"  #: too young, or a tier has not come so far
    UNKNOWN = "unknown"  #: a tier has told nothing, or not all, and never will
    SKIPPED = "skipped"  #: a group was set past some of it, by who is no member
    REORDERED = "reordered"  #: all is there, but some record behind one that came after it
    MISMATCH = "mismatch"  #: as many, but others
    DUPLICATE = "duplicate"
    MISSING = "missing"


TROUBLES = frozenset((WindowState.REORDERED, WindowState.MISMATCH, WindowState.DUPLICATE, WindowState.MISSING))
