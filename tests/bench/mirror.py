"""How fast one task copies a topic from one cluster into another: MB/s, beside the brokers of both.

python -m tests.bench.mirror [MEGABYTES]
"""

import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.common.types import TopicPartition
from broker.mirror.lane import Flow
from broker.mirror.records import TOPIC
from broker.mirror.task import MirrorTask, TaskSettings
from tests.barnabas_cluster import running_cluster
from tests.zookeeper_server import running_zookeeper

PARTITIONS = 4
VALUE = bytes(range(256)) * 4


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        with (
            running_zookeeper(root / "zookeeper") as zookeeper,
            running_cluster(root / "north", zookeeper=zookeeper) as north,
            running_cluster(root / "south", zookeeper=zookeeper) as south,
        ):
            for linger_ms, batch in ((5, 1_000_000), (0, 16_384)):
                topic = f"t{batch}"
                fill(north, topic, megabytes, linger_ms, batch)
                for exactly_once in (False, True):
                    copy(north, south, topic, megabytes, batch, exactly_once)


def fill(north, topic: str, megabytes: int, linger_ms: int, batch: int) -> None:
    create(north, topic)
    producer = Producer(
        {"bootstrap.servers": north.bootstrap_servers, "linger.ms": linger_ms, "batch.size": batch,
         "queue.buffering.max.messages": 200_000}
    )  # fmt: skip
    for number in range(megabytes * 1000):
        while True:
            try:
                producer.produce(topic, VALUE[:1000], partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.05)
    producer.flush(120)


def create(cluster, topic: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=config)])[topic].result(20)


def copy(north, south, topic: str, megabytes: int, batch: int, exactly_once: bool) -> None:
    target = f"{topic}-{exactly_once}"
    create(south, target)
    admin = AdminClient({"bootstrap.servers": south.bootstrap_servers, "log_level": 0})
    if TOPIC not in admin.list_topics(timeout=10).topics:
        admin.create_topics([NewTopic(TOPIC, 1, 1, config={"cleanup.policy": "compact"})])[TOPIC].result(20)
    ids = [
        AdminClient({"bootstrap.servers": item.bootstrap_servers, "log_level": 0}).list_topics(timeout=10).cluster_id
        for item in (north, south)
    ]
    settings = TaskSettings(
        Flow(f"{target}", ids[0], ids[1], exactly_once),
        {TopicPartition(topic, number): target for number in range(PARTITIONS)},
        1.0,
        from_end=False,
    )
    connects = [
        lambda side=side: ClusterConnections(parse_bootstrap_servers(side.bootstrap_servers)) for side in (north, south)
    ]
    stopping = threading.Event()
    task = MirrorTask(settings, *connects, stopping.is_set)
    own, brokers = psutil.Process(), [psutil.Process(item.brokers[0].process.pid) for item in (north, south)]
    before = [sum(broker.cpu_times()[:2]) for broker in (own, *brokers)]
    started = time.monotonic()
    while sum(item.records for item in task.copies.values()) < megabytes * 1000:
        task.step()
        assert task.trouble is None, task.trouble
    took = time.monotonic() - started
    used = [sum(broker.cpu_times()[:2]) - at for broker, at in zip((own, *brokers), before, strict=True)]
    task.close()
    mode = "exactly once" if exactly_once else "at least once"
    print(
        f"batches of {batch:>9,} · {mode:13} · {megabytes / took:6.1f} MB/s · CPU s a GB: mirror "
        f"{used[0] * 1000 / megabytes:.1f}, source {used[1] * 1000 / megabytes:.1f}, "
        f"target {used[2] * 1000 / megabytes:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
