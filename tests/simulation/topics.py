"""A client that makes topics at the start, and later makes, deletes and makes anew others of the same few names."""

import asyncio

from broker.common.errors import ErrorCode
from broker.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from broker.protocol.messages.delete_topics import DeleteTopicsRequest
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History

_CREATE_VERSION = 7
_DELETE_VERSION = 5
_TIMEOUT_MS = 2_500
_TRIES = 3

#: Stay for the whole run: name, partitions, min.insync.replicas.
LASTING = (("orders", 3, 2), ("events", 2, 1))
PASSING = ("scratch", "draft")
REPLICATION_FACTOR = 3


class TopicAdministrator:
    def __init__(self, name: str, client: ClusterClient, history: History):
        self._name = name
        self._client = client
        self._history = history
        self.has_lasting = False
        self.is_stopping = False
        #: Topics to be deleted next, and made anew.
        self.wishes: list[str] = []

    async def run(self) -> None:
        for topic, partitions, min_insync in LASTING:
            while not await self._create(topic, partitions, min_insync):
                await asyncio.sleep(0.2)
        self.has_lasting = True
        while not self.is_stopping:
            await asyncio.sleep(self._client.random.uniform(0.2, 2.5))
            if self.wishes:
                await self._make_anew(self.wishes.pop())
                continue
            topic = self._client.random.choice(PASSING)
            if self._client.random.random() < 0.5:
                await self._create(topic, self._client.random.randint(1, 3), 1)
            else:
                await self._delete(topic)

    async def _make_anew(self, topic: str) -> None:
        for _ in range(_TRIES):
            await self._delete(topic)
            if await self._create(topic, 3, 1):
                return

    async def _create(self, topic: str, partitions: int, min_insync: int) -> bool:
        """Whether it is there."""
        wanted = CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=REPLICATION_FACTOR,
            configs=[CreatableTopicConfig(name="min.insync.replicas", value=str(min_insync))],
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS)
        try:
            response = await self._client.ask_controller(request, _CREATE_VERSION)
        except NoAnswerError:
            return False
        code = ErrorCode(response.topics[0].error_code)
        self._history.add(self._name, "creates", topic=topic, partitions=partitions, outcome=code.name)
        return code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)

    async def _delete(self, topic: str) -> None:
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=_TIMEOUT_MS)
        try:
            response = await self._client.ask_controller(request, _DELETE_VERSION)
        except NoAnswerError:
            return
        code = ErrorCode(response.responses[0].error_code)
        self._history.add(self._name, "deletes", topic=topic, outcome=code.name)
