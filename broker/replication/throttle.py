"""How fast replicas that were declared throttled may be copied (KIP-73), so that a move leaves clients their share.

Each broker has two: one for what others copy from it, one for what it copies from others. Throttled are the replicas
that topics name; of these, one that is in sync copies freely, because clients with acks=all wait for it, but what it
copies counts. Bytes are saved up for a second; a fetch may take more than is there, since a batch is never cut, and the
debt is paid before anything else moves.
"""

from collections.abc import Iterable

from broker.common.types import TopicPartition
from broker.config.topic import ALL_REPLICAS, ThrottledReplica

UNLIMITED = 2**63 - 1
#: How long unused bytes are saved up.
_SAVED_MS = 1_000
#: How often a throttled replica looks at least whether it may go on: the rate may have been changed.
_LOOK_MS = 1_000


class ReplicationThrottle:
    """One direction of broker `broker_id`. Rates are bytes per second; `now_ms` is monotonic."""

    def __init__(self, broker_id: int, bytes_per_second: int = UNLIMITED):
        self._broker_id = broker_id
        self._rate = bytes_per_second
        #: In bytes times milliseconds per second, so that slow rates lose nothing to rounding. Negative is debt.
        self._saved = bytes_per_second * _SAVED_MS
        self._saved_at_ms: int | None = None
        #: By topic: the partitions throttled on this broker, None for all of them.
        self._throttled: dict[str, frozenset[int] | None] = {}

    # -- what is configured

    def set_rate(self, bytes_per_second: int, now_ms: int) -> None:
        """Apply the rate from now on; a debt stays, unused credit of a higher rate does not."""
        self._save(now_ms)
        self._rate = bytes_per_second
        self._saved = min(self._saved, bytes_per_second * _SAVED_MS)

    def set_topic(self, topic: str, replicas: Iterable[ThrottledReplica | str]) -> None:
        """Set the topic's `….replication.throttled.replicas`; an empty value removes it."""
        named = tuple(replicas)
        self._throttled.pop(topic, None)
        if named == ALL_REPLICAS:
            self._throttled[topic] = None
            return
        replicas_named = (replica for replica in named if isinstance(replica, ThrottledReplica))
        if here := frozenset(replica.partition for replica in replicas_named if replica.broker_id == self._broker_id):
            self._throttled[topic] = here

    def is_throttled(self, partition: TopicPartition) -> bool:
        here = self._throttled.get(partition.topic, frozenset())
        return here is None or partition.partition in here

    # -- what may move

    def allowed(self, partition: TopicPartition, bytes_wanted: int, now_ms: int, *, is_in_sync: bool) -> int:
        """Return how many bytes may be copied now; 0 means to skip the partition in this fetch."""
        if self._rate == UNLIMITED or is_in_sync or not self.is_throttled(partition):
            return bytes_wanted
        self._save(now_ms)
        return max(0, min(bytes_wanted, self._saved // 1_000))

    def moved(self, partition: TopicPartition, bytes_moved: int, now_ms: int) -> None:
        """Record copied bytes, whether or not they were allowed."""
        if self._rate != UNLIMITED and self.is_throttled(partition):
            self._save(now_ms)
            self._saved -= bytes_moved * 1_000

    def resumes_in_ms(self, now_ms: int) -> int | None:
        """Return how long until a throttled partition may copy again; None at the rate 0: never."""
        if self._rate == UNLIMITED:
            return 0
        self._save(now_ms)
        if self._saved >= 1_000:
            return 0
        return -((self._saved - 1_000) // self._rate) if self._rate else None

    def pause_ms(self, now_ms: int) -> int:
        """Return how long a throttled partition without saved bytes pauses before it looks again; a second at most."""
        resumes_in_ms = self.resumes_in_ms(now_ms)
        return _LOOK_MS if resumes_in_ms is None else min(max(1, resumes_in_ms), _LOOK_MS)

    def _save(self, now_ms: int) -> None:
        before_ms = now_ms if self._saved_at_ms is None else self._saved_at_ms
        self._saved = min(self._saved + (now_ms - before_ms) * self._rate, self._rate * _SAVED_MS)
        self._saved_at_ms = now_ms
