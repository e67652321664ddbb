"""How much one request to another broker holds of what waits for it: far less than a broker takes.

Who reads a request that is too long closes the connection, and whatever was in it would go into the same request again.
"""

from collections.abc import Iterable

from broker.common.limits import PEER_REQUEST_BYTES_MAX
from broker.common.types import TopicPartition
from broker.coordinator.transaction.config import RECORD_BYTES_MAX

#: Bytes of a request that names partitions of more than one transaction.
SHARED_REQUEST_BYTES_MAX = 1024 * 1024

#: Bytes of lengths, ids and epochs beside names: at most so many for a transaction, a topic and a partition.
_TRANSACTION_BYTES, _TOPIC_BYTES, _PARTITION_BYTES = 32, 8, 4

assert SHARED_REQUEST_BYTES_MAX <= PEER_REQUEST_BYTES_MAX / 8, "what is only estimated stays well below"
assert RECORD_BYTES_MAX <= PEER_REQUEST_BYTES_MAX / 8, "whatever fits into a transaction's record can be sent"


def size_of(partitions: Iterable[TopicPartition], transactional_id: str = "") -> int:
    """Return the most bytes that one transaction takes in a request."""
    topics: set[str] = set()
    size = _TRANSACTION_BYTES + len(transactional_id.encode())
    for topic, _ in partitions:
        topics.add(topic)
        size += _PARTITION_BYTES
    return size + sum(_TOPIC_BYTES + len(topic.encode()) for topic in topics)


def how_many_fit(sizes: Iterable[int]) -> int:
    """Return how many of the first fit into one request; at least one, however large it is."""
    count = total = 0
    for size in sizes:
        total += size
        if count and total > SHARED_REQUEST_BYTES_MAX:
            break
        count += 1
    return count
