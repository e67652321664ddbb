"""Produce and EndTxn requests are held back, arrive twice, and their answers get lost: KAFKA-17754 in small.

An idempotent producer's records are there once and in order whatever arrives when. Those of a transaction are there if
it was committed. An EndTxn that is repeated at once changes nothing; one that comes when another producer has taken
over the transactional id is refused. One that comes while the same producer is in its next transaction may end that, as
in Kafka before transaction version 2, and is not played.
"""

import time

from confluent_kafka import Producer

from broker.coordinator.partitions import partition_for
from tests.barnabas_cluster import await_true
from tests.faults.load import Load, ProducerPlan
from tests.faults.matrix.committer import (
    ATOMIC,
    REPLICAS,
    TRANSACTIONS,
    TRANSACTIONS_MIN,
    TRANSACTIONS_PARTITIONS,
    Committer,
    check_atomic,
)
from tests.faults.matrix.replaying_proxy import ReplayingProxies
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_LASTS_S = 25.0
#: More than the rest of it should take on any machine.
_PATIENCE_S = 90
_REPLAYS_MIN = 50
_ENDINGS_MIN = 10
_REFUSALS = {"PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"}
_PLANS = (
    ProducerPlan("replayed-a", "kept", 6, per_second=150, settings={"linger.ms": 0}),
    ProducerPlan("replayed-b", "kept", 6, per_second=300, settings={"compression.type": "lz4", "linger.ms": 20}),
)


def replay_produce(stage: Stage) -> None:
    """Under it a leader dies and comes back."""
    stage.create(ATOMIC, REPLICAS)
    with ReplayingProxies([broker.port for broker in stage.cluster.brokers], stage.random.randrange(10**6)) as proxies:
        servers = proxies.bootstrap_servers
        load = Load(_PLANS, servers, stage.history, stage.random.randrange(10**6), reader="live through the proxy")
        committer = Committer("replayed", servers)
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
        await_true(lambda: _has_enough(proxies, committer), "requests enough are repeated", _PATIENCE_S)
        committer.stop()
        load.stop()
        committer.join()
        _end_late(stage, proxies, committer)
        stage.note(f"replayed: {dict(proxies.counts)}")
    check_atomic(stage, committer)


def _has_enough(proxies: ReplayingProxies, committer: Committer) -> bool:
    return committer.failure is not None or (
        committer.count >= TRANSACTIONS_MIN
        and proxies.again("PRODUCE") >= _REPLAYS_MIN
        and proxies.again("END_TXN") >= _ENDINGS_MIN
    )


def _end_late(stage: Stage, proxies: ReplayingProxies, committer: Committer) -> None:
    """The next producer of that id is in a transaction, which no EndTxn of the one before it may commit."""
    stage.follow_internal(TRANSACTIONS, TRANSACTIONS_PARTITIONS)
    servers = stage.cluster.bootstrap_servers
    following = Producer({"bootstrap.servers": servers, "transactional.id": committer.name, "log_level": 0})
    following.init_transactions(WHOLE_WITHIN_S)
    following.begin_transaction()
    for partition in range(len(REPLICAS)):
        following.produce(ATOMIC, b"aborted", b"key", partition)
    following.flush()
    coordinator = stage.state(TRANSACTIONS, partition_for(committer.name, TRANSACTIONS_PARTITIONS)).leader
    answers = proxies.end_late(stage.broker(coordinator).port)
    stage.note(f"late EndTxn: {dict(answers)}")
    if answers.total() < _ENDINGS_MIN or answers.keys() - _REFUSALS:
        stage.violations.append(f"I7: EndTxn of a producer that was fenced was answered {dict(answers)}")
    following.abort_transaction(WHOLE_WITHIN_S)
