"""What a producer has not written yet of each partition, and the requests that it goes in. Pure."""

from collections.abc import Mapping, Sequence

from broker.common.errors import ApiError, BarnabasError
from broker.common.types import TopicPartition
from broker.mirror.batches import Batch

#: Of a partition; brokers remember five to recognise one that comes again.
IN_FLIGHT = 5
#: Of one request with batches of several partitions.
_REQUEST_BYTES = 8 << 20


class Queue:
    """What of one partition is not acknowledged, in order: number, bytes."""

    def __init__(self, batches: Sequence[Batch]):
        self.left = list(enumerate(batches))
        self.offsets = [-1] * len(batches)
        self.refusal: ApiError | None = None
        #: What hinders it, and since when it has taken nothing.
        self.trouble: BarnabasError | None = None
        self.hindered_since: float | None = None

    def hinder(self, trouble: BarnabasError, now: float) -> None:
        self.trouble = trouble
        self.hindered_since = now if self.hindered_since is None else self.hindered_since

    def refuse(self, error: ApiError) -> int:
        """Return the sequence number the partition goes on with: that of the first batch that was not written."""
        number, batch = self.left[0]
        self.offsets, self.left, self.refusal = self.offsets[:number], [], error
        return int.from_bytes(batch[53:57])

    def settle(self, number: int, offset: int) -> None:
        self.offsets[number], self.hindered_since = offset, None
        self.left = [item for item in self.left if item[0] != number]


def requests(queues: Mapping[TopicPartition, Queue]) -> list[dict[TopicPartition, int]]:
    """Return partition → number of its batch, for each of the requests that are sent before the first answer is
    awaited.
    """
    requests: list[dict[TopicPartition, int]] = []
    for depth in range(IN_FLIGHT):
        request: dict[TopicPartition, int] = {}
        size = 0
        for partition, queue in queues.items():
            if depth >= len(queue.left):
                continue
            number, batch = queue.left[depth]
            if request and size + len(batch) > _REQUEST_BYTES:
                requests.append(request)
                request, size = {}, 0
            request[partition] = number
            size += len(batch)
        if request:
            requests.append(request)
    return requests
