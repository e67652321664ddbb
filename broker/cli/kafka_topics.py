"""`kafka-topics`: create, list, describe, enlarge and delete topics, with the options of both generations."""

import sys

from broker.cli.frame.answers import at_least_one, check, id_of_text, int32, pair, pattern, text_of_id
from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.topics.topic_listing import FILTERS, ListedPartition, TopicState, as_json, lines
from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed
from broker.common.errors import ApiError, ErrorCode
from broker.protocol.messages.metadata import MetadataResponseTopic

_ACTIONS = ("create", "list", "describe", "alter", "delete")
_DESCRIBE = ("describe",)
_FAILED = "Error while executing topic command : "
_TIMEOUT_MS = 60_000
#: DescribeConfigs: what a topic is, and sources that are no default: the topic, one broker, all brokers, its file.
_TOPIC_RESOURCE = 2
_TOPIC_SOURCE = 1
_SET_SOURCES = (1, 2, 3, 4)


def run(arguments: Arguments) -> None:
    action = next(action for action in _ACTIONS if arguments[action])
    if action not in ("list", "describe") and not arguments["topic"]:
        raise UsageError('Missing required argument "[topic]"')
    if action == "alter" and not (arguments["zookeeper"] or arguments.given("partitions")):
        _refuse_settings(arguments)
        raise UsageError('Missing required argument "[partitions]"')
    if arguments.given("replica-assignment") and (arguments.given("partitions") and action == "create"):
        raise UsageError('Option "[replica-assignment]" can\'t be used with option "[partitions]"')
    try:
        with connected(arguments) as cluster:
            _DO[action](cluster, arguments)
    except ApiError as error:
        raise CommandError(f"{_FAILED}{error.message}", on_stdout=True) from None


def _create(cluster: ClusterConnections, arguments: Arguments) -> None:
    from broker.protocol.messages.create_topics import (
        CreatableReplicaAssignment,
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
    )

    name, placed = arguments["topic"], arguments["replica-assignment"]
    if arguments.given("replication-factor") and not 0 < arguments["replication-factor"] < 1 << 15:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "The replication factor must be between 1 and 32767 inclusive"
        )
    if arguments.given("partitions") and arguments["partitions"] < 1:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, "The partitions must be greater than 0")
    topic = CreatableTopic(
        name=name,
        num_partitions=-1 if placed else arguments["partitions"] or -1,
        replication_factor=-1 if placed else arguments["replication-factor"] or -1,
        assignments=[
            CreatableReplicaAssignment(partition_index=at, broker_ids=replicas)
            for at, replicas in enumerate(placed or ())
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in arguments["config"]],
    )
    if "." in name or "_" in name:
        print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could "
            "collide. To avoid issues it is best to use either, but not both."
        )
    answer = cluster.ask_controller(CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS))
    (created,) = answer.topics
    if created.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
        if arguments["if-not-exists"]:
            return
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    check(created.error_code, created.error_message)
    if wants_json(arguments):
        print_json({"topic": name, "topicId": text_of_id(created.topic_id), "partitions": created.num_partitions})
    else:
        print(f"Created topic {name}.")


def _list(cluster: ClusterConnections, arguments: Arguments) -> None:
    names = list(_named(cluster, arguments))
    if wants_json(arguments):
        print_json(names)
    else:
        sys.stdout.write("".join(f"{name}\n" for name in names))


def _describe(cluster: ClusterConnections, arguments: Arguments) -> None:
    described = _named(cluster, arguments)
    if not described:
        _refuse_absent(arguments)
        return
    states = _states(cluster, described)
    if wants_json(arguments):
        print_json(as_json(states))
        return
    filters = [name for name in FILTERS if arguments[name]]
    for line in lines(states, filters, overridden_only=arguments["topics-with-overrides"]):
        print(line)


def _alter(cluster: ClusterConnections, arguments: Arguments) -> None:
    """Add partitions; settings are changed only in the words of the ZooKeeper generation, as Kafka does."""
    warns = bool(arguments["zookeeper"])
    _refuse_settings(arguments)
    topics = _named(cluster, arguments)
    if not topics:
        _refuse_absent(arguments)
    for name, topic in topics.items():
        if arguments.given("config") or arguments.given("delete-config"):
            _alter_configs(cluster, name, arguments)
        if arguments.given("partitions"):
            _enlarge(cluster, name, len(topic.partitions), arguments, warns=warns)


def _refuse_settings(arguments: Arguments) -> None:
    if not arguments["zookeeper"] and (arguments.given("config") or arguments.given("delete-config")):
        raise UsageError(
            'Option combination "[bootstrap-server], [config]" can\'t be used with option "[alter]" '
            "(kafka-configs alters the settings of topics)"
        )


