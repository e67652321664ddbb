"""A client that asks what needs no replica to be answered, and expects an answer in time while faults go on."""

import asyncio
from collections.abc import Callable

from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest
from broker.protocol.schema import Message
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.coordinated import CoordinatorLine
from tests.simulation.history import History

#: Far more than the network needs on a bad day of a run.
ANSWERED_WITHIN_MS = 1_500
#: Who has just started waits five seconds for the first word of a controller: clients take an answer without brokers
#: badly.
METADATA_WITHIN_MS = 6_500

#: Whether a broker was up, not paused, not slow, and its connections were whole, all the time since then.
IsUndisturbed = Callable[[int, int], bool]


class Prober:
    """One question after the other, about a group each."""

    def __init__(
        self,
        name: str,
        client: ClusterClient,
        history: History,
        groups: list[str],
        now_us: Callable[[], int],
        is_undisturbed: IsUndisturbed,
    ):
        self._name = name
        self._client = client
        self._history = history
        self._now_us = now_us
        self._is_undisturbed = is_undisturbed
        self.lines = {group: CoordinatorLine(client, CoordinatorType.GROUP, group) for group in groups}
        self.is_stopping = False

    async def run(self) -> None:
        random = self._client.random
        while not self.is_stopping:
            await asyncio.sleep(random.uniform(0.1, 0.4))
            group, line = random.choice(sorted(self.lines.items()))
            if line.broker_id < 0 or random.random() < 0.1:
                line.forget()
            await self.probe(line, *random.choice(_questions(group)))

    async def probe(
        self, line: CoordinatorLine, message: Message, version: int, within_ms: int = ANSWERED_WITHIN_MS
    ) -> None:
        try:
            await line.find()
        except NoAnswerError:
            return
        broker_id, began_us = line.broker_id, self._now_us()
        try:
            response = await self._client.ask(broker_id, message, version, within_ms)
        except NoAnswerError:
            line.forget()
            waited_ms = (self._now_us() - began_us) // 1000
            if waited_ms >= within_ms and self._is_undisturbed(broker_id, began_us):
                self._history.violate(
                    f"broker-{broker_id} does not answer {message.api.name} within {within_ms} ms: {message}"
                )
            return
        line.forget_if_elsewhere(getattr(response, "error_code", 0))


def _questions(group: str) -> list[tuple[Message, int, int]]:
    stranger = HeartbeatRequest(group_id=group, generation_id=0, member_id="nobody")
    return [
        (MetadataRequest(topics=None, allow_auto_topic_creation=False), 12, METADATA_WITHIN_MS),
        (DescribeGroupsRequest(groups=[group]), 5, ANSWERED_WITHIN_MS),
        (OffsetFetchRequest(group_id=group, topics=None), 7, ANSWERED_WITHIN_MS),
        (stranger, 3, ANSWERED_WITHIN_MS),
    ]
