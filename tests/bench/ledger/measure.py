"""What each entry of the ledger costs: bytecodes of all brokers for one request, one at a time.

The smallest of several rounds counts: a timer of the broker may ring in any other.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.connection import BrokerConnection
from broker.common.errors import ErrorCode
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster
from tests.bench.groups import commit_frame
from tests.bench.ledger.counting_broker import count_in
from tests.bench.raw import RawConnection, fetch_frame, produce_frame
from tests.bench.transactions import TransactionalProducer

#: Requests that are counted together.
REQUESTS = 20
_ROUNDS, _WARM_UP = 4, 50
_COMMAND = (sys.executable, "-m", "tests.bench.ledger.counting_broker")
_TOPIC = "t"
_OVERRIDES = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}


def measure() -> dict[str, Counter[str]]:
    """Return the bytecodes of REQUESTS of each, by its name in the ledger, and by function."""
    costs = {}
    with _cluster(1) as cluster:
        (broker,) = cluster.brokers
        connection = RawConnection("127.0.0.1", broker.port)
        produced, fetched = produce_frame(_TOPIC, b"x" * 100), fetch_frame(_TOPIC, 0, 1_000)
        _await_coordinator(broker)
        costs["produce"] = _cost(cluster, lambda: _ask(connection, produced))
        costs["fetch"] = _cost(cluster, lambda: _ask(connection, fetched))
        committed = commit_frame("group", [0], 12_345)
        costs["commit"] = _cost(cluster, lambda: _ask(connection, committed))
        producer = TransactionalProducer(cluster.bootstrap_servers, _TOPIC)
        costs["transaction"] = _cost(cluster, lambda: producer.transact(1))
        connection.close()
    with _cluster(3) as cluster:
        connection = RawConnection("127.0.0.1", cluster.brokers[0].port)
        replicated = produce_frame(_TOPIC, b"x" * 100, acks=-1)
        costs["replicated produce"] = _cost(cluster, lambda: _ask(connection, replicated))
        connection.close()
    return costs


@contextmanager
def _cluster(brokers: int) -> Iterator[Cluster]:
    overrides = _OVERRIDES | {
        name: str(brokers) for name in ("offsets.topic.replication.factor", "transaction.state.log.replication.factor")
    }
    with running_cluster(brokers=brokers, overrides=overrides, command=_COMMAND) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        replicas = [[broker.broker_id for broker in cluster.brokers]]
        admin.create_topics([NewTopic(_TOPIC, 1, replica_assignment=replicas)])[_TOPIC].result(30)
        yield cluster


def _await_coordinator(broker: BrokerProcess) -> None:
    with BrokerConnection("127.0.0.1", broker.port) as connection:
        find = FindCoordinatorRequest(coordinator_keys=["any"])
        await_true(lambda: connection.ask(find).coordinators[0].node_id > 0, "there is a coordinator")
        read = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="any", topics=None)])
        await_true(lambda: connection.ask(read).groups[0].error_code == ErrorCode.NONE, "the coordinator serves")


def _ask(connection: RawConnection, request: bytes) -> None:
    connection.send(request)
    connection.answers(1)


def _cost(cluster: Cluster, once: Callable[[], None]) -> Counter[str]:
    for _ in range(_WARM_UP):
        once()
    return min((_round(cluster, once) for _ in range(_ROUNDS)), key=Counter.total)


def _round(cluster: Cluster, once: Callable[[], None]) -> Counter[str]:
    for broker in cluster.brokers:
        _switch(broker)
    for _ in range(REQUESTS):
        once()
    return sum((_switch(broker) for broker in cluster.brokers), Counter())


def _switch(broker: BrokerProcess) -> Counter[str]:
    """Begin or end counting in the broker; return the counts of what has ended."""
    result = count_in(Path(broker.directory))
    result.unlink(missing_ok=True)
    os.kill(broker.process.pid, signal.SIGUSR1)
    deadline = time.monotonic() + 30
    while not result.exists():
        assert time.monotonic() < deadline, f"broker {broker.broker_id} does not count"
        time.sleep(0.001)
    return Counter(json.loads(result.read_text()))
