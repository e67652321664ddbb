"""The classes that people start with kafka-run-class, by their Scala and their Java names. Pure.

Kafka moved its tools from kafka.tools and kafka.admin to org.apache.kafka.tools (KIP-906), so most have two names.
"""

_SCALA_AND_JAVA = {
    ("kafka.admin", "AclCommand"): "kafka-acls",
    ("kafka.admin", "BrokerApiVersionsCommand"): "kafka-broker-api-versions",
    ("kafka.admin", "ConfigCommand"): "kafka-configs",
    ("kafka.admin", "DeleteRecordsCommand"): "kafka-delete-records",
    ("kafka.admin", "FeatureCommand"): "kafka-features",
    ("kafka.admin", "LeaderElectionCommand"): "kafka-leader-election",
    ("kafka.admin", "LogDirsCommand"): "kafka-log-dirs",
    ("kafka.admin", "TopicCommand"): "kafka-topics",
    ("kafka.tools", "ClusterTool"): "kafka-cluster",
    ("kafka.tools", "ConsoleProducer"): "kafka-console-producer",
    ("kafka.tools", "ConsumerPerformance"): "kafka-consumer-perf-test",
    ("kafka.tools", "DumpLogSegments"): "kafka-dump-log",
    ("kafka.tools", "EndToEndLatency"): "kafka-e2e-latency",
    ("kafka.tools", "GetOffsetShell"): "kafka-get-offsets",
    ("kafka.tools", "MirrorMaker"): "kafka-mirror-maker",
    ("kafka.tools", "ProducerPerformance"): "kafka-producer-perf-test",
    ("kafka.tools", "ReplicaVerificationTool"): "kafka-replica-verification",
    ("kafka.tools", "TransactionsCommand"): "kafka-transactions",
    ("kafka.tools", "VerifiableConsumer"): "kafka-verifiable-consumer",
    ("kafka.tools", "VerifiableProducer"): "kafka-verifiable-producer",
}
#: Class → command.
COMMANDS = {
    **{f"{package}.{name}": command for (package, name), command in _SCALA_AND_JAVA.items()},
    **{f"org.apache.kafka.tools.{name}": command for (_, name), command in _SCALA_AND_JAVA.items()},
    "kafka.Kafka": "kafka-server-start",
    "kafka.admin.ConsumerGroupCommand": "kafka-consumer-groups",
    "kafka.admin.PreferredReplicaLeaderElectionCommand": "kafka-preferred-replica-election",
    "kafka.admin.ReassignPartitionsCommand": "kafka-reassign-partitions",
    "kafka.tools.ConsoleConsumer": "kafka-console-consumer",
    "kafka.tools.ConsumerOffsetChecker": "kafka-consumer-offset-checker",
    "kafka.tools.TestEndToEndLatency": "kafka-e2e-latency",
    "org.apache.kafka.clients.tools.ProducerPerformance": "kafka-producer-perf-test",
    "org.apache.kafka.clients.tools.VerifiableProducer": "kafka-verifiable-producer",
    "org.apache.kafka.connect.cli.ConnectDistributed": "connect-distributed",
    "org.apache.kafka.connect.cli.ConnectStandalone": "connect-standalone",
    "org.apache.kafka.tools.consumer.ConsoleConsumer": "kafka-console-consumer",
    "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand": "kafka-consumer-groups",
    "org.apache.kafka.tools.reassign.ReassignPartitionsCommand": "kafka-reassign-partitions",
    "org.apache.zookeeper.ZooKeeperMain": "zkCli",
    "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka": "zkCli",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain": "zookeeper-server-start",
}
#: These start with -daemon in front.
SERVERS = frozenset({"kafka-server-start", "zookeeper-server-start"})

_OF_ZOOKEEPER = (
    "its offsets lie in ZooKeeper, where no consumer since Kafka 0.9 keeps them; kafka-consumer-groups moves groups."
)
#: Class name without its package → why there is nothing to start, and what to do instead.
ABSENT = {
    "ExportZkOffsets": _OF_ZOOKEEPER,
    "ImportZkOffsets": _OF_ZOOKEEPER,
    "JmxTool": "there is no Java virtual machine to ask; brokers tell their figures by HTTP at metrics.listener.",
    "ReplayLogProducer": "kafka-console-consumer | kafka-console-producer copies records.",
    "SimpleConsumerShell": "kafka-console-consumer --partition N --offset N reads one partition.",
    "StateChangeLogMerger": "brokers write one log each, with the time first: sort -m merges them.",
    "StreamsResetter": "there are no Kafka Streams applications here; kafka-consumer-groups moves groups.",
    "UpdateOffsetsInZK": _OF_ZOOKEEPER,
    "VerifyConsumerRebalance": "kafka-consumer-groups --describe --members shows which member reads what.",
}
_PACKAGES = ("kafka.tools", "org.apache.kafka.tools")


def reason_of_absence(name: str) -> str | None:
    package, _, short = name.rpartition(".")
    return ABSENT.get(short) if package in _PACKAGES else None


def current_arguments(name: str, words: list[str]) -> list[str]:
    """Translate the arguments of an old class into those of today's command."""
    if name == "kafka.tools.TestEndToEndLatency" and len(words) == 6:
        brokers, _zookeeper, topic, count, _wait, acks = words
        return [brokers, topic, count, "all" if acks == "-1" else acks, "5"]
    return words
