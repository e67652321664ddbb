"""Produce requests are held back, arrive twice, and their answers get lost: KAFKA-17754 in small.

An idempotent producer's records are there once and in order whatever arrives when. Those of a transaction are there if
it was committed. EndTxn is not repeated here: before transaction version 2 one that arrives late may end the next
transaction of the same producer, as in Kafka.
"""

import time

from confluent_kafka import KafkaException, Producer

from tests.faults.copy.checker import check_copy
from tests.faults.copy.readings import read_committed
from tests.faults.load import Load, ProducerPlan, Worker
from tests.faults.matrix.replaying_proxy import ReplayingProxies
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
ATOMIC = "atomic"
OVERRIDES = {"transaction.state.log.replication.factor": "3", "transaction.state.log.num.partitions": "3"}
_TRANSACTIONS = "__transaction_state"
_LASTS_S = 25.0
_REPLAYS_MIN = 50
_OPERATION_S = 20
_PLANS = (
    ProducerPlan("replayed-a", "kept", 6, per_second=150, settings={"linger.ms": 0}),
    ProducerPlan("replayed-b", "kept", 6, per_second=300, settings={"compression.type": "lz4", "linger.ms": 20}),
)


def replay_produce(stage: Stage) -> None:
    """Under it a leader dies and comes back."""
    stage.create(ATOMIC, REPLICAS)
    with ReplayingProxies([each.port for each in stage.cluster.brokers], stage.random.randrange(10**6)) as proxies:
        servers = proxies.bootstrap_servers
        load = Load(_PLANS, servers, stage.history, stage.random.randrange(10**6), reader="live through the proxy")
        committer = _Committer(servers)
        load.start()
        committer.start()
        began = time.monotonic()
        stage.stay_until(began + _LASTS_S / 3)
        leader = stage.state("kept", stage.random.randrange(6)).leader
        stage.kill(leader)
        stage.stay_until(began + 2 * _LASTS_S / 3)
        stage.start(leader)
        stage.await_whole()
        stage.stay_until(began + _LASTS_S)
        committer.stop()
        load.stop()
        committer.join(WHOLE_WITHIN_S)
        stage.note(f"replayed: {dict(proxies.counts)}")
    if committer.failure or committer.is_alive():
        stage.found.append(f"the transactional producer did not end as it should: {committer.failure!r}")
    replays = sum(count for name, count in proxies.counts.items() if name.startswith("replay answered"))
    if replays < _REPLAYS_MIN:
        stage.found.append(f"only {replays} requests were replayed")
    came_out = read_committed(stage.cluster.bootstrap_servers, ATOMIC, len(REPLICAS))
    stage.found += check_copy(committer.committed, came_out.values, ATOMIC)


class _Committer(Worker):
    """Transactions of a few records in all partitions; `committed` is what it was told is committed."""

    def __init__(self, servers: str):
        super().__init__("committer")
        self._settings = {"bootstrap.servers": servers, "transactional.id": "replayed", "linger.ms": 0, "log_level": 0}
        self.committed: dict[int, list[bytes]] = {partition: [] for partition in range(len(REPLICAS))}

    def _work(self) -> None:
        producer = Producer(self._settings)
        _insist(lambda: producer.init_transactions(_OPERATION_S))
        number = 0
        while not self._stopping.is_set():
            values = [b"%d" % (number + each) for each in range(3 * len(REPLICAS))]
            number += len(values)
            if self._commit(producer, values):
                for at, value in enumerate(values):
                    self.committed[at % len(REPLICAS)].append(value)

    def _commit(self, producer: Producer, values: list[bytes]) -> bool:
        """Whether the transaction was committed; if not, it was aborted."""
        try:
            producer.begin_transaction()
            for at, value in enumerate(values):
                producer.produce(ATOMIC, value, b"key", at % len(REPLICAS))
            producer.flush(1)
            _insist(lambda: producer.commit_transaction(_OPERATION_S))
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            _insist(lambda: producer.abort_transaction(_OPERATION_S))
            return False
        return True


def _insist(operation) -> None:
    until = time.monotonic() + WHOLE_WITHIN_S
    while True:
        try:
            return operation()
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > until:
                raise
