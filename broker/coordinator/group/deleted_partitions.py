"""Which partitions were deleted lately, and when: what was committed for them before must not be their successors'.

A topic may be made anew under its name at once, and a consumer that goes on from an old offset leaves out records. The
tombstones of such offsets may be refused, a group may be busy, and a coordinator may still be loading: so a deletion is
looked for in each round until a while is over. All coordinators of a broker share what it has heard.
"""

from collections.abc import Iterable
from itertools import islice

from broker.common.types import TopicPartition

#: Longer than a coordinator takes to load, or to have enough replicas in sync again after an outage.
_REMEMBERED_MS = 3_600_000
#: About 40 MB, whoever makes and deletes topics for an hour; of more, the oldest deletions are forgotten first.
DELETED_PARTITIONS_MAX = 200_000


class DeletedPartitions:
    """Of one broker, by the wall clock in milliseconds."""

    def __init__(self) -> None:
        #: When each was deleted last, the oldest deletion first.
        self._since_ms: dict[TopicPartition, int] = {}

    def __bool__(self) -> bool:
        return bool(self._since_ms)

    def note(self, partitions: Iterable[TopicPartition], wall_ms: int) -> None:
        """Note that `partitions` are deleted now."""
        for partition in partitions:
            self._since_ms.pop(partition, None)
            self._since_ms[partition] = wall_ms
        for oldest in list(islice(self._since_ms, max(0, len(self._since_ms) - DELETED_PARTITIONS_MAX))):
            del self._since_ms[oldest]

    def forget_others_than_of_the_last_hour(self, wall_ms: int) -> None:
        """Forget what is too old, and what is of the future: the clock was set back, and by what is committed from now
        on nothing would tell whether that was before a deletion.
        """
        is_kept = range(wall_ms - _REMEMBERED_MS, wall_ms + 1).__contains__
        if self._since_ms and not all(map(is_kept, self._since_ms.values())):
            self._since_ms = {each: since_ms for each, since_ms in self._since_ms.items() if is_kept(since_ms)}

    def since_ms(self, partition: TopicPartition) -> int | None:
        """Return when the partition was deleted, None if it was not lately."""
        return self._since_ms.get(partition)
