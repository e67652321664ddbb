"""Producers and readers that keep going while brokers die, and write down what they were told.

An operation that ended without a word from the broker is *unknown*. It is *failed* only if the broker refused it and
the client had not tried before: a retry may follow a first attempt that was written.
"""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.barnabas_cluster import await_true
from tests.faults.history import (
    HistoryWriter,
    Outcome,
    Produced,
    Seen,
    digest_of,
    name_in,
    now,
    record_name,
    record_value,
)

_OUTSTANDING_MAX = 5_000
_PROGRESS_S = 40
#: How long a failing wait asks who leads.
_LEADERS_S = 5.0
_FLUSH_DEADLINE_S = 90
_REFUSALS = frozenset(
    (
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_MSG,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
)


@dataclass(frozen=True)
class ProducerPlan:
    """One producer: `per_second` records of about `value_bytes`, round robin over the partitions of a topic."""

    name: str
    topic: str
    partitions: int
    acks: str = "all"
    is_idempotent: bool = True
    retries: bool = True
    #: A leader that stops leading says NOT_LEADER also of what it has written and not seen committed, as Kafka does;
    #: librdkafka takes that for "not written" and sends it again, even if told not to retry.
    is_replicated: bool = False
    keys: int = 0
    per_second: int = 300
    value_bytes: int = 200
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def refusals(self) -> frozenset[int]:
        """Errors that say that a record was not written."""
        return frozenset() if self.retries or self.is_replicated else _REFUSALS

    @property
    def may_repeat(self) -> bool:
        return not self.is_idempotent and (self.retries or self.is_replicated)

    def client_settings(self, bootstrap_servers: str) -> dict[str, object]:
        return {
            "bootstrap.servers": bootstrap_servers,
            "acks": self.acks,
            "enable.idempotence": self.is_idempotent,
            "linger.ms": 5,
            "batch.size": 16_000,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 200,
            "message.timeout.ms": 120_000 if self.retries else 3_000,
            "log_level": 0,
            **({} if self.retries else {"retries": 0}),
            **self.settings,
        }


class Worker(threading.Thread):
    """Works until it is told to stop; what it meets that it should not have is in `failure`."""

    def __init__(self, name: str):
        super().__init__(name=name, daemon=True)
        self._stopping = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        self._stopping.set()


class _ProducerWorker(Worker):
    def __init__(self, plan: ProducerPlan, bootstrap_servers: str, history: HistoryWriter, seed: int):
        super().__init__(plan.name)
        self._plan = plan
        self._history = history
        self._random = random.Random(f"{seed}/{plan.name}")
        self._producer = Producer(plan.client_settings(bootstrap_servers))
        self._outstanding: dict[int, tuple] = {}
        self._last_error = "none"
        self.acknowledged = 0

    def waits_for(self) -> str:
        """Return the producer's name, the records without an outcome by partition, and where those are led now."""
        plan = self._plan
        waiting = Counter(partition for partition, *_ in list(self._outstanding.values()))
        try:
            known = self._producer.list_topics(plan.topic, timeout=_LEADERS_S).topics[plan.topic].partitions
        except KafkaException as error:
            led = f"no broker says who leads ({error.args[0].name()})"
        else:
            led = ", ".join(f"{index} by {known[index].leader} isr {known[index].isrs}" for index in sorted(known))
        records = ", ".join(f"{count} for partition {index}" for index, count in sorted(waiting.items())) or "none"
        return (
            f"producer {plan.name} (acks {plan.acks}) on {plan.topic}: {self.acknowledged} records acknowledged, "
            f"outstanding: {records}; last error: {self._last_error}; partitions led: {led}"
        )

    def _work(self) -> None:
        began = time.monotonic()
        for number in itertools.count():
            due = began + number / self._plan.per_second
            while not self._stopping.is_set() and self._must_wait(due):
                self._producer.poll(0.01)
            if self._stopping.is_set():
                break
            self._produce(number)
        self._producer.flush(_FLUSH_DEADLINE_S)
        for number in list(self._outstanding):
            self._end(number, Outcome.UNKNOWN, error="never heard of again")

    def _must_wait(self, due: float) -> bool:
        return time.monotonic() < due or len(self._outstanding) >= _OUTSTANDING_MAX

    def _produce(self, number: int) -> None:
        plan = self._plan
        partition = number % plan.partitions
        key = f"key-{self._random.randrange(plan.keys)}".encode() if plan.keys else None
        value = record_value(record_name(plan.name, number), plan.value_bytes)
        self._outstanding[number] = (partition, key, digest_of(key, value), now())
        self._producer.produce(
            plan.topic,
            value,
            key,
            partition,
            on_delivery=lambda error, message: self._delivered(number, error, message),
        )

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged += 1
            self._end(number, Outcome.OK, offset=-1 if message.offset() is None else max(-1, message.offset()))
            return
        self._last_error = error.name()
        is_refused = error.code() in self._plan.refusals
        self._end(number, Outcome.FAILED if is_refused else Outcome.UNKNOWN, error=error.name())

    def _end(self, number: int, outcome: Outcome, offset: int = -1, error: str = "") -> None:
        partition, key, digest, began = self._outstanding.pop(number)
        plan = self._plan
        self._history.note(
            Produced(
                producer=plan.name,
                number=number,
                topic=plan.topic,
                partition=partition,
                key=key.decode() if key else None,
                digest=digest,
                acks=plan.acks,
                is_idempotent=plan.is_idempotent,
                may_repeat=plan.may_repeat,
                outcome=outcome,
                offset=offset,
                error=error,
                began=began,
                ended=now(),
            )
        )


class _ReaderWorker(Worker):
    """Follows partitions from their beginning and notes each record it gets."""

    def __init__(self, name: str, partitions: Sequence[TopicPartition], bootstrap_servers: str, history: HistoryWriter):
        super().__init__(name)
        self._history = history
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": f"reader-{name}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
            }
        )
        self._consumer.assign(
            [TopicPartition(partition.topic, partition.partition, OFFSET_BEGINNING) for partition in partitions]
        )

    def _work(self) -> None:
        while not self._stopping.is_set():
            for message in self._consumer.consume(500, 0.1):
                if message.error() is None:
                    self._history.note(seen(self.name, message))
        self._consumer.close()


