"""Which partitions were deleted lately: what was committed for them must not be their successors'.

A topic may be made anew under its name at once, and a consumer that goes on from an old offset leaves out records. The
tombstones of such offsets may be refused, a group may be busy, and a coordinator may still be loading: so deletions are
remembered for a while. All coordinators of a broker share what it has heard.

An offset for the new topic must not go because of the old one's deletion either. The topic's id decides, which the
record of an offset names; clocks do not: coordinators move between brokers whose clocks differ. An offset without an id
(of Kafka, of an earlier version, of a topic without one) that this coordinator stored is before the deletion or after
it by their order here. Where the order is not known, because the coordinator was loaded after the deletion, the
offset's timestamp decides with a margin in which the offset stays. The same holds where a deleted topic is there again
with its id: its znode had another id for a while, or was removed while no controller saw it. One that is removed
before a controller's eyes is not deleted here, until another topic has its name (`MetadataCache`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice, takewhile
from typing import NamedTuple
from uuid import UUID

from broker.common.types import NO_TOPIC_ID, TopicIdPartition, TopicPartition
from broker.coordinator.group.records import CommittedOffset, OffsetKey

#: Longer than a coordinator takes to load, or to have enough replicas in sync again after an outage.
_REMEMBERED_MS = 3_600_000
#: By how much the clocks of two brokers may differ, where only timestamps tell whether an offset is the new topic's.
_CLOCK_MARGIN_MS = 600_000
#: About 60 MB, whoever makes and deletes topics for an hour; of more, the oldest deletions are forgotten first.
DELETED_PARTITIONS_MAX = 200_000

#: Before those are dropped that are of no offset any more.
_NOTES_PER_PARTITION = 8


class _Deletion(NamedTuple):
    """The last deletion of a partition that the broker has heard of."""

    since_ms: int
    number: int  #: counted by the broker: later deletions have higher ones
    topic_id: UUID  #: NO_TOPIC_ID if not known


class DeletedPartitions:
    """Deleted partitions of one broker, by the wall clock in milliseconds."""

    def __init__(self) -> None:
        #: The oldest deletion first.
        self._last: dict[TopicPartition, _Deletion] = {}
        #: How many of them each topic has.
        self._topics: dict[str, int] = {}
        #: When each topic was deleted, by id, the oldest deletion first.
        self._topic_ids: dict[UUID, int] = {}
        #: No deletion is later.
        self._latest_ms = 0
        #: Whether none is earlier than one before it: the clock was not set back.
        self._is_sorted = True
        #: The number of the last deletion.
        self.number = 0

    def __bool__(self) -> bool:
        return bool(self._last)

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._last

    def note(self, partitions: Iterable[TopicIdPartition], wall_ms: int) -> None:
        """Note that `partitions` are deleted now."""
        self.number += 1
        self._is_sorted = self._is_sorted and wall_ms >= self._latest_ms
        self._latest_ms = max(self._latest_ms, wall_ms)
        for partition, topic_id in partitions:
            if partition in self._last:
                self._forget(partition)
            self._last[partition] = _Deletion(wall_ms, self.number, topic_id)
            self._topics[partition.topic] = self._topics.get(partition.topic, 0) + 1
            if topic_id != NO_TOPIC_ID:
                self._topic_ids.pop(topic_id, None)
                self._topic_ids[topic_id] = wall_ms
        for oldest in list(islice(self._last, max(0, len(self._last) - DELETED_PARTITIONS_MAX))):
            self._forget(oldest)
        for topic_id in list(islice(self._topic_ids, max(0, len(self._topic_ids) - DELETED_PARTITIONS_MAX))):
            del self._topic_ids[topic_id]

    def forget_others_than_of_the_last_hour(self, wall_ms: int) -> None:
        """Forget what is too old, and what is of the future: the clock was set back, and the hour would not end.

        Looks at little more than goes, unless the clock was set back.
        """
        if not self._is_sorted or self._latest_ms > wall_ms:
            self._sort_up_to(wall_ms)
        since_ms = wall_ms - _REMEMBERED_MS
        for partition in list(takewhile(lambda oldest: self._last[oldest].since_ms < since_ms, self._last)):
            self._forget(partition)
        for topic_id in list(takewhile(lambda oldest: self._topic_ids[oldest] < since_ms, self._topic_ids)):
            del self._topic_ids[topic_id]

    def _sort_up_to(self, wall_ms: int) -> None:
        for partition in [partition for partition, last in self._last.items() if last.since_ms > wall_ms]:
            self._forget(partition)
        topic_ids = [(topic_id, since_ms) for topic_id, since_ms in self._topic_ids.items() if since_ms <= wall_ms]
        self._topic_ids = dict(sorted(topic_ids, key=lambda deletion: deletion[1]))
        self._last = dict(sorted(self._last.items(), key=lambda deletion: deletion[1].since_ms))
        self._latest_ms, self._is_sorted = wall_ms, True

    def _forget(self, partition: TopicPartition) -> None:
        del self._last[partition]
        self._topics[partition.topic] -= 1
        if not self._topics[partition.topic]:
            del self._topics[partition.topic]

    def topics(self) -> Mapping[str, int]:
        """Return how many deleted partitions each topic has that has some; a live view."""
        return self._topics

    def last(self, partition: TopicPartition) -> _Deletion | None:
        """Return the partition's last deletion, None if there was none lately."""
        return self._last.get(partition)

    def was_deleted(self, topic_id: UUID) -> bool:
        return topic_id in self._topic_ids


