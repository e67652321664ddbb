"""Where records of workers are kept: in this process alone, in a file, or in a topic that all workers read."""

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
)

from broker.client.retriable import is_retriable_error
from broker.common.errors import BarnabasError, StartupError
from broker.common.logs import logger
from broker.common.quiet_clients import with_error_logging, with_quiet_logging
from broker.connect.storage.records import Record

#: Reads to the end and writes of internal topics end after so long, as Kafka's.
TIMEOUT_S = 30.0
#: Of one that waits for transactions: those whose producers died end after `transaction.timeout.ms`, a minute.
OPEN_TIMEOUT_S = 120.0
_log = logger("broker.connect")

Apply = Callable[[bytes | None, bytes | None, int], object]


class StorageError(BarnabasError):
    """The records could not be written or read now; whether they were written is unknown. Another try may succeed."""


class StorageLog(Protocol):
    def start(self) -> None:
        """Raises StorageError, after which it may be started again, and StartupError, which waiting does not mend."""

    def put(self, records: Iterable[Record]) -> None:
        """Write the records, and return when they are durable and applied here. Raises StorageError."""

    def post(self, records: Iterable[Record]) -> None:
        """Write the records without waiting; they are lost if the process dies."""

    def read_to_end(self, *, waits_for_open: bool = False) -> None:
        """Read to the current end of the log and apply its records. Raises StorageError."""

    def stop(self) -> None: ...


#: One request; the next one asks whoever leads by then.
_REQUEST_S = 5.0
#: Before it is asked again who leads.
_PAUSE_S = 0.2
#: Behind a marker the end is known when a fetch comes back empty: where transactions are the rule that must not take
#: long. Else a marker is left of earlier days, and read at the start. Whatever is written ends a fetch at once, so
#: the longer wait costs nothing but that; brokers that rest are asked a sixth as often.
_FETCH_WAIT_MS, _FETCH_WAIT_OF_MARKERS_MS = 3_000, 500


class MemoryLog:
    """Gone with the process."""

    def __init__(self, apply: Apply):
        self._apply = apply
        self._count = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        return

    def put(self, records: Iterable[Record]) -> None:
        with self._lock:
            for key, value in records:
                self._apply(key, value, self._count)
                self._count += 1

    def post(self, records: Iterable[Record]) -> None:
        self.put(records)

    def read_to_end(self, *, waits_for_open: bool = False) -> None:
        return

    def stop(self) -> None:
        return


class FileLog(MemoryLog):
    """`everything` is written anew after each put, whole or not at all."""

    def __init__(self, path: Path, apply: Apply, everything: Callable[[], list[Record]]):
        super().__init__(apply)
        self._path = path
        self._everything = everything
        self._writing = threading.Lock()

    def start(self) -> None:
        """Raises StartupError for a file that is none of ours."""
        if not self._path.exists():
            return
        try:
            pairs = json.loads(self._path.read_text())
            super().put((base64.b64decode(key), base64.b64decode(value)) for key, value in pairs)
        except (OSError, ValueError, TypeError) as error:
            raise StartupError(f"{self._path} cannot be read as source offsets: {error}.") from None

    def put(self, records: Iterable[Record]) -> None:
        with self._writing:
            super().put(records)
            pairs = [(_text(key), _text(value or b"")) for key, value in self._everything()]
            beside = self._path.with_name(f"{self._path.name}.new")
            try:
                with beside.open("w") as file:
                    json.dump(pairs, file)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self._path)
            except OSError as error:
                raise StorageError(f"{self._path}: {error.strerror}") from None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


