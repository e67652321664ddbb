"""Copies a topic exactly once: what an application does that consumes, produces and commits in one transaction.

A process of its own, so that it can be killed at any moment. Each record goes to the partition of the same number.
Now and then it changes its mind and aborts. It ends with status 0 when told to stop, and with 3 when its client says
that it cannot go on; whoever started it starts it again then. What its clients do goes to its stderr, and upon SIGUSR1
where it stands.

python -m tests.faults.copy.copier --servers … --id copier-0 --source in --target out --seed 7
"""

import argparse
import faulthandler
import random
import signal
import sys
import time
from collections.abc import Callable

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.librdkafka import GROUP_COORDINATOR_IS_ASKED, GROUP_IS_JOINED

GROUP = "copiers"
CANNOT_GO_ON = 3
TRANSACTION_TIMEOUT_MS = 10_000
_BATCH_MAX = 100
_ABORTS = 0.05
_OPERATION_S = 5
_PATIENCE_S = 60


class Copier:
    """One member of the group, with one transactional id."""

    def __init__(self, servers: str, transactional_id: str, source: str, target: str, seed: int):
        patient = {
            "bootstrap.servers": servers,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 200,
            "debug": "cgrp,eos,protocol",
        }
        self._source, self._target = source, target
        self._random = random.Random(seed)
        self._is_over = False
        self._consumer = Consumer(
            {
                **patient,
                "group.id": GROUP,
                "client.id": transactional_id,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "session.timeout.ms": 6_000,
                "heartbeat.interval.ms": 500,
                **GROUP_IS_JOINED,
            }
        )
        self._producer = Producer(
            {
                **patient,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
                "linger.ms": 2,
                **GROUP_COORDINATOR_IS_ASKED,
            }
        )

    def stop(self) -> None:
        """From a signal: the transaction under way is ended first."""
        self._is_over = True

    def run(self) -> None:
        """Raises KafkaException when the client cannot go on."""
        self._insist(lambda: self._producer.init_transactions(_OPERATION_S))
        self._consumer.subscribe([self._source])
        while not self._is_over:
            messages = [item for item in self._consumer.consume(_BATCH_MAX, 0.1) if _is_record(item)]
            if messages:
                self._copy(messages)
        self._consumer.close()

    def _copy(self, messages: list[Message]) -> None:
        try:
            self._producer.begin_transaction()
            for message in messages:
                self._producer.produce(self._target, message.value(), message.key(), message.partition())
                self._producer.poll(0)
            if self._random.random() < _ABORTS:
                self._abort()
                return
            group = self._consumer.consumer_group_metadata()
            self._insist(lambda: self._producer.send_offsets_to_transaction(_ends(messages), group, _OPERATION_S))
            self._insist(lambda: self._producer.commit_transaction(_OPERATION_S))
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            print(f"aborted: {error}", flush=True)
            self._abort()

    def _abort(self) -> None:
        """Nothing of this transaction happened: what it read is read again."""
        self._insist(lambda: self._producer.abort_transaction(_OPERATION_S))
        assigned = self._consumer.assignment()
        if assigned:
            for partition in self._insist(lambda: self._consumer.committed(assigned, _OPERATION_S)):
                at = partition.offset if partition.offset >= 0 else OFFSET_BEGINNING
                self._consumer.seek(TopicPartition(partition.topic, partition.partition, at))

    def _insist(self, operation: Callable):
        """Again while the client says that it may be tried again."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return operation()
            except KafkaException as error:
                if not _may_be_tried_again(error.args[0]) or time.monotonic() > until:
                    raise
                print(f"once more: {error}", flush=True)


def _may_be_tried_again(error: KafkaError) -> bool:
    timed_out = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._WAIT_COORD)
    return error.retriable() or (error.code() in timed_out and not error.txn_requires_abort())


def _is_record(message: Message) -> bool:
    """Errors of the consumer that it does not get over by itself end the process."""
    error = message.error()
    if error is not None and error.fatal():
        raise KafkaException(error)
    return error is None


def _ends(messages: list[Message]) -> list[TopicPartition]:
    last = {(message.topic(), message.partition()): message.offset() for message in messages}
    return [TopicPartition(topic, partition, offset + 1) for (topic, partition), offset in last.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Copies a topic exactly once.")
    for name in ("servers", "id", "source", "target"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    copier = Copier(arguments.servers, arguments.id, arguments.source, arguments.target, arguments.seed)
    signal.signal(signal.SIGTERM, lambda *_: copier.stop())
    faulthandler.register(signal.SIGUSR1)
    try:
        copier.run()
    except KafkaException as error:
        print(f"cannot go on: {error}", flush=True)
        return CANNOT_GO_ON
    return 0


if __name__ == "__main__":
    sys.exit(main())
