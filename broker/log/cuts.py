"""Lets work on other threads notice that the end of the log was cut off under it, or its files got other names.

The owner of a log truncates it while a flush, a look-up or the cleaner may be reading what goes. None of them is waited
for: each compares the number of cuts before and after, and what it found in between does not count. One that misses a
file waits for the owner to be done before it looks again: a renaming is over sooner or later, not after so many looks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Cuts:
    """Cuts of one log. The owner waits at most while a thread writes down one number."""

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        #: Includes one that is under way.
        self.count = 0
        self._lock = Lock()

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """Mark a truncation; called by the owner around all its steps."""
        with self._lock:
            self.count += 1
            yield

    @contextmanager
    def renaming(self) -> Iterator[None]:
        """Mark a replacement of segments; called by the owner while names and files differ."""
        with self._lock:
            yield

    def settled(self) -> int:
        """Wait until no truncation or replacement is running, and return how many truncations there were."""
        with self._lock:
            return self.count

    @contextmanager
    def unless_cut_since(self, count: int) -> Iterator[bool]:
        """Yield whether the log was truncated at most `count` times so far; that stays so inside."""
        with self._lock:
            yield self.count == count
