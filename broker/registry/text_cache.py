"""What was made of texts of schemas, kept for the next request: bounded by their number, and by the texts' length.

A parsed schema takes some twenty times the memory of its text, so that a number alone bounds nothing.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class TextCache(Generic[Key, Made]):
    """The entries used last; the newest one stays, however long its text is. For any number of threads."""

    def __init__(self, entries_max: int, characters_max: int):
        self._entries_max, self._characters_max = entries_max, characters_max
        self._turn = threading.Lock()
        self._entries: OrderedDict[Key, tuple[Made, int]] = OrderedDict()
        #: Of all texts.
        self.characters = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Made | None:
        with self._turn:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def keep(self, key: Key, made: Made, characters: int) -> None:
        """Keep a result. characters: of all texts that it was made of."""
        with self._turn:
            if key in self._entries:
                self.characters -= self._entries.pop(key)[1]
            self._entries[key] = made, characters
            self.characters += characters
            while len(self._entries) > 1 and (
                len(self._entries) > self._entries_max or self.characters > self._characters_max
            ):
                self.characters -= self._entries.popitem(last=False)[1][1]