class TopicLog:
    """A compacted topic, read from its beginning by a thread of its own as long as the worker lives."""

    def __init__(
        self,
        topic: str,
        partitions: int,
        replicas: int,
        client: Mapping[str, Any],
        apply: Apply,
        *,
        has_transactions: bool = False,
    ):
        self._topic = topic
        self._fetch_wait_ms = _FETCH_WAIT_OF_MARKERS_MS if has_transactions else _FETCH_WAIT_MS
        self._partitions, self._replicas = partitions, replicas
        self._client = dict(client)
        self._apply = apply
        self._reached: dict[int, int] = {}
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Make the topic if need be, and read it. Raises StorageError when the brokers do not answer in time, after
        which it may be started again, and StartupError."""
        if self._thread is None:
            self._open()
        self.read_to_end()

    def _open(self) -> None:
        self._admin = AdminClient(with_quiet_logging(self._client))
        numbers = self._existing_or_new()
        if self._partitions == 1 and len(numbers) != 1:
            raise StartupError(f"Topic '{self._topic}' must have 1 partition to keep configurations in order.")
        self._producer = Producer(
            with_quiet_logging(self._client)
            | {
                "acks": "all",
                "max.in.flight.requests.per.connection": 1,
                "linger.ms": 0,
                # What `post` was given is not given up while the brokers are away.
                "message.timeout.ms": 0,
                "partitioner": "murmur2_random",
            }
        )
        self._consumer = Consumer(
            with_error_logging(self._client)
            | {
                "group.id": f"connect-log-{os.getpid()}",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": self._fetch_wait_ms,
            }
        )
        self._consumer.assign([TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in numbers])
        self._reached = dict.fromkeys(numbers, 0)
        self._thread = threading.Thread(target=self._read, name=f"log-{self._topic}", daemon=True)
        self._thread.start()

    def _existing_or_new(self) -> list[int]:
        admin = self._admin
        deadline = time.monotonic() + TIMEOUT_S
        problem = "no response in time"
        while time.monotonic() < deadline and not self._stopping.is_set():
            try:
                known = admin.list_topics(timeout=5).topics.get(self._topic)
                if known is not None and known.error is None and known.partitions:
                    self._check_policy(admin)
                    return sorted(known.partitions)
                new = NewTopic(self._topic, self._partitions, self._replicas, config={"cleanup.policy": "compact"})
                admin.create_topics([new])[self._topic].result(TIMEOUT_S)
            except TimeoutError:
                problem = "no response in time"
            except KafkaException as error:
                problem, code = str(error.args[0].str()), error.args[0].code()
                if not is_retriable_error(error.args[0]) and code != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise StartupError(f"Topic '{self._topic}' cannot be read or made: {problem}.") from None
            self._stopping.wait(_PAUSE_S)
        raise StorageError(f"topic '{self._topic}' was not read or made in {TIMEOUT_S:g} s: {problem}")

    def _check_policy(self, admin: AdminClient) -> None:
        """Require the topic to be compacted: another policy deletes configurations and offsets after a week
        (KAFKA-9216).
        """
        resource = ConfigResource(ConfigResource.Type.TOPIC, self._topic)
        policy = admin.describe_configs([resource])[resource].result(TIMEOUT_S)["cleanup.policy"].value
        if policy != "compact":
            raise StartupError(f"Topic '{self._topic}' must have cleanup.policy=compact, but it has '{policy}'.")

    def put(self, records: Iterable[Record]) -> None:
        failures: list[str] = []
        waiting: set[int] = set()

        def callback_of(number: int) -> Callable[[KafkaError | None, Message], None]:
            def delivered(error: KafkaError | None, _message: Message) -> None:
                waiting.discard(number)
                if error is not None:
                    failures.append(error.str())

            return delivered

        for number, (key, value) in enumerate(records):
            waiting.add(number)
            try:
                self._producer.produce(self._topic, value, key, on_delivery=callback_of(number))
            except KafkaException as error:  # it is longer than any record may be
                raise StorageError(f"records of '{self._topic}' were not written: {error.args[0].str()}") from None
            except BufferError:
                raise StorageError(f"records of '{self._topic}' were not written: too many wait already") from None
        if self._producer.flush(TIMEOUT_S) or waiting or failures:
            # Not later either, behind what another worker writes meanwhile.
            self._producer.purge(in_flight=False, blocking=False)
            raise StorageError(f"records of '{self._topic}' were not written: {(failures or ['timed out'])[0]}")
        self.read_to_end()

    def post(self, records: Iterable[Record]) -> None:
        try:
            for key, value in records:
                self._producer.produce(self._topic, value, key)
        except (BufferError, KafkaException) as error:  # the brokers have been away for long
            _log.warning("record not posted", topic=self._topic, reason=str(error))
        self._producer.poll(0)

    def read_to_end(self, *, waits_for_open: bool = False) -> None:
        timeout_s = OPEN_TIMEOUT_S if waits_for_open else TIMEOUT_S
        deadline = time.monotonic() + timeout_s
        ends = self._ends(IsolationLevel.READ_UNCOMMITTED if waits_for_open else IsolationLevel.READ_COMMITTED)
        with self._moved:
            while any(self._reached[number] < end for number, end in ends.items()):
                if not self._moved.wait(max(deadline - time.monotonic(), 0)) and time.monotonic() >= deadline:
                    raise StorageError(f"'{self._topic}' was not read to its end in {timeout_s:g} s")

    def _ends(self, isolation: IsolationLevel) -> dict[int, int]:
        """Return the log ends, by another client: while a thread polls the consumer, librdkafka answers no other
        call.
        """
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return self._told_ends(isolation)
            except TimeoutError:
                reason = "no response in time"
            except KafkaException as error:
                reason = str(error.args[0].str())
                if not is_retriable_error(error.args[0]):
                    raise StorageError(f"the end of '{self._topic}' is not known: {reason}") from None
            if time.monotonic() >= deadline or self._stopping.wait(_PAUSE_S):
                raise StorageError(f"the end of '{self._topic}' is not known after {TIMEOUT_S:g} s: {reason}")
            # librdkafka's admin goes on asking with the epoch it knows until its metadata are five minutes old.
            self._admin = AdminClient(with_quiet_logging(self._client))

    def _told_ends(self, isolation: IsolationLevel) -> dict[int, int]:
        latest = OffsetSpec.latest()
        specs = {TopicPartition(self._topic, number): latest for number in self._reached}
        futures = self._admin.list_offsets(specs, isolation_level=isolation, request_timeout=_REQUEST_S)
        return {place.partition: future.result(2 * _REQUEST_S).offset for place, future in futures.items()}

    def _read(self) -> None:
        while not self._stopping.is_set():
            try:
                message = next(iter(self._consumer.consume(1, 0.5)), None)  # `poll` wakes five times a second
            except (KafkaException, RuntimeError):  # this thread is how the worker hears of everything
                _log.exception("topic not read for now", topic=self._topic)
                self._stopping.wait(_PAUSE_S)
                continue
            if message is None:
                continue
            error, partition, offset = message.error(), message.partition(), message.offset()
            if partition is None or offset is None:
                continue
            if error is None:
                try:
                    self._apply(message.key(), message.value(), offset)
                except Exception:  # one record that anybody may have written must not end the reading of all others
                    _log.exception("record not understood", topic=self._topic, offset=offset)
                self._reach(partition, offset + 1)
            elif error.code() == KafkaError._PARTITION_EOF:
                # Behind the marker of a transaction, too, which no message tells of.
                self._reach(partition, offset)
            elif not is_retriable_error(error):
                _log.warning("topic not read for now", topic=self._topic, reason=error.str())
        self._consumer.close()

    def _reach(self, partition: int, offset: int) -> None:
        with self._moved:
            self._reached[partition] = max(self._reached[partition], offset)
            self._moved.notify_all()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(2)
