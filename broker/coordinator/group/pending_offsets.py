"""Offsets of transactions that are still open: what a commit marker makes visible and an abort marker drops (KIP-98).

They are in the log already. Which of two commits for the same partition counts is decided by their place there, not by
when the marker came: a plain commit, or another transaction's offset, written after a pending one has superseded it.
"""

from collections.abc import Callable, Iterator

from broker.coordinator.fields import text_bytes
from broker.coordinator.group.memory import OFFSET_BYTES
from broker.coordinator.group.records import CommittedOffset, OffsetKey

#: By producer id, in the order of the log; None for one that was superseded, whose transaction is still open.
_OfPartition = dict[int, CommittedOffset | None]


def size_of(key: OffsetKey, committed: CommittedOffset | None) -> int:
    """Return the approximate size of a committed offset in memory; None: of its key alone."""
    place = place_of(key.group_id, key.partition.topic)
    return place + text_bytes(committed.metadata) if committed is not None else place


def place_of(group_id: str, topic: str) -> int:
    """Return what an offset of the group takes in memory, about, without its metadata."""
    return OFFSET_BYTES + text_bytes(group_id) + text_bytes(topic)


class PendingOffsets:
    """The pending offsets of all groups of one coordinator."""

    def __init__(self, hold: Callable[[str, int], None]) -> None:
        """hold: called with a group id and how many bytes more, or fewer, the group's take."""
        self._hold = hold
        self._of_group: dict[str, dict[OffsetKey, _OfPartition]] = {}
        self._of_producer: dict[int, set[OffsetKey]] = {}

    def add(self, producer_id: int, key: OffsetKey, committed: CommittedOffset) -> None:
        producers = self._of_group.setdefault(key.group_id, {}).setdefault(key, {})
        self._drop(key, producers, producer_id)
        producers[producer_id] = committed
        self._hold(key.group_id, size_of(key, committed))
        self._of_producer.setdefault(producer_id, set()).add(key)

    def supersede(self, key: OffsetKey) -> None:
        """Note that a newer offset of the partition has been written after all pending ones."""
        if not self._of_group:
            return
        producers = self._of_group.get(key.group_id, {}).get(key, {})
        for producer_id in producers:
            self._supersede_one(key, producers, producer_id)

    def _supersede_one(self, key: OffsetKey, producers: _OfPartition, producer_id: int) -> None:
        """Replace a pending offset; its memory stays charged as long as its transaction is open: a producer may commit
        again and again.
        """
        self._hold(key.group_id, size_of(key, None) - size_of(key, producers[producer_id]))
        producers[producer_id] = None

    def _drop(self, key: OffsetKey, producers: _OfPartition, producer_id: int) -> None:
        if producer_id in producers:
            self._hold(key.group_id, -size_of(key, producers.pop(producer_id)))

    def complete(self, producer_id: int, is_commit: bool) -> Iterator[tuple[OffsetKey, CommittedOffset]]:
        """End the producer's transaction and yield the offsets that count now, none if it was aborted."""
        for key in self._of_producer.pop(producer_id, ()):
            producers = self._of_group[key.group_id][key]
            committed = producers[producer_id]
            if is_commit and committed is not None:
                for earlier in producers:
                    if earlier == producer_id:
                        break
                    self._supersede_one(key, producers, earlier)
                yield key, committed
            self._drop(key, producers, producer_id)
            self._drop_if_empty(key)

    def forget(self, key: OffsetKey) -> None:
        """Forget a key after its tombstone: a marker must not make an older offset visible again."""
        producers = self._of_group.get(key.group_id, {}).pop(key, {})
        for producer_id, committed in producers.items():
            self._hold(key.group_id, -size_of(key, committed))
            keys = self._of_producer[producer_id]
            keys.discard(key)
            if not keys:
                del self._of_producer[producer_id]
        if not self._of_group.get(key.group_id, True):
            del self._of_group[key.group_id]

    def has_group(self, group_id: str) -> bool:
        return group_id in self._of_group

    def __contains__(self, key: OffsetKey) -> bool:
        return bool(self._of_group) and key in self._of_group.get(key.group_id, ())

    def growth(self, key: OffsetKey, producer_id: int, committed: CommittedOffset | None, size_bytes: int) -> int:
        """Return how many bytes more than is free an offset of so many bytes of this producer's transaction takes.

        A copy of what is committed is free, for one producer.
        """
        producers = self._of_group.get(key.group_id, {}).get(key, {})
        if producer_id in producers:
            before = size_of(key, producers[producer_id])
        else:
            before = size_of(key, committed) if committed is not None and not producers else 0
        return max(0, size_bytes - before)

    def keys_of(self, producer_id: int) -> set[OffsetKey]:
        """Return what the producer's open transaction has offsets for."""
        return set(self._of_producer.get(producer_id, ()))

    def of_key(self, key: OffsetKey) -> list[CommittedOffset]:
        """Return the offsets that markers may make visible."""
        producers = self._of_group.get(key.group_id, {}).get(key, {})
        return [committed for committed in producers.values() if committed is not None]

    def clear(self) -> None:
        self._of_group.clear()
        self._of_producer.clear()

    def _drop_if_empty(self, key: OffsetKey) -> None:
        keys = self._of_group[key.group_id]
        if not keys[key]:
            del keys[key]
        if not keys:
            del self._of_group[key.group_id]
