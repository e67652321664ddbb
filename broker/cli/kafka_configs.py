"""`kafka-configs`: what is set for topics, brokers and their loggers; where brokers keep them, quotas and users too."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from broker.cli.configs.config_changes import (
    SCRAM,
    ConfigEdits,
    checked_keys,
    read_added,
    read_deleted,
    scram_deletions,
)
from broker.cli.configs.config_entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    ENTITY_TYPES,
    GROUPS,
    QUOTA_TYPES,
    TOPICS,
    USERS,
    Entity,
    entities,
)
from broker.cli.configs.config_listing import (
    as_json,
    head,
    in_order,
    own,
    quota_line,
    setting_line,
    zookeeper_line,
    zookeeper_quota_line,
)
from broker.cli.configs.quotas import alter_quotas, describe_quotas, new_upsertion
from broker.cli.frame.answers import check
from broker.cli.frame.connecting import ADMIN, client_config, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.frame.zookeeper import ZK_TLS, ZOOKEEPER_DIGEST, ZooKeeperAccess
from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.client.groups import GroupClient
from broker.common.errors import ApiError, ErrorCode
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest

if TYPE_CHECKING:
    from broker.zookeeper.session import ZooKeeperSession

_RESOURCES = {TOPICS: 2, BROKERS: 4, BROKER_LOGGERS: 8, CLIENT_METRICS: 16, GROUPS: 32}
#: Described in one request: an answer has every setting of each.
_AT_ONCE = 100
_OLD_WORDS = (
    "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.\n"
    "Use --bootstrap-server instead to specify a broker to connect to."
)


def run(arguments: Arguments) -> None:
    whose = _checked(arguments)
    changes = _changes(arguments) if arguments["alter"] else None
    if arguments["zookeeper"]:
        print(_OLD_WORDS)
    if arguments["zookeeper"] and changes is not None and _is_about_credentials(whose, changes):
        files = (arguments["zookeeper-digest-file"] or "", arguments["zk-tls-config-file"] or "")
        _alter_stored(ZooKeeperAccess(arguments["zookeeper"], *files), str(whose[0].name), changes)
        _print_altered(whose, arguments)
        return
    try:
        with connected(arguments) as cluster:
            if changes is not None:
                _alter(cluster, whose, changes, arguments)
            elif whose[0].type in QUOTA_TYPES:
                line = zookeeper_quota_line if arguments["zookeeper"] else quota_line
                describe_quotas(cluster, whose, line, as_json=wants_json(arguments))
            else:
                _describe(cluster, whose[0], arguments)
    except (ApiError, BrokerUnreachable) as error:
        raise CommandError(f"Error while executing config command: {error}") from None


def _checked(arguments: Arguments) -> list[Entity]:
    """Raises UsageError, CommandError in Kafka's words."""
    given = [name for name in ("add-config", "add-config-file", "delete-config") if arguments.given(name)]
    if arguments["bootstrap-controller"]:
        raise UsageError("There are no controllers apart from brokers here; name brokers with --bootstrap-server.")
    if arguments["describe"] and given:
        raise UsageError(f'Option "[describe]" can\'t be used with option "[{given[0]}]"')
    whose = entities(arguments)
    if not (arguments["bootstrap-server"] or arguments["zookeeper"]):
        raise CommandError("One of the required --bootstrap-server or --zookeeper arguments must be specified")
    if arguments["alter"]:
        if "add-config" in given and "add-config-file" in given:
            raise CommandError("Only one of --add-config or --add-config-file must be specified")
        if not given:
            raise CommandError(
                "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
            )
    return whose


def _changes(arguments: Arguments) -> ConfigEdits:
    added = checked_keys(dict(client_config(arguments["add-config-file"])))
    if arguments.given("add-config"):
        added = read_added(arguments["add-config"])
    deleted = [key for text in arguments["delete-config"] for key in read_deleted(text)]
    return ConfigEdits(added, tuple(dict.fromkeys(deleted)))


def _describe(cluster: ClusterConnections, entity: Entity, arguments: Arguments) -> None:
    described = []
    is_in_current_format = not (wants_json(arguments) or arguments["zookeeper"])
    for item, result in _described(cluster, _named(cluster, entity)):
        is_absent = item.type == TOPICS and result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if is_in_current_format and is_absent and not arguments["all"]:
            print(f"The topic '{item.name}' doesn't exist and doesn't have dynamic config.")
            continue
        if is_in_current_format:
            print(head(item, of_all=arguments["all"]))
        check(result.error_code, result.error_message)
        settings = in_order(result.configs) if arguments["all"] else own(item, result.configs)
        if wants_json(arguments):
            described.append(as_json(item, settings))
        elif arguments["zookeeper"]:
            print(zookeeper_line(item, settings))
        else:
            print("".join(f"{setting_line(setting)}\n" for setting in settings), end="")
    if wants_json(arguments):
        print_json(described)


