"""Every tool of Kafka 4.4 with a command for it, and what that prints here: a table of compatibility.md.

`{servers}`, `{topic}`, `{other}` (another topic), `{logs}` and `{directory}` stand in arguments for those of the test.
"""

from typing import NamedTuple

_TOOLS = "org.apache.kafka.tools"


class ToolCommand(NamedTuple):
    """One command of a tool, and a part of what it prints."""

    #: As Kafka's own script is called.
    tool: str
    #: Class that the script runs, below org.apache.kafka.tools unless it names another package.
    class_name: str
    arguments: str
    prints: str
    #: What the command needs that is not here, in a sentence; empty where it works.
    needs: str = ""
    stdin: str = ""
    seconds: int = 60

    @property
    def program(self) -> str:
        return self.class_name if self.class_name.startswith("kafka.") else f"{_TOOLS}.{self.class_name}"

    def words(self, places: dict[str, str]) -> list[str]:
        """Return what `tests/interop/java/Tools.java` reads: seconds, input, class, arguments."""
        arguments = [word.format_map(places) for word in self.arguments.split()]
        return [str(self.seconds), self.stdin, self.program, *arguments]


_TO = "--bootstrap-server {servers}"
_NO_SHARE_GROUPS = "share groups (KIP-932), which are not there yet"
_NO_STREAMS_GROUPS = "streams groups (KIP-1071), which are not there yet"
_NO_QUORUM = "KRaft's quorum; the console's page *ZooKeeper* shows the ensemble that is here in its place"

