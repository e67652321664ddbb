"""How the brokers of a run are configured: timeouts so short that much happens in little time, the rest drawn."""

from random import Random

SESSION_TIMEOUT_MS = 3_000
#: Of members of consumer groups (KIP-848).
CONSUMER_SESSION_TIMEOUT_MS = 3_000


def draw_brokers(random: Random) -> int:
    """Replication factors are 3."""
    return random.choice((3, 3, 3, 4, 5))


def draw_upgrade(random: Random) -> float | None:
    """After how many seconds of load the cluster finalizes `transaction.version` 2; None: it has since it was made."""
    return random.choice((None, random.uniform(0.5, 6)))


def draw_settings(random: Random) -> dict[str, object]:
    return {
        "zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS,
        "zookeeper.connection.timeout.ms": 6_000,
        "replica.lag.time.max.ms": random.choice((500, 2_000, 2_000, 5_000)),
        "replica.socket.timeout.ms": 4_000,
        "replica.fetch.wait.max.ms": random.choice((50, 200, 500)),
        "replica.fetch.max.bytes": random.choice((300, 2_000, 1_048_576)),
        "replica.high.watermark.checkpoint.interval.ms": random.choice((300, 1_000, 5_000)),
        "log.flush.offset.checkpoint.interval.ms": 2_000,
        "log.initial.task.delay.ms": 500,
        "log.segment.bytes": random.choice((600, 4_096, 1_048_576)),
        "log.index.interval.bytes": random.choice((0, 512, 4_096)),
        "log.cleaner.backoff.ms": 700,
        "log.cleaner.dedupe.buffer.size": 1_048_576,
        "log.retention.check.interval.ms": 1_500,
        "min.insync.replicas": random.choice((1, 2)),
        "offsets.topic.num.partitions": 2,
        "offsets.topic.segment.bytes": random.choice((600, 4_096, 1_048_576)),
        "transaction.state.log.num.partitions": 2,
        "transaction.state.log.segment.bytes": random.choice((600, 4_096, 1_048_576)),
        "group.min.session.timeout.ms": 1_000,
        "group.initial.rebalance.delay.ms": 300,
        "group.consumer.session.timeout.ms": CONSUMER_SESSION_TIMEOUT_MS,
        "group.consumer.heartbeat.interval.ms": 400,
        "group.consumer.assignment.interval.ms": random.choice((0, 200, 1_000)),
        "log.segment.delete.delay.ms": 1_000,
    }
