"""Looking at the replicas of a partition: what clients are told, and what lies on the disks."""

from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import Cluster


def partition_metadata(cluster: Cluster, topic: str, partition: int = 0):
    """What any living broker tells of the partition: .leader, .isrs, .replicas; None while it tells nothing."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    found = client.list_topics(topic, timeout=10).topics[topic].partitions
    return found.get(partition)


def isr_of(cluster: Cluster, topic: str, partition: int = 0) -> set[int]:
    found = partition_metadata(cluster, topic, partition)
    return set(found.isrs) if found else set()


def leader_of(cluster: Cluster, topic: str, partition: int = 0) -> int:
    found = partition_metadata(cluster, topic, partition)
    return found.leader if found else -1


def log_bytes(cluster: Cluster, topic: str, partition: int = 0) -> dict[int, bytes]:
    """The records of each replica as they lie in its files, by broker."""
    found = {}
    for broker in cluster.brokers:
        directory = broker.directory / "logs" / f"{topic}-{partition}"
        if directory.exists():
            found[broker.broker_id] = b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
    return found
