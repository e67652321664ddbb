"""Creating and deleting topics: checks what is asked, writes the znodes, waits until the cluster has followed.

Any broker may create (a client's first Metadata request reaches any of them); the controller notices the new znode and
gives the partitions leaders. The creator answers when its own metadata shows them.
"""

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import LONE_BROKER_MS, TOPIC_WRITES_MAX
from broker.common.logs import logger
from broker.common.topic_names import is_topic_name, why_no_topic_name
from broker.common.troubles import Troubles
from broker.common.types import NO_TOPIC_ID
from broker.config.broker import BrokerConfig
from broker.config.topic import BY_NAME, check_topic_configs
from broker.runtime.idle_keys import IdleKeys
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.internal_topics import (
    INTERNAL_TOPICS,
    for_lone_broker,
    new_internal_topic,
    with_internal_defaults,
)
from broker.runtime.topics.topic_placement import NewTopic, place_added, place_topic
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost, ZooKeeperError, answer_of
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_AUTOMATIC_CREATION_TIMEOUT_MS = 5_000
#: An ensemble that has lost its leader elects another in this time; ZooKeeper's own initLimit is 20 s.
_RECONNECTION_TIMEOUT_S = 15.0
_RETRY_S = 0.1
_CUT_OFF = (ConnectionInterrupted, SessionLost)


#: Told of so many partitions that are about to be made, added or deleted; ApiError if they must not be now.
Charge = Callable[[int], None]


def free(_partitions: int) -> None:
    """Charge nothing, for what brokers do themselves."""


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    topic_id: UUID
    assignment: dict[int, tuple[int, ...]]
    configs: dict[str, str]


