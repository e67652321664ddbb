"""Counts of many different things in little room: how many, which most often, and how large. Pure."""

import heapq
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b

#: Of the smallest hashes that are kept; the estimate is off by two in a hundred.
HASHES_MAX = 2_048
#: Keys counted at once; what is more often than one in so many is among them for certain.
COUNTED_MAX = 1_000
_HASH_BITS = 64
#: Sizes are kept to 5 bits behind the first: 3 in a hundred.
_SIZE_BITS = 6


def hash_of(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=_HASH_BITS // 8).digest())


class Distinct:
    """How many different hashes were added: exactly up to HASHES_MAX, beyond by how close the smallest lie."""

    def __init__(self) -> None:
        self._kept: set[int] = set()
        self._largest: list[int] = []

    def add(self, hashed: int) -> None:
        if hashed in self._kept or (len(self._kept) == HASHES_MAX and hashed >= -self._largest[0]):
            return
        self._kept.add(hashed)
        heapq.heappush(self._largest, -hashed)
        if len(self._kept) > HASHES_MAX:
            self._kept.remove(-heapq.heappop(self._largest))

    @property
    def is_exact(self) -> bool:
        return len(self._kept) < HASHES_MAX

    @property
    def count(self) -> int:
        if self.is_exact:
            return len(self._kept)
        return round((HASHES_MAX - 1) * 2**_HASH_BITS / -self._largest[0])


class Frequent:
    """The most frequent of many (Misra and Gries). A count is never too high; too low by at most `missed`."""

    def __init__(self, counted_max: int = COUNTED_MAX):
        self._max = counted_max
        self._counts: dict[int, int] = {}
        self._shown: dict[int, bytes] = {}
        self.missed = 0

    def add(self, hashed: int, shown: bytes) -> None:
        """Add a value. `shown` is kept while it is counted."""
        if hashed in self._counts:
            self._counts[hashed] += 1
        elif len(self._counts) < self._max:
            self._counts[hashed], self._shown[hashed] = 1, shown
        else:
            self._lower()

    def _lower(self) -> None:
        self.missed += 1
        for item in [entry for entry, count in self._counts.items() if count == 1]:
            del self._counts[item], self._shown[item]
        for number in self._counts:
            self._counts[number] -= 1

    def top(self, number: int) -> list[tuple[bytes, int]]:
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], self._shown[item[0]]))
        return [(self._shown[hashed], count) for hashed, count in ordered[:number]]


class Sizes:
    """Smallest, largest and sum exactly; what lies between to three in a hundred."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._total = self._smallest = self._largest = 0

    def add(self, size: int) -> None:
        self._smallest = size if not self._counts else min(self._smallest, size)
        self._largest = max(self._largest, size)
        self._total += size
        dropped = max(0, size.bit_length() - _SIZE_BITS)
        self._counts[size >> dropped << dropped] += 1

    def figures(self) -> Mapping[str, int]:
        """Return the figures; empty without any records."""
        count = self._counts.total()
        if not count:
            return {}
        shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        between = {name: max(self._smallest, self._at(share * count)) for name, share in shares.items()}
        return {
            "min": self._smallest, **between, "max": self._largest, "mean": self._total // count, "total": self._total
        }  # fmt: skip

    def _at(self, rank: float) -> int:
        passed = 0
        for size, count in sorted(self._counts.items()):
            passed += count
            if passed >= rank:
                return size
        return self._largest