class OutdatedOffsets:
    """Tells which offsets of one coordinator were committed for topics that are deleted."""

    def __init__(self, deleted: DeletedPartitions | None, topic_id_of: Callable[[str], UUID]):
        """deleted: what the broker has heard of, None for a coordinator without one. topic_id_of: by a topic's name, as
        that broker knows it now; NO_TOPIC_ID if it does not.
        """
        self.deleted = DeletedPartitions() if deleted is None else deleted
        self.topic_id_of = topic_id_of
        #: The broker's last deletion when the coordinator was loaded.
        self._loaded_after = 0
        #: Offsets that were stored since, pending ones too, and the broker's last deletion then. Of deleted partitions
        #: only. Each by itself: what a transaction may commit says nothing of what is committed.
        self._stored_after: dict[OffsetKey, list[tuple[CommittedOffset, int]]] = {}

    def begin(self) -> None:
        """Note that all offsets are loaded: what is stored from now on is stored in the order in which it happens."""
        self._loaded_after = self.deleted.number
        self._stored_after.clear()

    def note_stored(
        self, key: OffsetKey, committed: CommittedOffset, stored: Callable[[], Collection[CommittedOffset]]
    ) -> None:
        """Note that an offset was committed now, or will be if its transaction is. stored: all of the partition."""
        if key.partition not in self.deleted:
            return
        notes = self._stored_after.setdefault(key, [])
        if len(notes) >= _NOTES_PER_PARTITION:
            present = stored()
            notes[:] = [note for note in notes if any(note[0] is other for other in present)]
        notes.append((committed, self.deleted.number))

    def forget_old(self, wall_ms: int) -> None:
        """Forget deletions that are no longer remembered."""
        self.deleted.forget_others_than_of_the_last_hour(wall_ms)
        if any(key.partition not in self.deleted for key in self._stored_after):
            kept = {key: notes for key, notes in self._stored_after.items() if key.partition in self.deleted}
            self._stored_after = kept

    def without(
        self, group_id: str, committed: dict[str, dict[int, CommittedOffset]]
    ) -> dict[str, dict[int, CommittedOffset]]:
        """Return a group's offsets, by topic and partition, but for the outdated ones."""
        deleted = self.deleted.topics()
        topics = [topic for topic in min(committed, deleted, key=len) if topic in committed and topic in deleted]
        if not topics:
            return committed
        kept = dict(committed)
        for topic in topics:
            partitions = {
                index: offset
                for index, offset in committed[topic].items()
                if not self.is_outdated(OffsetKey(group_id, TopicPartition(topic, index)), offset)
            }
            if partitions:
                kept[topic] = partitions
            else:
                del kept[topic]
        return kept

    def is_outdated(self, key: OffsetKey, committed: CommittedOffset) -> bool:
        """Return whether the offset was committed for a topic that is deleted, be there one of its name or not."""
        deletion = self.deleted.last(key.partition)
        if deletion is None:
            return False
        if committed.topic_id != NO_TOPIC_ID:
            if self.deleted.was_deleted(committed.topic_id):
                if committed.topic_id != self.topic_id_of(key.partition.topic):
                    return True
            elif deletion.topic_id != NO_TOPIC_ID:
                return False
        for noted, number in self._stored_after.get(key, ()):
            if noted is committed and number >= deletion.number:
                return False
        if deletion.number > self._loaded_after:
            return True
        return committed.commit_timestamp_ms + _CLOCK_MARGIN_MS <= deletion.since_ms