COMMANDS: tuple[ToolCommand, ...] = (
    ToolCommand(
        "kafka-topics", "TopicCommand", f"{_TO} --create --topic {{topic}} --replica-assignment 1,1", "Created topic"
    ),
    ToolCommand("kafka-topics", "TopicCommand", f"{_TO} --create --topic {{other}} --partitions 1", "Created topic"),
    ToolCommand("kafka-topics", "TopicCommand", f"{_TO} --describe --topic {{topic}}", "PartitionCount: 2"),
    ToolCommand(
        "kafka-console-producer",
        "ConsoleProducer",
        f"{_TO} --topic {{topic}} --reader-property parse.key=true --reader-property key.separator=:",
        "",
        stdin="a:1\nb:2\n",
    ),
    ToolCommand(
        "kafka-producer-perf-test",
        "ProducerPerformance",
        f"{_TO} --topic {{topic}} --num-records 100 --record-size 10 --throughput -1",
        "100 records sent",
    ),
    ToolCommand(
        "kafka-console-consumer",
        "consumer.ConsoleConsumer",
        f"{_TO} --topic {{topic}} --from-beginning --max-messages 102 --timeout-ms 30000 --group tools",
        "Processed a total of 102 messages",
    ),
    ToolCommand(
        "kafka-consumer-perf-test",
        "ConsumerPerformance",
        f"{_TO} --topic {{topic}} --num-records 50 --timeout 30000",
        "nMsg.sec",
    ),
    ToolCommand(
        "kafka-configs",
        "ConfigCommand",
        f"{_TO} --describe --all --entity-type topics --entity-name {{topic}}",
        "retention.ms=604800000",
    ),
    ToolCommand(
        "kafka-configs",
        "ConfigCommand",
        f"{_TO} --alter --entity-type topics --entity-name {{topic}} --add-config retention.ms=100000000",
        "Completed updating config for topic {topic}.",
    ),
    ToolCommand(
        "kafka-configs", "ConfigCommand", f"{_TO} --describe --entity-type brokers --entity-name 1", "broker 1"
    ),
    ToolCommand("kafka-acls", "AclCommand", f"{_TO} --list", ""),
    ToolCommand("kafka-cluster", "ClusterTool", f"cluster-id {_TO}", "Cluster ID: "),
    ToolCommand("kafka-cluster", "ClusterTool", f"list-endpoints {_TO} --include-fenced-brokers", "unfenced"),
    ToolCommand("kafka-cluster", "ClusterTool", f"api-versions {_TO}", "ListConfigResources(74): 0 to 1"),
    ToolCommand(
        "kafka-cluster",
        "ClusterTool",
        f"unregister {_TO} --id 99",
        "Broker ID 99 is not currently registered",
    ),
    ToolCommand("kafka-broker-api-versions", "BrokerApiVersionsCommand", _TO, "Fetch(1): 4 to 18"),
    ToolCommand("kafka-features", "FeatureCommand", f"{_TO} describe", "group.version"),
    ToolCommand(
        "kafka-metadata-quorum", "MetadataQuorumCommand", f"{_TO} describe --status", "DESCRIBE_QUORUM", _NO_QUORUM
    ),
    ToolCommand("kafka-get-offsets", "GetOffsetShell", f"{_TO} --topic {{topic}}", "{topic}:0:"),
    ToolCommand("kafka-get-offsets", "GetOffsetShell", f"{_TO} --topic {{topic}} --time -6", ""),
    ToolCommand("kafka-log-dirs", "LogDirsCommand", f"{_TO} --describe --topic-list {{topic}}", "{topic}-0"),
    ToolCommand(
        "kafka-dump-log",
        "DumpLogSegments",
        "--files {logs}/{topic}-0/00000000000000000000.log --print-data-log",
        "payload: ",
    ),
    ToolCommand(
        "kafka-leader-election",
        "LeaderElectionCommand",
        f"{_TO} --election-type PREFERRED --topic {{topic}} --partition 0",
        "already",
    ),
    ToolCommand("kafka-reassign-partitions", "reassign.ReassignPartitionsCommand", f"{_TO} --list", "reassignments"),
    ToolCommand(
        "kafka-reassign-partitions",
        "reassign.ReassignPartitionsCommand",
        f"{_TO} --execute --reassignment-json-file {{directory}}/move.json --disallow-replication-factor-change",
        "Successfully started partition reassignment",
    ),
    ToolCommand(
        "kafka-delete-records",
        "DeleteRecordsCommand",
        f"{_TO} --offset-json-file {{directory}}/delete.json",
        "low_watermark: 1",
    ),
    ToolCommand(
        "kafka-transactions",
        "TransactionsCommand",
        f"{_TO} list --transactional-id-pattern t.*",
        "TransactionalId",
    ),
    ToolCommand("kafka-transactions", "TransactionsCommand", f"{_TO} find-hanging --broker-id 1", "Topic"),
    ToolCommand("kafka-groups", "GroupsCommand", f"{_TO} --list", "tools"),
    ToolCommand(
        "kafka-consumer-groups",
        "consumer.group.ConsumerGroupCommand",
        f"{_TO} --describe --group tools --offsets",
        "{topic}",
    ),
    ToolCommand(
        "kafka-consumer-groups",
        "consumer.group.ConsumerGroupCommand",
        f"{_TO} --delete --group tools",
        "was successful",
    ),
    ToolCommand("kafka-client-metrics", "ClientMetricsCommand", f"{_TO} --list", ""),
    ToolCommand(
        "kafka-delegation-tokens",
        "DelegationTokenCommand",
        f"{_TO} --describe --command-config {{directory}}/empty.properties",
        "Delegation Token requests are not allowed on PLAINTEXT",
        "a login, as with Kafka",
    ),
    ToolCommand(
        "kafka-streams-application-reset",
        "StreamsResetter",
        f"{_TO} --application-id gone --input-topics {{topic}} --dry-run",
        "Reset-offsets for input topics",
    ),
    ToolCommand(
        "kafka-verifiable-producer",
        "VerifiableProducer",
        f"{_TO} --topic {{topic}} --max-messages 5 --throughput -1",
        "startup_complete",
    ),
    ToolCommand(
        "kafka-verifiable-consumer",
        "VerifiableConsumer",
        f"{_TO} --topic {{topic}} --group-id verifiable --max-messages 5 --reset-policy earliest",
        "records_consumed",
    ),
    ToolCommand(
        "kafka-e2e-latency",
        "EndToEndLatency",
        f"{_TO} --topic {{other}} --num-records 20 --producer-acks 1 --record-size 10",
        "Avg latency",
    ),
    ToolCommand(
        "kafka-share-groups",
        "consumer.group.ShareGroupCommand",
        f"{_TO} --describe --group none",
        "SHARE_GROUP_DESCRIBE",
        _NO_SHARE_GROUPS,
    ),
    ToolCommand("kafka-share-groups", "consumer.group.ShareGroupCommand", f"{_TO} --list", ""),
    ToolCommand(
        "kafka-console-share-consumer",
        "consumer.ConsoleShareConsumer",
        f"{_TO} --topic {{topic}} --timeout-ms 5000",
        "Processed a total of 0 messages",
        _NO_SHARE_GROUPS,
    ),
    ToolCommand(
        "kafka-streams-groups",
        "streams.StreamsGroupCommand",
        f"{_TO} --describe --group none",
        "STREAMS_GROUP_DESCRIBE",
        _NO_STREAMS_GROUPS,
    ),
    ToolCommand("kafka-streams-groups", "streams.StreamsGroupCommand", f"{_TO} --list", ""),
    ToolCommand("kafka-storage", "kafka.tools.StorageTool", "random-uuid", ""),
)

#: Tools that need a process of their own or another server, and why they are not run.
NOT_RUN = {
    "kafka-replica-verification": "a process of its own: it runs until it is stopped",
    "kafka-share-consumer-perf-test": _NO_SHARE_GROUPS,
    "kafka-verifiable-share-consumer": _NO_SHARE_GROUPS,
    "kafka-jmx": "Java's JMX; brokers here have `/metrics`",
    "kafka-metadata-shell": "KRaft's metadata log",
    "kafka-server-start": "KRaft; brokers here are started by `barnabas broker`",
}


def table() -> str:
    """Return the rows of the documentation: each tool, what works, and what the rest of it needs."""
    needs: dict[str, set[str]] = {}
    for command in COMMANDS:
        needs.setdefault(command.tool, set()).add(command.needs)
    rows = {
        tool: "works" if sentences == {""} else f"needs {', '.join(sorted(filter(None, sentences)))}"
        for tool, sentences in needs.items()
    }
    rows |= {tool: f"needs {what}" for tool, what in NOT_RUN.items()}
    return "".join(f"| `{tool}` | {what} |\n" for tool, what in sorted(rows.items()))
