"""Readers at one time are counted, for each person and altogether: each costs a thread and some megabytes.

Half of the slots are for people who have none, so that a few people with many pages do not close reading for the rest.
"""

import threading
from collections import Counter
from collections.abc import Hashable

READERS_MAX = 16
READERS_PER_PERSON_MAX = 4


class ReaderSlots:
    """Safe to use from several threads."""

    def __init__(self, slots_max: int = READERS_MAX, per_person_max: int = READERS_PER_PERSON_MAX):
        self._max, self._per_person_max = slots_max, per_person_max
        self._taken: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    def take(self, person: Hashable) -> str:
        """Take a slot for `person`; return a sentence if there is none, else nothing, and the slot has to be given
        back.
        """
        with self._lock:
            if self._taken[person] >= self._per_person_max:
                return f"You have {self._per_person_max} readers open already: close one of the other pages."
            if self._taken.total() >= self._max:
                return f"All {self._max} readers of this console are in use; try again in a moment."
            if self._taken[person] and self._max - self._taken.total() <= self._max // 2:
                return "The remaining readers are reserved for users without one: close one of your other pages."
            self._taken[person] += 1
            return ""

    def give_back(self, person: Hashable) -> None:
        with self._lock:
            self._taken[person] -= 1
            self._taken += Counter()


#: Of this web process.
SLOTS = ReaderSlots()
