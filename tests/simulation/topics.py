"""A client that makes topics at the start, and later makes, deletes and makes anew others of the same few names."""

import asyncio
from dataclasses import dataclass, field

from broker.common.errors import ErrorCode
from broker.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from broker.protocol.messages.delete_topics import DeleteTopicsRequest
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History

_CREATE_VERSION = 7
_DELETE_VERSION = 5
_TIMEOUT_MS = 2_500
_TRIES = 3


@dataclass(frozen=True)
class LastingTopic:
    """Stays for the whole run."""

    name: str
    partitions: int
    min_insync: int
    configs: dict[str, str] = field(default_factory=dict)


#: Written to in transactions only.
LEDGER = "ledger"
#: What is acknowledged there has been fsynced.
FLUSHED = "flushed"
#: Records are deleted from its beginning by a client.
TRIMMED = "trimmed"
LASTING = (
    LastingTopic("orders", 3, 2),
    LastingTopic("events", 2, 1, {"retention.bytes": "4000", "segment.bytes": "1000"}),
    LastingTopic(LEDGER, 3, 2),
    LastingTopic(TRIMMED, 1, 2),
    LastingTopic(FLUSHED, 1, 2, {"flush.messages": "1", "segment.bytes": "2000"}),
    LastingTopic(
        "states", 1, 2, {"cleanup.policy": "compact", "segment.bytes": "1500", "min.cleanable.dirty.ratio": "0.2"}
    ),
)
BY_NAME = {topic.name: topic for topic in LASTING}
COMPACTED = frozenset({"states", *INTERNAL_TOPICS})
#: Their logs may begin later and later.
SHORTENED = frozenset({"events", TRIMMED})
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
        for topic in LASTING:
            while not await self._create(topic):
                await asyncio.sleep(0.2)
        self.has_lasting = True
        while not self.is_stopping:
            await asyncio.sleep(self._client.random.uniform(0.2, 2.5))
            if self.wishes:
                await self._make_anew(self.wishes.pop())
                continue
            topic = self._client.random.choice(PASSING)
            if self._client.random.random() < 0.5:
                await self._create(LastingTopic(topic, self._client.random.randint(1, 3), 1))
            else:
                await self._delete(topic)

    async def _make_anew(self, topic: str) -> None:
        for _ in range(_TRIES):
            await self._delete(topic)
            if await self._create(LastingTopic(topic, 3, 1)):
                return

    async def _create(self, topic: LastingTopic) -> bool:
        """Whether it is there."""
        configs = {"min.insync.replicas": str(topic.min_insync), **topic.configs}
        wanted = CreatableTopic(
            name=topic.name,
            num_partitions=topic.partitions,
            replication_factor=REPLICATION_FACTOR,
            configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS)
        try:
            response = await self._client.ask_controller(request, _CREATE_VERSION)
        except NoAnswerError:
            return False
        code = ErrorCode(response.topics[0].error_code)
        self._history.add(self._name, "creates", topic=topic.name, partitions=topic.partitions, outcome=code.name)
        return code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)

    async def _delete(self, topic: str) -> None:
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=_TIMEOUT_MS)
        try:
            response = await self._client.ask_controller(request, _DELETE_VERSION)
        except NoAnswerError:
            return
        code = ErrorCode(response.responses[0].error_code)
        self._history.add(self._name, "deletes", topic=topic, outcome=code.name)