def seen(reader: str, message: Message) -> Seen:
    key, value = message.key(), message.value()
    return Seen(
        reader=reader,
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        key=key.decode() if key else None,
        record=name_in(value),
        digest=digest_of(key, value),
        at=now(),
    )


class Load:
    """Runs every plan and one reader of all their partitions from `start` to `stop`. A reader's name is its own."""

    def __init__(
        self,
        plans: Sequence[ProducerPlan],
        bootstrap_servers: str,
        history: HistoryWriter,
        seed: int,
        reader: str = "live",
    ):
        self._producers = [_ProducerWorker(plan, bootstrap_servers, history, seed) for plan in plans]
        topics = {plan.topic: plan.partitions for plan in plans}
        partitions = [TopicPartition(topic, index) for topic, count in topics.items() for index in range(count)]
        self._readers = [_ReaderWorker(reader, partitions, bootstrap_servers, history)]

    def start(self) -> None:
        for worker in (*self._producers, *self._readers):
            worker.start()

    def acknowledged(self) -> dict[str, int]:
        """Records acknowledged so far, by producer. Raises what a worker met that it should not have."""
        self._raise_failures()
        return {worker.name: worker.acknowledged for worker in self._producers}

    def await_progress(self, within_s: float = _PROGRESS_S) -> None:
        """Return when every producer has got more acknowledged than it had; AssertionError naming those that have not,
        and what they wait for.
        """
        before = self.acknowledged()

        def waiting() -> list[str]:
            return [name for name, count in self.acknowledged().items() if count == before[name]]

        def why_not() -> str:
            return "; ".join(worker.waits_for() for worker in self._producers if worker.name in waiting())

        await_true(lambda: not waiting(), "every producer makes progress", within_s, why_not)

    def stop(self) -> None:
        """Returns when every operation has an outcome."""
        for worker in (*self._producers, *self._readers):
            worker.stop()
        for worker in (*self._producers, *self._readers):
            worker.join(_FLUSH_DEADLINE_S + 30)
            if worker.is_alive():
                raise AssertionError(f"{worker.name} did not end")
        self._raise_failures()

    def _raise_failures(self) -> None:
        for worker in (*self._producers, *self._readers):
            if worker.failure is not None:
                raise AssertionError(f"{worker.name} failed: {worker.failure!r}") from worker.failure
