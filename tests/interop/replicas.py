"""Looking at the replicas of a partition: what clients are told, and what lies on the disks."""

from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import Cluster


def partition_metadata(cluster: Cluster, topic: str, partition: int = 0):
    """What any living broker tells of the partition: .leader, .isrs, .replicas; None while it tells nothing."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    partitions = client.list_topics(topic, timeout=10).topics[topic].partitions
    return partitions.get(partition)


def isr_of(cluster: Cluster, topic: str, partition: int = 0) -> set[int]:
    result = partition_metadata(cluster, topic, partition)
    return set(result.isrs) if result else set()


def leader_of(cluster: Cluster, topic: str, partition: int = 0) -> int:
    result = partition_metadata(cluster, topic, partition)
    return result.leader if result else -1


def log_bytes(cluster: Cluster, topic: str, partition: int = 0) -> dict[int, bytes]:
    """The records of each replica as they lie in its files, by broker."""
    by_broker = {}
    for broker in cluster.brokers:
        directory = broker.directory / "logs" / f"{topic}-{partition}"
        if directory.exists():
            by_broker[broker.broker_id] = b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
    return by_broker
