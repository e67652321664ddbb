"""A producer of small transactions over three partitions, which remembers what it was told is committed, and whether
that, and only that, is there in the end.
"""

import threading
import time
from collections.abc import Callable

from confluent_kafka import KafkaException, Producer

from tests.barnabas_cluster import await_true
from tests.faults.copy.checker import check_copy
from tests.faults.copy.readings import open_in_partitions, read_committed, transactions_under_way
from tests.faults.load import Worker
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

ATOMIC = "atomic"
REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
TRANSACTIONS = "__transaction_state"
TRANSACTIONS_PARTITIONS = 3
OVERRIDES = {
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": str(TRANSACTIONS_PARTITIONS),
}
_RECORDS = 9
_OPERATION_S = 20
_PATIENCE_S = 90
TRANSACTIONS_MIN = 50


class Committer(Worker):
    """`committed` are the values by partition, `count` the transactions; `is_ending` is set as each commit begins."""

    def __init__(self, transactional_id: str, servers: str):
        super().__init__(transactional_id)
        self._servers = servers
        self.committed: dict[int, list[bytes]] = {partition: [] for partition in range(len(REPLICAS))}
        self.count = self.aborted = 0
        self.is_ending = threading.Event()

    def _work(self) -> None:
        producer = Producer(
            {"bootstrap.servers": self._servers, "transactional.id": self.name, "linger.ms": 0, "log_level": 0}
        )
        _insist(lambda: producer.init_transactions(_OPERATION_S))
        number = 0
        while not self._stopping.is_set():
            values = [b"%d" % (number + index) for index in range(_RECORDS)]
            number += len(values)
            if self._commit(producer, values):
                self.count += 1
                for at, value in enumerate(values):
                    self.committed[at % len(REPLICAS)].append(value)
            else:
                self.aborted += 1

    def _commit(self, producer: Producer, values: list[bytes]) -> bool:
        """Whether the transaction was committed; if not, it was aborted."""
        try:
            producer.begin_transaction()
            for at, value in enumerate(values):
                producer.produce(ATOMIC, value, b"key", at % len(REPLICAS))
            producer.flush(1)
            self.is_ending.set()
            _insist(lambda: producer.commit_transaction(_OPERATION_S))
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            _insist(lambda: producer.abort_transaction(_OPERATION_S))
            return False
        return True


def check_atomic(stage: Stage, committer: Committer) -> None:
    """I7, after `committer` was told to stop: what it knows to be committed is there, nothing else, nothing hangs."""
    committer.join(_PATIENCE_S)
    if committer.failure or committer.is_alive():
        stage.violations.append(f"{committer.name} did not end as it should: {committer.failure!r}")
    if committer.count < TRANSACTIONS_MIN:
        stage.violations.append(f"{committer.name} committed {committer.count} transactions only")
    stage.note(f"{committer.name}: {committer.count} committed, {committer.aborted} aborted")
    await_true(lambda: not transactions_under_way(stage), "every transaction has ended", WHOLE_WITHIN_S)
    came_out = read_committed(stage.cluster.bootstrap_servers, ATOMIC, len(REPLICAS))
    stage.violations += check_copy(committer.committed, came_out.values, ATOMIC)
    stage.violations += [f"I7 hanging: {partition}" for partition in open_in_partitions(stage)]


def _insist(operation: Callable[[], object]) -> None:
    """Again while the client says that it may be tried again."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            operation()
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > until:
                raise
