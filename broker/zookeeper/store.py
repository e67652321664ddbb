"""What every broker reads and writes in ZooKeeper, as typed operations.

The controller's own writes, which carry its fence, are in `controller_store.py`.
"""

import asyncio
import base64
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from uuid import UUID, uuid4

from broker.common.clock import Clock
from broker.common.cluster import BrokerRegistration, LeaderAndIsr, LiveBroker, TopicAssignment
from broker.common.errors import ApiError, ErrorCode, NotNowError
from broker.common.logs import logger
from broker.common.topic_names import is_topic_name
from broker.common.types import TopicPartition
from broker.zookeeper import notification_znodes, notifications, znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.cluster_secret import ensure_secret
from broker.zookeeper.errors import MalformedZnode, NodeExists, NodeMissing, OperationRefused, WrongVersion
from broker.zookeeper.quota import Amount, amount_of_partitions, require_fitting, require_room
from broker.zookeeper.session import Operation, SetData, Watcher, ZnodeCreation, ZooKeeperSession

log = logger(__name__)

#: Beyond the session timeout, what ZooKeeper may take to notice that a session is over.
_EXPIRY_GRACE_MS = 3_000
#: How often a write is tried whose znode came or went between looking and writing.
_CONFLICTS_MAX = 10
PRODUCER_IDS_PER_BLOCK = 1_000
_BROKER_ID = re.compile(r"0|[1-9][0-9]{0,8}")


