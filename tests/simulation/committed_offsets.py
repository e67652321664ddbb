"""What groups have committed: an offset that was acknowledged is what is fetched afterwards, or a later one.

Every commit carries a metadata of its own, so what is fetched tells which commit it is from: one whose answer nobody
got may come late and count.
"""

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.offset_fetch import OffsetFetchRequest
from tests.simulation.client import NoAnswerError
from tests.simulation.coordinated import CoordinatorLine
from tests.simulation.history import History

_FETCH_VERSION = 7
_Place = tuple[str, TopicPartition]


class CommittedOffsets:
    """Of all groups. Members write only what is larger than what they fetched."""

    def __init__(self, history: History):
        self._history = history
        self._acknowledged: dict[_Place, tuple[int, str]] = {}
        self._unanswered: set[str] = set()
        #: How many were acknowledged.
        self.count = 0

    def attempt(self, metadata: str) -> None:
        self._unanswered.add(metadata)

    def refused(self, metadata: str) -> None:
        self._unanswered.discard(metadata)

    def acknowledge(self, group: str, where: TopicPartition, offset: int, metadata: str) -> None:
        self._unanswered.discard(metadata)
        self.count += 1
        if offset > self._acknowledged.get((group, where), (-1, ""))[0]:
            self._acknowledged[group, where] = offset, metadata

    def acknowledged(self, group: str) -> dict[TopicPartition, tuple[int, str]]:
        return {where: known for (of, where), known in self._acknowledged.items() if of == group}

    def fetched(
        self, group: str, before: dict[TopicPartition, tuple[int, str]], expected: dict[TopicPartition, tuple[int, str]]
    ) -> None:
        """`before`: what was acknowledged when the fetch was sent."""
        for where, (offset, metadata) in before.items():
            now, by = expected.get(where, (-1, ""))
            if now < offset and by not in self._unanswered:
                self._history.violate(
                    f"{group} has committed {offset} ({metadata}) for {where}, and is told {now} ({by}) now"
                )


async def fetch_offsets(
    line: CoordinatorLine, offsets: CommittedOffsets, group: str, topic: str, *, require_stable: bool
) -> dict[TopicPartition, int] | None:
    """What `group` has committed for `topic`; None if nobody says."""
    before = offsets.acknowledged(group)
    request = OffsetFetchRequest(group_id=group, topics=None, require_stable=require_stable)
    try:
        response = await line.ask(request, _FETCH_VERSION)
    except NoAnswerError:
        return None
    line.forget_if_elsewhere(response.error_code)
    partitions = [(topic.name, partition) for topic in response.topics for partition in topic.partitions]
    if response.error_code or any(partition.error_code != ErrorCode.NONE for _, partition in partitions):
        return None
    results = {
        TopicPartition(name, partition.partition_index): (partition.committed_offset, partition.metadata or "")
        for name, partition in partitions
    }
    offsets.fetched(group, before, results)
    return {where: offset for where, (offset, _) in results.items() if where.topic == topic}
