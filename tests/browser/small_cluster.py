"""What pages are looked at with: short names and long ones, a group that lags, records."""

from console.gateway.fake import FakeGateway, wall_ms
from console.gateway.fake_zookeeper import FakeZooKeeper

TOPICS = ("orders", "a-topic-with-a-name-that-is-quite-long-" * 5)
GROUPS = ("readers", "a.group.with.a.name.that.is.quite.long." * 5)


def small_cluster() -> FakeGateway:
    cluster = FakeGateway(broker_count=3)
    for name in TOPICS:
        cluster.create_topic(name, 1, 2)
        for number in range(5):
            cluster.produce_record(name, 0, b"a-key", b'{"number": %d}' % number, (("header", b"value"),))
    for group in GROUPS:
        cluster.commit(group, "orders", 0, 2)
    return cluster


def small_ensemble() -> FakeZooKeeper:
    return FakeZooKeeper(wall_ms)