class ClusterStore:
    """The cluster as ZooKeeper holds it. Raises the errors of `errors.py` besides those named."""

    def __init__(self, session: ZooKeeperSession, clock: Clock):
        self.session = session
        self._clock = clock
        #: By parent: the names that were told of in the log.
        self._passed_over: dict[str, set[str]] = {}
        #: Ids of the brokers of another Kafka that were registered here at the last look at all of them.
        self.foreign_brokers: frozenset[int] = frozenset()

    # -- start of a broker

    async def ensure_persistent_paths(self) -> None:
        await asyncio.gather(*(self.session.ensure(path) for path in znodes.PERSISTENT_PATHS))

    async def cluster_id(self) -> str:
        """Return the cluster's id; the first broker of a cluster makes it."""
        fresh = base64.urlsafe_b64encode(uuid4().bytes).rstrip(b"=").decode()
        await self.session.ensure("/cluster")
        with contextlib.suppress(NodeExists):
            await self.session.create(znodes.CLUSTER_ID, znodes.encode_cluster_id(fresh))
        return znodes.decode_cluster_id((await self.session.get(znodes.CLUSTER_ID)).data)

    async def cluster_secret(self, levels: Mapping[str, int] | None = None) -> bytes:
        """Return the secret that members authenticate with, made with the levels that a new cluster finalizes."""
        return await ensure_secret(self.session, levels)

    async def register_broker(self, registration: BrokerRegistration) -> int:
        """Put the broker's ephemeral znode in place and return the broker epoch (its czxid, KIP-380).

        A znode of an earlier life of this broker goes when that session expires, so this may take a session timeout.
        If it is still there then, another broker of the same id is alive: StartupError.
        """
        path = znodes.broker_path(registration.broker_id)
        async with self._patience(registration.broker_id):
            while True:
                epoch = await self._try_register(path, registration)
                if epoch is not None:
                    return epoch

    async def update_registration(self, registration: BrokerRegistration) -> None:
        """Say something else of a broker that this session has registered; without its znode nothing happens."""
        path = znodes.broker_path(registration.broker_id)
        znode = await self.session.exists(path)
        if znode is not None and znode.ephemeral_owner == self.session.session_id:
            with contextlib.suppress(NodeMissing):
                await self.session.set(path, znodes.encode_broker(registration, self._clock.now_ms()))

    async def wait_unregistered(self, broker_id: int) -> None:
        """Returns when no earlier life of this broker is registered any more; raises as `register_broker`."""
        async with self._patience(broker_id):
            while True:
                gone = asyncio.Event()
                if await self.session.exists(znodes.broker_path(broker_id), gone.set) is None:
                    return
                await gone.wait()

    @contextlib.asynccontextmanager
    async def _patience(self, broker_id: int) -> AsyncIterator[None]:
        """Retry for as long as the session of an earlier life may last."""
        try:
            async with asyncio.timeout((self.session.session_timeout_ms + _EXPIRY_GRACE_MS) / 1000):
                yield
        except TimeoutError:
            raise NotNowError(
                f"broker.id={broker_id} is taken by a broker that is alive; stop it or give this one another id."
            ) from None

    async def registered_epoch(self, broker_id: int) -> int | None:
        """Return the broker epoch under which the broker is registered now, None if it is not."""
        znode = await self.session.exists(znodes.broker_path(broker_id))
        return znode.czxid if znode else None

    async def own_epoch(self, broker_id: int) -> int:
        """Return the broker epoch under which this session has registered the broker, -1 if it has not."""
        path = znodes.broker_path(broker_id)
        await self.session.sync(path)
        znode = await self.session.exists(path)
        return znode.czxid if znode and znode.ephemeral_owner == self.session.session_id else -1

    async def controller_epoch(self) -> int:
        """Return the newest controller's epoch, 0 before the first."""
        await self.session.sync(znodes.CONTROLLER_EPOCH)
        try:
            return znodes.decode_controller_epoch((await self.session.get(znodes.CONTROLLER_EPOCH)).data)
        except NodeMissing:
            return 0

    async def _try_register(self, path: str, registration: BrokerRegistration) -> int | None:
        gone = asyncio.Event()
        znode = await self.session.exists(path, gone.set)
        if znode is None:
            with contextlib.suppress(NodeExists):
                data = znodes.encode_broker(registration, self._clock.now_ms())
                await self.session.create(path, data, ephemeral=True)
            return None
        if znode.ephemeral_owner == self.session.session_id:
            return znode.czxid
        log.info("waiting for the earlier registration to expire", broker_id=registration.broker_id)
        await gone.wait()
        return None

    async def unregister_broker(self, broker_id: int) -> None:
        """Leave at once instead of when the session ends. Nothing happens to another session's registration."""
        path = znodes.broker_path(broker_id)
        znode = await self.session.exists(path)
        if znode is not None and znode.ephemeral_owner == self.session.session_id:
            with contextlib.suppress(NodeMissing):
                await self.session.delete(path)

    # -- reading

    async def brokers(self, watch: Watcher | None = None) -> dict[int, LiveBroker]:
        """Return every registered broker of this cluster. One of another Kafka is left out and logged, and so is one
        whose znode cannot be read.
        """
        names = await self.session.children(znodes.BROKER_IDS, watch)
        registrations = await ask_each(self._registered, (int(name) for name in names if _BROKER_ID.fullmatch(name)))
        registered = {broker.broker_id: broker for broker in registrations if broker is not None}
        self._note_foreign({item for item, broker in registered.items() if broker.registration.is_foreign})
        return {item: broker for item, broker in registered.items() if item not in self.foreign_brokers}

    def _note_foreign(self, broker_ids: set[int]) -> None:
        for broker_id in sorted(broker_ids - self.foreign_brokers):
            log.error(
                "broker of another Kafka ignored: it is given nothing, and answers for nothing here",
                broker=broker_id,
                remedy="stop it and give its cluster a chroot of its own",
            )
        self.foreign_brokers = frozenset(broker_ids)

    async def broker(self, broker_id: int, watch: Watcher | None = None) -> LiveBroker | None:
        """Return a registered broker; None if it is missing, another Kafka's, or unreadable (logged). The watch fires
        as in `topic`.
        """
        registered = await self._registered(broker_id, watch)
        return None if registered is not None and registered.registration.is_foreign else registered

    async def _registered(self, broker_id: int, watch: Watcher | None = None) -> LiveBroker | None:
        """As `broker`, and another Kafka's too."""
        if watch is not None and await self.session.exists(znodes.broker_path(broker_id), watch) is None:
            return None
        try:
            znode = await self.session.get(znodes.broker_path(broker_id))
            return znodes.decode_broker(broker_id, znode.data, znode.czxid)
        except NodeMissing:
            return None
        except MalformedZnode as error:
            log.warning("broker ignored", error=str(error))
            return None

    async def topic_names(self, watch: Watcher | None = None) -> list[str]:
        """Return the valid topic names; other znodes are skipped and logged once."""
        return self._legal(znodes.TOPICS, await self.session.children(znodes.TOPICS, watch))

    def _legal(self, parent: str, names: list[str]) -> list[str]:
        illegal = {name for name in names if not is_topic_name(name)}
        for name in sorted(illegal - self._passed_over.get(parent, set())):
            log.warning("znode ignored: this is no name of a topic", path=f"{parent}/{name}"[:300])
        self._passed_over[parent] = illegal
        return [name for name in names if is_topic_name(name)]

    async def topic(self, name: str, watch: Watcher | None = None) -> TopicAssignment | None:
        """Return the topic's id and assignment, None if it is missing or unreadable (logged).

        The watch fires when the znode changes, goes or comes.
        """
        path = znodes.topic_path(name)
        if watch is not None and await self.session.exists(path, watch) is None:
            return None
        try:
            return znodes.decode_topic(name, (await self.session.get(path)).data)
        except NodeMissing:
            return None
        except MalformedZnode as error:
            log.warning("topic ignored", error=str(error))
            return None

    async def has_unreadable_topic(self, name: str) -> bool:
        """Return whether the topic has a znode that cannot be read, so that nothing is known of its partitions."""
        try:
            znodes.decode_topic(name, (await self.session.get(znodes.topic_path(name))).data)
        except MalformedZnode:
            return True
        except NodeMissing:
            return False
        return False

    async def topics(self, names: list[str]) -> list[TopicAssignment]:
        topics = await ask_each(self.topic, names)
        return [assignment for assignment in topics if assignment is not None]

    async def states(self, partitions: list[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        """Return the state of each partition that has one; one that cannot be read is left out and logged."""
        states = await ask_each(self.state, partitions)
        return {partition: state for partition, state in zip(partitions, states, strict=True) if state is not None}

    async def state(self, partition: TopicPartition) -> LeaderAndIsr | None:
        try:
            znode = await self.session.get(znodes.state_path(partition))
            return znodes.decode_state(partition, znode.data, znode.version)
        except NodeMissing:
            return None
        except MalformedZnode as error:
            log.warning("partition state ignored", error=str(error))
            return None

    async def that_had_states(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Return those of partitions without a state that have had one, or are being given the first."""
        paths = [znodes.partition_path(partition) for partition in partitions]
        parents = await ask_each(self.session.exists, paths)
        return [partition for partition, parent in zip(partitions, parents, strict=True) if parent is not None]

    async def topics_to_delete(self, watch: Watcher | None = None) -> list[str]:
        """Return the topics to delete, with valid names as in `topic_names`."""
        return self._legal(znodes.DELETE_TOPICS, await self.session.children(znodes.DELETE_TOPICS, watch))

    async def isr_changes(self, watch: Watcher | None = None) -> list[str]:
        """Return the names of ISR change notifications."""
        return await self.session.children(notification_znodes.ISR_CHANGES, watch)

    async def log_dir_events(self, watch: Watcher | None = None) -> list[str]:
        """Return the names of log directory failure notifications."""
        return await self.session.children(notification_znodes.LOG_DIR_EVENTS, watch)

    async def config(self, entity_type: str, name: str) -> dict[str, str]:
        """Return the overrides set for a topic, broker…; none when nothing is set."""
        return (await self._config(znodes.config_path(entity_type, name)))[0]

    async def configured(self, entity_type: str) -> list[str]:
        """Return the names of this type with a configuration, perhaps an empty one."""
        return await self.session.children(f"/config/{entity_type}")

    # -- what a leader tells

    async def write_isr(self, partition: TopicPartition, state: LeaderAndIsr) -> LeaderAndIsr | None:
        """Write the state as `notifications.write_isr`; return what ZooKeeper has afterwards."""
        return await notifications.write_isr(self.session, partition, state)

    async def announce_isr_changes(self, partitions: Iterable[TopicPartition]) -> None:
        await notifications.announce_isr_changes(self.session, partitions)

    async def announce_log_dir_failure(self, broker_id: int) -> None:
        await notifications.announce_log_dir_failure(self.session, broker_id)

    # -- topics

    async def create_topic(
        self, name: str, partitions: dict[int, tuple[int, ...]], config: dict[str, str], topic_id: UUID | None = None
    ) -> TopicAssignment:
        """Write the topic's config and the topic, both or neither; the controller does the rest.

        ApiError TOPIC_ALREADY_EXISTS when it is there, also while it is being deleted. QuotaExceeded leaves room for
        what the controller writes of it.
        """
        assignment = TopicAssignment(name, topic_id or uuid4(), partitions)
        create = ZnodeCreation(znodes.topic_path(name), znodes.encode_topic(assignment))
        below_brokers = amount_of_partitions(len(partitions), len(create.data), is_new=True)
        below_config = Amount(1, len(znodes.encode_config(config)))
        await require_fitting(self.session, "/brokers", len(create.data) + below_config.bytes)
        await require_room(self.session, "/brokers", below_brokers)
        await require_room(self.session, "/config", below_config)
        for _ in range(_CONFLICTS_MAX):
            if await self.session.exists(create.path):
                raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
            with contextlib.suppress(NodeExists, NodeMissing):
                await self.session.multi([await self._config_write("topics", name, config), create])
                return assignment
        raise OperationRefused(create.path, "its config keeps changing, or /config/topics is missing")

    async def add_partitions(self, name: str, added: dict[int, tuple[int, ...]]) -> None:
        """Give the topic further partitions; ApiError when somebody else has changed it meanwhile."""
        path = znodes.topic_path(name)
        try:
            znode = await self.session.get(path)
            present = znodes.decode_topic(name, znode.data)
            if present.adding or present.removing:
                raise ApiError(ErrorCode.REASSIGNMENT_IN_PROGRESS, f"Partitions of topic '{name}' are being moved.")
            if added.keys() & present.partitions.keys():
                raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic '{name}' has these partitions already.")
            grown = znodes.encode_topic(TopicAssignment(name, present.topic_id, {**present.partitions, **added}))
            more = amount_of_partitions(len(added), len(grown) - len(znode.data), is_new=False)
            await require_fitting(self.session, "/brokers", len(grown))
            await require_room(self.session, "/brokers", more)
            await self.session.set(path, grown, znode.version)
        except NodeMissing:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name}' does not exist.") from None
        except WrongVersion:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"Topic '{name}' was changed meanwhile; try again.") from None

    async def request_topic_deletion(self, name: str, topic_id: UUID | None = None) -> None:
        """Ask the controller to delete the topic; asking again is no error.

        topic_id: the id that the topic must have, None for any. ApiError when there is no such topic: what has the
        name may have been made anew since the client heard of the id.
        """
        if not is_topic_name(name) or await self.session.exists(znodes.topic_path(name)) is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name:.300}' does not exist.")
        if topic_id is not None:
            present = await self.topic(name)
            if present is None or present.topic_id != topic_id:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, f"Topic '{name}' has another id by now; look it up again.")
        with contextlib.suppress(NodeExists):
            await self.session.create(znodes.delete_topic_path(name))

    async def partition_exists(self, partition: TopicPartition) -> bool:
        """Return whether the partition exists; False once its topic is to be deleted; a topic that cannot be read may
        have it.
        """
        if await self.session.exists(znodes.delete_topic_path(partition.topic)) is not None:
            return False
        try:
            znode = await self.session.get(znodes.topic_path(partition.topic))
            return partition.partition in znodes.decode_topic(partition.topic, znode.data).partitions
        except NodeMissing:
            return False
        except MalformedZnode as error:
            log.warning("topic ignored", error=str(error))
            return True

    async def wait_topic_removed(self, name: str) -> None:
        """Returns when the topic's znode is gone, and its name free again."""
        while True:
            changed = asyncio.Event()
            if await self.session.exists(znodes.topic_path(name), changed.set) is None:
                return
            await changed.wait()

    async def set_config(self, entity_type: str, name: str, config: dict[str, str]) -> None:
        """Replace an entity's overrides and notify every broker, both or neither."""
        await self.change_config(entity_type, name, lambda _present: config)

    async def change_config(
        self, entity_type: str, name: str, change: Callable[[dict[str, str]], dict[str, str]]
    ) -> dict[str, str]:
        """Replace an entity's overrides by what `change` makes of them, notify every broker, and return them.

        `change` is asked again if somebody else was quicker, so that no change is lost; what it raises ends the try.
        Only what makes it larger may meet QuotaExceeded.
        """
        path = znodes.config_path(entity_type, name)
        notification = ZnodeCreation(
            znodes.CONFIG_CHANGE_PREFIX, znodes.encode_config_change(f"{entity_type}/{name}"), sequential=True
        )
        for _ in range(_CONFLICTS_MAX):
            present, version = await self._config(path)
            wanted = change(present)
            data = znodes.encode_config(wanted)
            if (larger := len(data) - len(znodes.encode_config(present))) > 0:
                await require_fitting(self.session, "/config", len(data))
                await require_room(self.session, "/config", Amount(1, larger))
            write = ZnodeCreation(path, data) if version is None else SetData(path, data, version)
            with contextlib.suppress(NodeExists, NodeMissing, WrongVersion):
                await self.session.multi([write, notification])
                return wanted
        raise OperationRefused(path, "it keeps changing, or its parent is missing")

    async def _config(self, path: str) -> tuple[dict[str, str], int | None]:
        """Return the overrides and the version of their znode, None if there is none."""
        try:
            znode = await self.session.get(path)
        except NodeMissing:
            return {}, None
        return znodes.decode_config(path, znode.data), znode.version

    async def _config_write(self, entity_type: str, name: str, config: dict[str, str]) -> Operation:
        """Return the operation that makes the znode or writes over it. It may appear or go meanwhile; the caller then
        asks again.
        """
        path, data = znodes.config_path(entity_type, name), znodes.encode_config(config)
        return SetData(path, data) if await self.session.exists(path) else ZnodeCreation(path, data)

    # -- producer ids

    async def claim_producer_ids(self, broker_id: int) -> range:
        """Claim a block of producer ids no other broker has or will have."""
        while True:
            znode = await self.session.get(znodes.PRODUCER_ID_BLOCK)
            first = znodes.decode_producer_id_block_end(znode.data) + 1
            block = range(first, first + PRODUCER_IDS_PER_BLOCK)
            data = znodes.encode_producer_id_block(broker_id, block[0], block[-1])
            with contextlib.suppress(WrongVersion):
                await self.session.set(znodes.PRODUCER_ID_BLOCK, data, znode.version)
                return block