def _enlarge(cluster: ClusterConnections, topic: str, count: int, arguments: Arguments, *, warns: bool) -> None:
    from broker.protocol.messages.create_partitions import (
        CreatePartitionsAssignment,
        CreatePartitionsRequest,
        CreatePartitionsTopic,
    )

    if warns:
        print(
            "WARNING: If partitions are increased for a topic that has a key, the partition logic or ordering of the "
            "messages will be affected"
        )
    placed = arguments["replica-assignment"]
    added = None
    if placed:
        added = [CreatePartitionsAssignment(broker_ids=replicas) for replicas in placed[count:]]
    wanted = CreatePartitionsTopic(name=topic, count=arguments["partitions"], assignments=added)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS, validate_only=False)
    (result,) = cluster.ask_controller(request).results
    check(result.error_code, result.error_message)
    if warns:
        print("Adding partitions succeeded!")


def _alter_configs(cluster: ClusterConnections, topic: str, arguments: Arguments) -> None:
    from broker.protocol.messages.incremental_alter_configs import (
        AlterableConfig,
        AlterConfigsResource,
        ConfigOperation,
        IncrementalAlterConfigsRequest,
    )

    print(
        "WARNING: Altering topic configuration from this script has been deprecated and may be removed in future "
        "releases.\n         Going forward, please use kafka-configs.sh for this functionality"
    )
    changes = [
        AlterableConfig(name=key, config_operation=ConfigOperation.SET, value=value)
        for key, value in arguments["config"]
    ] + [
        AlterableConfig(name=key, config_operation=ConfigOperation.DELETE, value=None)
        for key in arguments["delete-config"]
    ]
    resource = AlterConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=changes)
    (result,) = cluster.ask_controller(IncrementalAlterConfigsRequest(resources=[resource])).responses
    check(result.error_code, result.error_message)
    print(f"Updated config for topic {topic}.")


def _delete(cluster: ClusterConnections, arguments: Arguments) -> None:
    from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

    names = list(_named(cluster, arguments))
    if not names:
        _refuse_absent(arguments)
        return
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names], topic_names=names, timeout_ms=_TIMEOUT_MS
    )
    for result in cluster.ask_controller(request).responses:
        check(result.error_code, result.error_message)
        if arguments["zookeeper"]:
            print(f"Topic {result.name} is marked for deletion.")
            print("Note: This will have no impact if delete.topic.enable is not set to true.")


def _named(cluster: ClusterConnections, arguments: Arguments) -> dict[str, MetadataResponseTopic]:
    """Return the topics that are meant, by name: of --topic-id, of --topic (a regular expression of whole names), or
    all.
    """
    topics = {topic.name: topic for topic in cluster.describe_topics(None).topics if topic.name}
    if arguments.given("topic-id"):
        topics = {name: topic for name, topic in topics.items() if topic.topic_id == arguments["topic-id"]}
    elif arguments["topic"]:
        wanted = pattern(arguments["topic"])
        topics = {name: topic for name, topic in topics.items() if wanted.fullmatch(name)}
    if arguments["exclude-internal"]:
        topics = {name: topic for name, topic in topics.items() if not topic.is_internal}
    return dict(sorted(topics.items()))


def _refuse_absent(arguments: Arguments) -> None:
    if arguments["if-exists"] or not (arguments["topic"] or arguments.given("topic-id")):
        return
    named = text_of_id(arguments["topic-id"]) if arguments.given("topic-id") else arguments["topic"]
    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{named}' does not exist as expected")


def _states(cluster: ClusterConnections, topics: dict[str, MetadataResponseTopic]) -> list[TopicState]:
    configs, moves, eligible = _configs(cluster, list(topics)), _moves(cluster), _eligible(cluster, list(topics))
    states = []
    for name, topic in topics.items():
        partitions = tuple(
            ListedPartition(
                partition.partition_index,
                partition.leader_id,
                tuple(partition.replica_nodes),
                tuple(partition.isr_nodes),
                *moves.get((name, partition.partition_index), ((), ())),
                *eligible.get((name, partition.partition_index), (None, None)),
            )
            for partition in sorted(topic.partitions, key=lambda response_partition: response_partition.partition_index)
        )
        values, own = configs.get(name, ({}, frozenset()))
        states.append(TopicState(name, text_of_id(topic.topic_id), partitions, values, own))
    return states


def _configs(cluster: ClusterConnections, names: list[str]) -> dict[str, tuple[dict[str, str], frozenset[str]]]:
    from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

    resources = [
        DescribeConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None)
        for name in names
    ]
    configs: dict[str, tuple[dict[str, str], frozenset[str]]] = {}
    for result in cluster.ask_any(DescribeConfigsRequest(resources=resources)).results:
        # A topic may have been deleted since it was listed.
        values = {
            config.name: "" if config.value is None else config.value
            for config in result.configs
            if config.config_source in _SET_SOURCES
        }
        own = frozenset(config.name for config in result.configs if config.config_source == _TOPIC_SOURCE)
        configs[result.resource_name] = values, own
    return configs


