"""Writes what is to be copied, and what is not to be: records of transactions that are always aborted."""

import itertools
import time

from confluent_kafka import KafkaException, Producer

from tests.faults.load import Worker

#: Of values that no reader of committed records may ever see.
ABORTED = b"aborted/"
_TIMEOUT_MS = 120_000
_OPERATION_S = 10


class Feeder(Worker):
    """An idempotent producer of numbered values, `per_second`, to the partitions in turn. `sent` is what it wrote."""

    def __init__(self, servers: str, topic: str, partitions: int, per_second: int):
        super().__init__("feeder")
        self._topic = topic
        self._partitions = partitions
        self._per_second = per_second
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": _TIMEOUT_MS,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
            }
        )
        self.sent: dict[int, list[bytes]] = {partition: [] for partition in range(partitions)}
        self.acknowledged = 0

    def _work(self) -> None:
        began = time.monotonic()
        for number in itertools.count():
            while time.monotonic() < began + number / self._per_second and not self._stopping.is_set():
                self._producer.poll(0.005)
            if self._stopping.is_set():
                break
            partition, value = number % self._partitions, b"%d" % number
            self._producer.produce(self._topic, value, b"key", partition, on_delivery=self._delivered)
            self.sent[partition].append(value)
        if self._producer.flush(_TIMEOUT_MS / 1000):
            raise AssertionError("the feeder's records were never acknowledged")

    def _delivered(self, error, _message) -> None:
        if error is not None:
            raise AssertionError(f"the feeder's record was refused: {error}")
        self.acknowledged += 1


class Undecided(Worker):
    """A transactional producer that never commits. After an error it is made anew, under the same id."""

    def __init__(self, servers: str, topic: str, partitions: int):
        super().__init__("undecided")
        self._servers = servers
        self._topic = topic
        self._partitions = partitions
        self.aborted = 0

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                self._abort_many()
            except KafkaException:
                self._stopping.wait(0.2)

    def _abort_many(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._servers,
                "transactional.id": "undecided",
                "transaction.timeout.ms": 5_000,
                "linger.ms": 0,
                "log_level": 0,
            }
        )
        producer.init_transactions(_OPERATION_S)
        while not self._stopping.is_set():
            producer.begin_transaction()
            for partition in range(self._partitions):
                producer.produce(self._topic, ABORTED + b"%d" % self.aborted, b"key", partition)
            producer.flush(1)
            producer.abort_transaction(_OPERATION_S)
            self.aborted += 1
            self._stopping.wait(0.1)