def _named(cluster: ClusterConnections, entity: Entity) -> list[Entity]:
    """Return the entity itself, or all of its type: brokers are followed by the cluster-wide default."""
    if entity.name is not None:
        return [entity]
    if entity.type == TOPICS:
        return [Entity(TOPICS, topic) for topic in sorted(_topic_names(cluster))]
    if entity.type == GROUPS:
        return [Entity(GROUPS, group) for group in sorted(_group_names(cluster))]
    return [*(Entity(BROKERS, str(broker_id)) for broker_id in sorted(cluster.brokers())), Entity(BROKERS, "")]


def _topic_names(cluster: ClusterConnections) -> list[str]:
    return [topic.name for topic in cluster.describe_topics(None).topics if topic.name]


def _group_names(cluster: ClusterConnections) -> set[str]:
    """Return the groups there are, and those that anything is set for."""
    groups, of_type = {group.group_id for group in GroupClient(cluster).listed()}, _RESOURCES[GROUPS]
    try:
        response = cluster.ask_any(ListConfigResourcesRequest(resource_types=[of_type]))
    except ApiNotServed:
        return groups
    check(response.error_code)
    configured = (item for item in response.config_resources if item.resource_type == of_type)
    return groups | {item.resource_name for item in configured}


def _described(cluster: ClusterConnections, whose: Sequence[Entity]) -> Iterator[tuple[Entity, DescribeConfigsResult]]:
    """Yield descriptions; many topics are asked at once, each broker on its own."""
    at_once = 1 if whose and whose[0].type != TOPICS else _AT_ONCE
    for start in range(0, len(whose), at_once):
        batch = whose[start : start + at_once]
        resources = [
            DescribeConfigsResource(
                resource_type=_RESOURCES[item.type], resource_name=item.name or "", configuration_keys=None
            )
            for item in batch
        ]
        results = _ask(cluster, batch[0], DescribeConfigsRequest(resources=resources, include_synonyms=True)).results
        by_name = {result.resource_name: result for result in results}
        yield from ((entity, by_name[entity.name or ""]) for entity in batch if (entity.name or "") in by_name)


def _ask(
    cluster: ClusterConnections, entity: Entity, request: DescribeConfigsRequest | IncrementalAlterConfigsRequest
) -> Any:
    """Send the request; a broker's own settings are asked of that broker, because only it knows them."""
    if entity.type in (BROKERS, BROKER_LOGGERS) and entity.name:
        return cluster.ask_broker(int(entity.name), request)
    return cluster.ask_any(request)


def _alter(cluster: ClusterConnections, whose: Sequence[Entity], changes: ConfigEdits, arguments: Arguments) -> None:
    first = whose[0]
    if first.type in QUOTA_TYPES:
        alter_quotas(cluster, whose, changes)
    else:
        _alter_settings(cluster, first, changes)
    _print_altered(whose, arguments)


def _print_altered(whose: Sequence[Entity], arguments: Arguments) -> None:
    first = whose[0]
    if wants_json(arguments):
        print_json({"entityType": first.type, "entityName": first.name or None, "altered": True})
    elif arguments["zookeeper"]:
        names = ", ".join(
            entity.in_zookeeper_generation for entity in sorted(whose, key=lambda item: item.type != USERS)
        )
        print(f"Completed Updating config for entity: {names}.")
    elif first.name:
        print(f"Completed updating config for {first.kind} {first.name}.")
    else:
        print(f"Completed updating default config for {first.type} in the cluster.")


def _alter_settings(cluster: ClusterConnections, entity: Entity, changes: ConfigEdits) -> None:
    if entity.type == BROKER_LOGGERS:
        ((_, present),) = _described(cluster, [entity])
        check(present.error_code, present.error_message)
        known = {config.name for config in present.configs}
        if unknown := [key for key in (*changes.deleted, *changes.added) if key not in known]:
            raise CommandError(f"Invalid broker logger(s): {','.join(unknown)}")
    wanted = [
        AlterableConfig(name=key, config_operation=ConfigOperation.SET, value=value)
        for key, value in changes.added.items()
    ] + [AlterableConfig(name=key, config_operation=ConfigOperation.DELETE, value=None) for key in changes.deleted]
    resource = AlterConfigsResource(
        resource_type=_RESOURCES[entity.type], resource_name=entity.name or "", configs=wanted
    )
    (result,) = _ask(cluster, entity, IncrementalAlterConfigsRequest(resources=[resource])).responses
    check(result.error_code, result.error_message)


