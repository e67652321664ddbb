"""The last offset of each key, in memory that is bounded beforehand.

As in Kafka's cleaner a key is represented by a 16-byte digest, and digests and offsets lie in flat tables with open
addressing, 24 bytes a slot: a Python dict of the same keys would take eight times as much and could not be bounded.
Digests are salted, so that nobody can choose keys that meet in one slot. When the map is full the pass ends at the
offset it has reached, and the next pass goes on from there.
"""

import struct
from hashlib import blake2b

SLOT_BYTES = 24
SALT_BYTES = 16

_DIGEST = struct.Struct("=qq")
#: Share of slots in use at which the map is full; with more, finding a free one takes long.
_LOAD_MAX = 0.75
_SLOTS_MIN = 4


class OffsetMap:
    """Keys cannot be removed. Two keys of one digest would be one key; with 128 bits that does not happen."""

    __slots__ = ("_first", "_offsets", "_salt", "_second", "_size", "_slots", "capacity")

    def __init__(self, bytes_max: int, keys_max: int, salt: bytes = b""):
        """Takes at most `bytes_max` bytes, and no more than `keys_max` keys need."""
        self._slots = max(_SLOTS_MIN, min(bytes_max // SLOT_BYTES, int(keys_max / _LOAD_MAX) + 1))
        #: Keys that fit.
        self.capacity = int(self._slots * _LOAD_MAX)
        self._salt = salt
        self._size = 0
        self._first, self._second = _table(self._slots), _table(self._slots)
        #: Offset plus one; 0 is a free slot.
        self._offsets = _table(self._slots)

    def __len__(self) -> int:
        return self._size

    def put(self, key: bytes, offset: int) -> bool:
        """Note that `key` was last written at `offset`, later than any before; False if there is no room for it."""
        first, second = self._digest(key)
        slot = self._slot(first, second)
        if not self._offsets[slot]:
            if self._size >= self.capacity:
                return False
            self._size += 1
            self._first[slot], self._second[slot] = first, second
        self._offsets[slot] = offset + 1
        return True

    def latest(self, key: bytes) -> int:
        """Return the last offset noted for `key`, -1 if there is none."""
        return self._offsets[self._slot(*self._digest(key))] - 1

    def _digest(self, key: bytes) -> tuple[int, int]:
        return _DIGEST.unpack(blake2b(key, digest_size=_DIGEST.size, salt=self._salt, usedforsecurity=False).digest())

    def _slot(self, first: int, second: int) -> int:
        """Return the slot of the digest, or the free slot where it belongs."""
        slot = first % self._slots
        while self._offsets[slot] and (self._first[slot] != first or self._second[slot] != second):
            slot += 1
            if slot == self._slots:
                slot = 0
        return slot


def _table(slots: int) -> memoryview:
    """Return a table of zeros; memory that is never written costs nothing."""
    return memoryview(bytearray(8 * slots)).cast("q")