class TopicAdmin:
    """Creates and deletes topics for clients, for Metadata's automatic creation and for internal topics."""

    def __init__(self, store: ClusterStore, metadata: MetadataCache, config: BrokerConfig):
        self._store = store
        self._metadata = metadata
        self._config = config
        self._idle_keys = IdleKeys("topic", BY_NAME.get)
        #: On their way into ZooKeeper, which no metadata shows yet, with how many partitions.
        self._being_created: dict[str, int] = {}
        self._writing = asyncio.Semaphore(TOPIC_WRITES_MAX)
        #: Since when, by the loop's clock, this broker has been seen to be the only one; None: it is not.
        self._alone_since_s: float | None = None
        self._troubles = Troubles()

    async def create(
        self, topic: NewTopic, timeout_ms: int, validate_only: bool = False, charge: Charge = free
    ) -> CreatedTopic:
        """Create `topic` and wait until every partition has a leader; raises ApiError saying what to change.

        With `validate_only` nothing is created, and there is no topic id.
        """
        check_topic_name(topic.name)
        if topic.name in self._metadata.topics:
            raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
        self._refuse_collision(topic.name)
        topic = with_internal_defaults(topic, self._config)
        check_topic_configs(topic.configs)
        assignment = place_topic(topic, self._metadata, self._config)
        self._refuse_too_many(topic.name, len(assignment))
        created = CreatedTopic(NO_TOPIC_ID if validate_only else uuid.uuid4(), assignment, topic.configs)
        if not validate_only:
            charge(len(assignment))
            self._idle_keys.tell(topic.configs)
            await self._write(topic, created)
            await self._wait_for_leaders(topic.name, len(assignment), timeout_ms)
        return created

    async def add_partitions(
        self,
        name: str,
        count: int,
        assignments: list[tuple[int, ...]] | None,
        timeout_ms: int,
        *,
        validate_only: bool = False,
        charge: Charge = free,
    ) -> None:
        """Enlarge a topic to `count` partitions and wait until the new ones have leaders; raises ApiError."""
        topic = self._metadata.topics.get(name)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if name in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"ids find their partition of {name} by their number")
        added = place_added(topic, count, assignments, self._metadata)
        self._refuse_too_many(name, len(added))
        if validate_only:
            return
        charge(len(added))
        self._being_created[name] = len(added)
        try:
            async with self._writing:
                await self._store.add_partitions(name, added)
        except ZooKeeperError as error:
            raise answer_of(error) from error
        finally:
            self._being_created.pop(name, None)
        _log.info("partitions added", topic=name, partitions=count)
        await self._wait_for_leaders(name, count, timeout_ms)

    async def create_automatically(self, name: str, charge: Charge = free) -> None:
        """Create a topic with the broker's defaults because a client asked for it; a race is not an error."""
        try:
            topic = self._new_internal_topic(name) if name in INTERNAL_TOPICS else NewTopic(name)
            await self.create(topic, _AUTOMATIC_CREATION_TIMEOUT_MS, charge=charge)
        except ApiError as error:
            if error.code not in (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.REQUEST_TIMED_OUT):
                raise

    async def ensure_internal(self, name: str) -> None:
        """Create an internal topic when it is first needed; COORDINATOR_NOT_AVAILABLE while that cannot be done."""
        if name in self._metadata.topics:
            return
        try:
            await self.create(self._new_internal_topic(name), _AUTOMATIC_CREATION_TIMEOUT_MS)
            self._troubles.is_over(name)
        except ApiError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                if self._troubles.is_news(name, error.message, now_ms=0):
                    _log.warning("internal topic cannot be created", topic=name, reason=error.message)
                reason = f"{name} cannot be created: {error}"
                raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, reason) from error
        if name not in self._metadata.topics:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def _new_internal_topic(self, name: str) -> NewTopic:
        """Return an internal topic as configured; with one replica where the default needs more brokers than this one
        has ever seen.
        """
        topic = new_internal_topic(name, self._config)
        alone = for_lone_broker(topic, self._config) if topic.replication_factor > 1 and self._is_alone() else None
        if alone is None:
            return topic
        _log.warning(
            "internal topic is made with one replica: this broker is the only one; add replicas when there are more",
            topic=name,
            default_replicas=topic.replication_factor,
        )
        return alone

    def _is_alone(self) -> bool:
        """Return whether this broker has been the only one for long enough, and no topic knows of another."""
        own, metadata = self._config.broker_id, self._metadata
        is_alone = metadata.brokers.keys() == {own} and all(
            set(partition.replicas) <= {own}
            for topic in metadata.topics.values()
            for partition in topic.partitions.values()
        )
        now_s = asyncio.get_running_loop().time()
        if not is_alone:
            self._alone_since_s = None
            return False
        if self._alone_since_s is None:
            self._alone_since_s = now_s
        return (now_s - self._alone_since_s) * 1000 >= LONE_BROKER_MS

    async def delete(self, name: str, timeout_ms: int, charge: Charge = free, topic_id: UUID | None = None) -> None:
        """Have the controller delete `name` and wait until it is gone; raises ApiError.

        topic_id: the id that the topic must have, None for any.
        """
        if not self._config.delete_topic_enable:
            raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED)
        if name in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is internal and cannot be deleted")
        known = self._metadata.topics.get(name)
        charge(len(known.partitions) if known else 0)
        try:
            async with self._writing:
                await self._store.request_topic_deletion(name, topic_id)
            _log.info("topic deletion requested", topic=name)
            async with asyncio.timeout(timeout_ms / 1000):
                await self._store.wait_topic_removed(name)
                await self._metadata.wait_until(lambda: name not in self._metadata.topics, timeout_ms)
        except ZooKeeperError as error:
            raise answer_of(error) from error
        except TimeoutError:
            raise ApiError(
                ErrorCode.REQUEST_TIMED_OUT, "the topic is marked for deletion; a broker that holds it is away"
            ) from None

    # -- steps

    def _refuse_collision(self, name: str) -> None:
        """Refuse a name that differs from another in '.' and '_' only: in metrics both would be one."""
        like = name.replace(".", "_")
        same = sorted(
            other
            for other in self._metadata.topics.keys() | self._being_created.keys()
            if len(other) == len(name) and other != name and other.replace(".", "_") == like
        )
        if same:
            reason = f"Topic '{name}' collides with existing topic: {', '.join(same)}"
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)

    def _refuse_too_many(self, name: str, count: int) -> None:
        """Refuse topics beyond max.partitions, of existing ones and those on their way; brokers' own topics are always
        created.
        """
        if name in INTERNAL_TOPICS:
            return
        known = sum(len(topic.partitions) for topic in self._metadata.topics.values())
        most = self._config.max_partitions
        if known + sum(self._being_created.values()) + count > most:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION,
                f"{count} partitions more would be too many: there are {known}, max.partitions is {most}",
            )

    async def _write(self, topic: NewTopic, created: CreatedTopic) -> None:
        self._being_created[topic.name] = len(created.assignment)
        try:
            async with self._writing:
                await self._create(topic, created)
        except (ZooKeeperError, TimeoutError) as error:
            raise answer_of(error) from error
        finally:
            self._being_created.pop(topic.name, None)
        _log.info("topic created", topic=topic.name, partitions=len(created.assignment))

    async def _create(self, topic: NewTopic, created: CreatedTopic) -> None:
        """Create the topic, again if the connection was lost under way; its id tells whether an earlier attempt
        counted.
        """
        arguments = (topic.name, created.assignment, topic.configs, created.topic_id)
        try:
            await self._store.create_topic(*arguments)
            return
        except _CUT_OFF as error:
            _log.info("topic is created again", topic=topic.name, reason=str(error))
        async with asyncio.timeout(_RECONNECTION_TIMEOUT_S):
            while True:
                await self._store.session.wait_connected()
                with contextlib.suppress(*_CUT_OFF):
                    stored = await self._store.topic(topic.name)
                    if stored is None or stored.topic_id != created.topic_id:
                        await self._store.create_topic(*arguments)
                    return
                await asyncio.sleep(_RETRY_S)

    async def _wait_for_leaders(self, name: str, partitions: int, timeout_ms: int) -> None:
        def has_leaders() -> bool:
            return all(self._metadata.leader_of(name, index) >= 0 for index in range(partitions))

        if not await self._metadata.wait_until(has_leaders, timeout_ms):
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, "the topic is created; its partitions have no leaders yet")


def check_topic_name(name: str) -> None:
    """Check a topic's name by Kafka's rule; raises INVALID_TOPIC_EXCEPTION."""
    if not is_topic_name(name):
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why_no_topic_name(name))