def _is_about_credentials(entities: Sequence[Entity], changes: ConfigEdits | None) -> bool:
    """Return whether the change is about SCRAM credentials only, which need no broker of their own."""
    is_one_user = [entity.type for entity in entities] == [USERS] and bool(entities[0].name)
    return is_one_user and changes is not None and bool(changes.of_scram()) and not changes.of_others()


def _alter_stored(zookeeper: ZooKeeperAccess, user: str, changes: ConfigEdits) -> None:
    """Write a user's SCRAM credentials straight into ZooKeeper, as a broker would.

    For the first user of a cluster, when no client can log in yet, and while no broker runs. Raises CommandError.
    """
    from broker.common.clock import SystemClock
    from broker.security.sanitized_names import sanitized
    from broker.security.sasl.stored_credentials import changes_of
    from broker.zookeeper.store import ClusterStore

    upsertions = [new_upsertion(user, key, text) for key, text in changes.added.items()]
    (change,) = changes_of(scram_deletions(user, changes), upsertions).values()
    if isinstance(change, ApiError):
        raise CommandError(f"Error while executing config command: {change}")

    async def write(session: "ZooKeeperSession") -> None:
        for parent in ("/config/users", "/config/changes"):
            await session.ensure(parent)
        await ClusterStore(session, SystemClock()).change_config(USERS, sanitized(user), change.apply)

    try:
        zookeeper.read(write, f"what {' and '.join(SCRAM)} are of {user}")
    except ApiError as error:
        raise CommandError(f"Error while executing config command: {error}") from None


COMMAND = Command(
    name="kafka-configs",
    summary="Tell or change what is set for topics, brokers, their loggers, users, clients, addresses and groups.",
    run=run,
    exactly_one_of=(("describe", "alter"),),
    options=(
        *ADMIN,
        Option("bootstrap-controller", "Controllers that are no brokers: there are none here.", "HOST:PORT,…"),
        OUTPUT,
        Option("describe", "Tell what is set; with --all what holds by default, too."),
        Option("alter", "Change it."),
        Option(
            "entity-type", f"One of {', '.join(ENTITY_TYPES)}; users and clients together.", "TYPE", repeatable=True
        ),
        Option("entity-name", "A topic, client id, user, broker id, address or group.", "NAME", repeatable=True),
        Option("entity-default", "The default for clients, users, brokers or addresses without settings of their own."),
        Option("topic", "Short for --entity-type topics --entity-name.", "TOPIC"),
        Option("client", "Short for --entity-type clients --entity-name.", "CLIENT-ID"),
        Option("client-defaults", "Short for --entity-type clients --entity-default."),
        Option("user", "Short for --entity-type users --entity-name.", "USER"),
        Option("user-defaults", "Short for --entity-type users --entity-default."),
        Option("broker", "Short for --entity-type brokers --entity-name.", "ID"),
        Option("broker-defaults", "Short for --entity-type brokers --entity-default."),
        Option("broker-logger", "Short for --entity-type broker-loggers --entity-name.", "ID"),
        Option("ip", "Short for --entity-type ips --entity-name.", "ADDRESS"),
        Option("ip-defaults", "Short for --entity-type ips --entity-default."),
        Option("client-metrics", "Short for --entity-type client-metrics --entity-name.", "NAME"),
        Option("group", "Short for --entity-type groups --entity-name.", "GROUP"),
        Option("add-config", "Settings; brackets keep commas together: k1=v1,k2=[a,b].", "KEY=VALUE,…"),
        Option("add-config-file", "Settings in a properties file, instead.", "FILE"),
        Option("delete-config", "Settings to take away.", "KEY,…", repeatable=True),
        Option("all", "With --describe: what holds by default and from files, too."),
        Option("force", "", without_effect="there is no check that could be skipped."),
        ZK_TLS,
        ZOOKEEPER_DIGEST,
    ),
    examples=(
        Example(
            "kafka-configs --bootstrap-server localhost:9092 --alter --topic orders --add-config retention.ms=3600000",
            "keep a topic's records for an hour",
        ),
        Example(
            "kafka-configs --bootstrap-server localhost:9092 --describe --broker 1 --all",
            "every setting of a broker, and where it comes from",
        ),
        Example(
            "kafka-configs --zookeeper localhost:2181 --alter --user alice "
            "--add-config 'SCRAM-SHA-256=[iterations=8192,password=…]'",
            "the first user, before any user can log in",
        ),
        Example(
            "kafka-configs --bootstrap-server localhost:9092 --alter --broker-logger 1 "
            "--add-config broker.runtime=DEBUG",
            "let a broker tell more until it is restarted",
        ),
    ),
)
