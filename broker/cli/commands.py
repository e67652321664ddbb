"""The names of Kafka's commands, each with the module that declares it (`COMMAND`). Only the one that is called is
imported."""

import importlib

from broker.cli.frame.declaration import Command

#: Name → module beside this one. A command that has several names is declared once.
NAMES = {
    "connect-distributed": "connect_distributed",
    "connect-mirror-maker": "connect_mirror_maker",
    "connect-standalone": "connect_standalone",
    "kafka-acls": "kafka_acls",
    "kafka-broker-api-versions": "kafka_broker_api_versions",
    "kafka-cluster": "kafka_cluster",
    "kafka-configs": "kafka_configs",
    "kafka-console-consumer": "kafka_console_consumer",
    "kafka-console-producer": "kafka_console_producer",
    "kafka-consumer-groups": "kafka_consumer_groups",
    "kafka-consumer-offset-checker": "kafka_consumer_offset_checker",
    "kafka-consumer-perf-test": "kafka_consumer_perf_test",
    "kafka-delegation-tokens": "kafka_delegation_tokens",
    "kafka-delete-records": "kafka_delete_records",
    "kafka-dump-log": "kafka_dump_log",
    "kafka-e2e-latency": "kafka_e2e_latency",
    "kafka-features": "kafka_features",
    "kafka-get-offsets": "kafka_get_offsets",
    "kafka-groups": "kafka_groups",
    "kafka-leader-election": "kafka_leader_election",
    "kafka-log-dirs": "kafka_log_dirs",
    "kafka-mirror-groups": "kafka_mirror_groups",
    "kafka-mirror-maker": "kafka_mirror_maker",
    "kafka-plan": "kafka_plan",
    "kafka-preferred-replica-election": "kafka_preferred_replica_election",
    "kafka-producer-perf-test": "kafka_producer_perf_test",
    "kafka-reassign-partitions": "kafka_reassign_partitions",
    "kafka-replica-verification": "kafka_replica_verification",
    "kafka-run-class": "kafka_run_class",
    "kafka-server-start": "kafka_server_start",
    "kafka-server-stop": "kafka_server_stop",
    "kafka-topics": "kafka_topics",
    "kafka-transactions": "kafka_transactions",
    "kafka-verifiable-consumer": "kafka_verifiable_consumer",
    "kafka-verifiable-producer": "kafka_verifiable_producer",
    "schema-registry-start": "schema_registry_start",
    "schema-registry-stop": "schema_registry_stop",
    "zkCli": "zk_cli",
    "zookeeper-server-start": "zookeeper_server_start",
    "zookeeper-server-stop": "zookeeper_server_stop",
    "zookeeper-shell": "zookeeper_shell",
}
ALL_NAMES = tuple(NAMES)


def load(name: str) -> Command:
    """KeyError for a name that is no command."""
    command: Command = importlib.import_module(f"broker.cli.{NAMES[name]}").COMMAND
    return command


def load_all() -> list[Command]:
    """Return every command once, under its first name."""
    by_module = {NAMES.get(name, name): name for name in reversed(ALL_NAMES)}
    return [load(name) for name in sorted(by_module.values())]
