"""The topic `_schemas`: made if it is missing, read to its end and on, written by the leader.

Who writes takes one transactional id, the same for all registries of a group. To open it is to end whatever a leader
before has begun and to fence that one (KIP-98): a leader that was stopped in the middle, and wakes up when another has
taken its place, is refused by the brokers. What a write consists of appears as a whole or not at all.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from broker.client.retriable import is_retriable_error
from broker.common.errors import BarnabasError, NotNowError, StartupError
from broker.common.logs import logger
from broker.common.quiet_clients import with_error_logging, with_quiet_logging
from broker.registry.records import NoopKey, encode_key

#: What one turn takes of the topic: a turn of the loop applies it.
_BATCH = 500
_POLL_S = 0.5
#: Behind the marker of a transaction, and every write is one, the end is known when a fetch comes back empty: soon,
#: until it was seen once. Afterwards whatever is written ends a fetch at once, and brokers that rest are asked a sixth
#: as often.
_FETCH_WAIT_AT_FIRST_MS, _FETCH_WAIT_MS = 500, 3_000
_TOPIC_TIMEOUT_S = 15.0
#: How long a write may take, and how long the brokers keep what a leader that died has begun.
_WRITE_TIMEOUT_S = 10.0
_TRANSACTION_TIMEOUT_MS = 10_000
#: Where brokers keep transactions, and how long they are asked about it.
_TRANSACTIONS, _WHY_TIMEOUT_S = "__transaction_state", 5.0

_log = logger(__name__)


class WriteFailed(BarnabasError):
    """The record may be in the log, or not: reopening the log decides. `is_refused`: not, and another try is no use."""

    def __init__(self, sentence: str, *, is_refused: bool = False):
        super().__init__(sentence)
        self.is_refused = is_refused


class SchemaRecord(NamedTuple):
    """A record as it is in the topic."""

    offset: int
    key: bytes | None
    value: bytes | None
    #: Milliseconds since 1970; 0 for a record without one.
    timestamp_ms: int = 0


def ensure_topic(settings: Mapping[str, Any], topic: str, replication_factor: int) -> str:
    """Create the topic if it is missing and return the id of its cluster.

    StartupError for a topic that would lose schemas or their order: it has one partition, and is compacted.
    """
    admin = AdminClient(with_quiet_logging(settings))
    try:
        metadata = admin.list_topics(timeout=_TOPIC_TIMEOUT_S)
        existing = metadata.topics.get(topic)
        if existing is None:
            _create(admin, topic, min(replication_factor, len(metadata.brokers)))
            return metadata.cluster_id or ""
        policy = _cleanup_policy(admin, topic)
    except KafkaException as error:
        raise NotNowError(f"the brokers do not tell of the topic {topic}: {error.args[0].str()}.") from None
    except TimeoutError:
        raise NotNowError(f"the brokers do not tell of the topic {topic} in {_TOPIC_TIMEOUT_S:g} s.") from None
    if len(existing.partitions) != 1:
        raise StartupError(f"the topic {topic} must have one partition; it has {len(existing.partitions)}.")
    if policy.replace(" ", "") != "compact":
        raise StartupError(
            f"the topic {topic} has cleanup.policy={policy}: schemas would be deleted from it; set it to compact."
        )
    return metadata.cluster_id or ""


def _create(admin: AdminClient, topic: str, replicas: int) -> None:
    new = NewTopic(topic, num_partitions=1, replication_factor=replicas, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([new], request_timeout=_TOPIC_TIMEOUT_S)[topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    _log.info("topic created", topic=topic, replicas=replicas)


def _cleanup_policy(admin: AdminClient, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    described: dict[str, Any] = admin.describe_configs([resource])[resource].result(_TOPIC_TIMEOUT_S)
    return str(described["cleanup.policy"].value)


def why_no_transactions(settings: Mapping[str, Any]) -> str:
    """Return why the transaction coordinator cannot work, as far as brokers show. Empty if nothing of it is seen."""
    try:
        own = {key: value for key, value in settings.items() if not key.startswith(("transaction", "message."))}
        metadata = AdminClient(with_quiet_logging(own)).list_topics(timeout=_WHY_TIMEOUT_S)
    except KafkaException as error:
        return f"no broker answers in time ({error.args[0].str()})"
    topic, brokers = metadata.topics.get(_TRANSACTIONS), len(metadata.brokers)
    alive = f"{brokers} broker{'s are' if brokers != 1 else ' is'} alive"
    if topic is None or not topic.partitions:
        return (
            f"there is no topic {_TRANSACTIONS} yet and {alive}: it cannot be made with fewer brokers than "
            "transaction.state.log.replication.factor says; start the others, or lower that"
        )
    partitions = topic.partitions.values()
    if leaderless := sum(partition.leader < 0 for partition in partitions):
        return f"{leaderless} of {len(partitions)} partitions of {_TRANSACTIONS} have no leader, and {alive}"
    if short := sum(len(partition.isrs) < len(partition.replicas) for partition in partitions):
        return (
            f"{short} of {len(partitions)} partitions of {_TRANSACTIONS} lack in-sync replicas, and {alive}: with "
            "fewer than transaction.state.log.min.isr they take no writes"
        )
    return ""


class SchemaReader:
    """Hands every committed record to `apply`, on the loop and in order, from the first one on, until `close`."""

    def __init__(self, settings: Mapping[str, Any], topic: str, apply: Callable[[list[SchemaRecord]], None]):
        self._settings = dict(settings) | {
            "group.id": f"schema-registry-reader-{topic}",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "fetch.error.backoff.ms": 100,
        }
        self._topic = topic
        self._apply = apply
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, name="schema-reader", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        #: The end was seen once: what was there when the process started is known.
        self.is_complete = asyncio.Event()
        self._next_offset = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def close(self) -> None:
        self._stopped.set()
        await asyncio.to_thread(self._thread.join)

    async def has_read(self, offset: int) -> None:
        """Wait until the record at this offset is applied."""
        if offset < self._next_offset:
            return
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((offset, reached))
        await reached

    def _read(self) -> None:
        self._read_until(self._is_known_once, _FETCH_WAIT_AT_FIRST_MS)
        self._read_until(self._stopped.is_set, _FETCH_WAIT_MS)

    def _is_known_once(self) -> bool:
        return self.is_complete.is_set() or self._stopped.is_set()

    def _read_until(self, is_over: Callable[[], bool], fetch_wait_ms: int) -> None:
        consumer = Consumer(with_error_logging(self._settings | {"fetch.wait.max.ms": fetch_wait_ms}))
        consumer.assign([TopicPartition(self._topic, 0, self._next_offset)])
        try:
            while not is_over():
                try:
                    first = consumer.consume(1, _POLL_S)  # `poll` wakes five times a second to see to signals
                    messages = [*first, *consumer.consume(_BATCH, 0)] if first else []
                except (KafkaException, RuntimeError) as error:  # without this thread the registry hears of nothing
                    _log.warning("schemas cannot be read for now", topic=self._topic, reason=str(error))
                    self._stopped.wait(_POLL_S)
                    continue
                if messages:
                    self._hand_over(messages)
        finally:
            consumer.close()

    def _hand_over(self, messages: list[Message]) -> None:
        """Waits until they are applied, so that no more than these wait in memory."""
        assert self._loop is not None
        done = threading.Event()
        try:
            self._loop.call_soon_threadsafe(self._take, messages, done)
        except RuntimeError:
            self._stopped.set()
            return
        while not done.wait(_POLL_S) and not self._stopped.is_set():
            pass

    def _take(self, messages: list[Message], done: threading.Event) -> None:
        try:
            records = [
                SchemaRecord(_offset(message), message.key(), message.value(), max(0, message.timestamp()[1]))
                for message in messages
                if message.error() is None
            ]
            self._apply(records)
            for message in messages:
                self._note(message)
            self._wake()
        finally:
            done.set()

    def _note(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self._next_offset = _offset(message) + 1
        elif error.code() == KafkaError._PARTITION_EOF:
            self._next_offset = max(self._next_offset, _offset(message))
            self.is_complete.set()
        else:
            _log.warning("schemas cannot be read for now", topic=self._topic, reason=error.str())

    def _wake(self) -> None:
        for offset, reached in list(self._waiting):
            if reached.done():
                self._waiting.remove((offset, reached))
            elif offset < self._next_offset:
                self._waiting.remove((offset, reached))
                reached.set_result(None)


def _offset(message: Message) -> int:
    """Return the offset, which every consumed or delivered message has."""
    return int(message.offset() or 0)


class SchemaWriter:
    """One leader's right to write. Blocking, and for one thread at a time; what fails ends it: open it again."""

    def __init__(self, settings: Mapping[str, Any], topic: str, transactional_id: str):
        self._settings = dict(settings) | {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
            "message.timeout.ms": _TRANSACTION_TIMEOUT_MS - 1_000,
            "message.max.bytes": 10_000_000,
            "linger.ms": 0,
            "acks": "all",
        }
        self._topic = topic
        self._producer: Producer | None = None
        self._turn = threading.Lock()

    def open(self, timeout_s: float) -> int:
        """Fence whoever wrote before; the offset of the mark behind all that was written before. Raises WriteFailed."""
        with self._turn:
            self._producer = None
            producer = Producer(with_quiet_logging(self._settings))
            try:
                producer.init_transactions(timeout_s)
            except KafkaException as error:
                why = why_no_transactions(self._settings) if is_retriable_error(error.args[0]) else ""
                sentence = f"the log of schemas cannot be opened: {error.args[0].str()}{why and f'; {why}'}"
                raise WriteFailed(sentence) from None
            self._producer = producer
        return self.write([(encode_key(NoopKey()), None)])

    def write(self, records: Sequence[tuple[bytes, bytes | None]]) -> int:
        """Write all records or none, and return the offset of the last. Raises WriteFailed."""
        with self._turn:
            if self._producer is None:
                raise WriteFailed("the log of schemas is not open")
            try:
                return self._write(self._producer, records)
            except KafkaException as error:
                reason: KafkaError = error.args[0]
                self._producer = None
                raise WriteFailed(f"the log of schemas was not written: {reason.str()}") from None
            except BaseException:
                self._producer = None
                raise

    def _write(self, producer: Producer, records: Sequence[tuple[bytes, bytes | None]]) -> int:
        offsets: list[int] = []
        failures: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offsets.append(_offset(message))
            else:
                failures.append(error)

        producer.begin_transaction()
        for key, value in records:
            producer.produce(self._topic, value, key, partition=0, on_delivery=delivered)
        deadline = time.monotonic() + _WRITE_TIMEOUT_S
        while len(offsets) + len(failures) < len(records) and time.monotonic() < deadline:
            producer.poll(0.05)
        if failures:
            producer.abort_transaction(_WRITE_TIMEOUT_S)
            is_refused = failures[0].code() in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.TOPIC_AUTHORIZATION_FAILED)
            raise WriteFailed(f"the log of schemas refuses it: {failures[0].str()}", is_refused=is_refused)
        producer.commit_transaction(_WRITE_TIMEOUT_S)
        return max(offsets)

    def close(self) -> None:
        with self._turn:
            self._producer = None
