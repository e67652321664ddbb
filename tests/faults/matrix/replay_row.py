"""Produce requests are held back, arrive twice, and their answers get lost: KAFKA-17754 in small.

An idempotent producer's records are there once and in order whatever arrives when. Those of a transaction are there if
it was committed. EndTxn is not repeated here: before transaction version 2 one that arrives late may end the next
transaction of the same producer, as in Kafka.
"""

import time

from tests.faults.load import Load, ProducerPlan
from tests.faults.matrix.committer import ATOMIC, REPLICAS, Committer, check_atomic
from tests.faults.matrix.replaying_proxy import ReplayingProxies
from tests.faults.matrix.stage import Stage

_LASTS_S = 25.0
_REPLAYS_MIN = 50
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
        committer.stop()
        load.stop()
        committer.join()
        stage.note(f"replayed: {dict(proxies.counts)}")
    replays = sum(count for name, count in proxies.counts.items() if name.startswith("replay answered"))
    if replays < _REPLAYS_MIN:
        stage.found.append(f"only {replays} requests were replayed")
    check_atomic(stage, committer)