def _moves(cluster: ClusterConnections) -> dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return what the reassignments in progress add and remove; nothing from brokers before 2.4."""
    from broker.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest

    try:
        answer = cluster.ask_controller(ListPartitionReassignmentsRequest())
    except ApiNotServed:
        return {}
    return {
        (topic.name, partition.partition_index): (tuple(partition.adding_replicas), tuple(partition.removing_replicas))
        for topic in answer.topics
        for partition in topic.partitions
    }


def _eligible(
    cluster: ClusterConnections, names: list[str]
) -> dict[tuple[str, int], tuple[tuple[int, ...] | None, tuple[int, ...] | None]]:
    """Return which replicas may lead besides those in sync, and the last that might; empty for older brokers."""
    from broker.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest

    eligible = {}
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name) for name in names])
    while True:
        try:
            answer = cluster.ask_any(request)
        except ApiNotServed:
            return {}
        for topic in answer.topics:
            for partition in topic.partitions:
                ids = (partition.eligible_leader_replicas, partition.last_known_elr)
                known, last = (None if some is None else tuple(some) for some in ids)
                eligible[topic.name or "", partition.partition_index] = known, last
        if answer.next_cursor is None:
            return eligible
        request.cursor = answer.next_cursor


def _assignment(text: str) -> list[list[int]]:
    """Parse `1:2,2:3`: for each partition its replicas."""
    try:
        return [[int(broker) for broker in part.split(":")] for part in text.split(",")]
    except ValueError:
        raise ValueError("write broker ids as 1:2,2:3") from None


_DO = {"create": _create, "list": _list, "describe": _describe, "alter": _alter, "delete": _delete}


COMMAND = Command(
    name="kafka-topics",
    summary="Create, delete, describe or change topics.",
    run=run,
    exactly_one_of=(_ACTIONS,),
    actions_named="--list, --describe, --create, --alter or --delete",
    options=(
        *ADMIN,
        OUTPUT,
        Option("create", "Create a topic."),
        Option("list", "List all topics, or those that --topic matches."),
        Option("describe", "Tell partitions, leaders, replicas and settings."),
        Option("alter", "Add partitions."),
        Option("delete", "Delete topics."),
        Option("topic", "Its name; but for --create a regular expression of whole names, a comma says `or`.", "TOPIC"),
        Option("topic-id", "The id of a topic, for --describe.", "ID", parse=id_of_text),
        Option("partitions", "How many the topic shall have.", "N", parse=int32, only_with=("create", "alter")),
        Option("replication-factor", "Replicas of each partition.", "N", parse=int32, only_with=("create",)),
        Option(
            "replica-assignment",
            "Brokers of each partition, preferred leader first.",
            "1:2,2:3",
            parse=_assignment,
            only_with=("create", "alter"),
        ),
        Option(
            "config",
            "A setting of the topic that is created.",
            "KEY=VALUE",
            parse=pair,
            repeatable=True,
            only_with=("create", "alter"),
        ),
        Option("delete-config", "With --alter --zookeeper: a setting to take away.", "KEY", repeatable=True),
        Option(
            "under-replicated-partitions", "Only partitions whose replicas are not all in sync.", only_with=_DESCRIBE
        ),
        Option("unavailable-partitions", "Only partitions without a leader.", only_with=_DESCRIBE),
        Option(
            "under-min-isr-partitions",
            "Only partitions with fewer in sync than min.insync.replicas.",
            only_with=_DESCRIBE,
        ),
        Option(
            "at-min-isr-partitions",
            "Only partitions with as many in sync as min.insync.replicas.",
            only_with=_DESCRIBE,
        ),
        Option(
            "topics-with-overrides",
            "Only topics with settings of their own, without partitions.",
            only_with=_DESCRIBE,
        ),
        Option("if-exists", "Be silent if there is no such topic.", only_with=("alter", "delete", "describe")),
        Option("if-not-exists", "Be silent if the topic is there already.", only_with=("create",)),
        Option(
            "exclude-internal", "Leave out topics that brokers keep for themselves.", only_with=("list", "describe")
        ),
        Option("force", "", without_effect="nothing is asked for that could be skipped."),
        Option("disable-rack-aware", "", without_effect="racks count wherever brokers name theirs."),
        Option(
            "partition-size-limit-per-response",
            "",
            "N",
            parse=at_least_one,
            without_effect="the whole answer is read at once.",
        ),
    ),
    examples=(
        Example(
            "kafka-topics --bootstrap-server localhost:9092 --create --topic orders --partitions 4",
            "create a topic",
        ),
        Example("kafka-topics --bootstrap-server localhost:9092 --describe --topic orders", "leader, replicas and ISR"),
        Example("kafka-topics --zookeeper localhost:2181 --list", "the same cluster, found as before Kafka 3.0"),
    ),
)
