"""What pages are looked at with: short names and long ones, a group that lags, records, a transaction that hangs."""

import os

from console.kit.gateway.acls.interface import AclRule, Denials
from console.kit.gateway.producers.interface import ProducerView, TransactionView
from tests.fakes.gateway import FakeGateway, wall_ms
from tests.fakes.zookeeper import FakeZooKeeper

TOPICS = ("orders", "a-topic-with-a-name-that-is-quite-long-" * 5)
GROUPS = ("readers", "slow-export", "a.group.with.a.name.that.is.quite.long." * 5)

#: Of the cluster that a real worker or registry beside it works for.
ID_VARIABLE = "SMALL_CLUSTER_ID"


def small_cluster() -> FakeGateway:
    cluster = FakeGateway(broker_count=3, cluster_id=os.environ.get(ID_VARIABLE, "fake-cluster"))
    for name in TOPICS:
        cluster.create_topic(name, 1, 2)
        for number in range(5):
            cluster.produce_record(name, 0, b"a-key", b'{"number": %d}' % number, (("header", b"value"),))
    for group in GROUPS:
        cluster.commit(group, "orders", 0, 2)
    cluster.credentials.set_password("alice", "correct-horse", {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 8_192})
    guard(cluster)
    write_in_transactions(cluster)
    return cluster


def guard(cluster: FakeGateway) -> None:
    """Rules of each sort, and somebody who was denied something."""
    acls = cluster.acls
    acls.has_authorizer, acls.own_principal, acls.super_users = True, "User:console", frozenset({"User:root"})
    acls.users = ("User:alice", "User:bob", "User:console")
    long = "User:CN=a-service-with-a-name-that-is-quite-long,OU=a-department-that-is-also-long,O=Example"
    acls.create(
        [
            AclRule("CLUSTER", "kafka-cluster", "LITERAL", "User:console", "ALLOW", "ALL"),
            AclRule("TOPIC", "*", "LITERAL", "User:console", "ALLOW", "ALL"),
            AclRule("TOPIC", "orders", "PREFIXED", "User:alice", "ALLOW", "READ"),
            AclRule("TOPIC", "orders", "LITERAL", "User:bob", "DENY", "WRITE", "10.0.0.1"),
            AclRule("TOPIC", "payments", "LITERAL", "User:bob", "ALLOW", "WRITE"),
            AclRule("GROUP", "readers", "LITERAL", "User:alice", "ALLOW", "READ"),
            *(AclRule("TOPIC", name, "LITERAL", long, "ALLOW", "ALTER_CONFIGS") for name in TOPICS),
            AclRule("TOPIC", "*", "LITERAL", "User:*", "DENY", "DELETE"),
        ]
    )
    at_ms = 1_780_000_000_000
    acls.denied = (
        Denials("User:bob", 1_234, at_ms, "User:bob", "10.0.0.1", "WRITE", "TOPIC", "orders"),
        Denials(long, 3, at_ms, long, "10.0.0.2", "DESCRIBE", "TOPIC", TOPICS[1]),
    )


def write_in_transactions(cluster: FakeGateway) -> None:
    """One of an hour ago that no coordinator knows of, and one that goes on."""
    now_ms, producers = wall_ms(), cluster.producers
    producers.write("orders", ProducerView(0, 7_777, 3, 12, now_ms - 3_600_000, 1, 0))
    producers.write("orders", ProducerView(0, 9_001, 0, 4, now_ms - 2_000, -1, 3))
    producers.write("orders", ProducerView(0, 9_002, 12, -1, None, 0, None))
    places = frozenset({("orders", 0)})
    long = "payments-with-a-transactional-id-that-is-quite-long-" * 4
    producers.coordinate(TransactionView(long, 2, 9_001, 0, "Ongoing", 60_000, now_ms - 5_000, places))


def small_ensemble() -> FakeZooKeeper:
    return FakeZooKeeper(wall_ms)
