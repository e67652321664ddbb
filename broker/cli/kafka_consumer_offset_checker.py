"""`kafka-consumer-offset-checker` of Kafka 0.8 to 0.11: how far a group has read, wherever it keeps its offsets."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, ZOOKEEPER, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.zookeeper import ZooKeeperAccess
from broker.cli.groups.offset_checking import OldGroup, checked_lines
from broker.client.cluster import ClusterConnections
from broker.client.groups import GroupClient
from broker.client.leaders import Leaders
from broker.client.log_ends import offsets_of_led
from broker.common.errors import ApiError, BarnabasError
from broker.common.types import TopicPartition
from broker.protocol.messages.list_offsets import LATEST_TIMESTAMP

if TYPE_CHECKING:
    from broker.zookeeper.session import ZooKeeperSession

_DEPRECATED = (
    "WARNING: ConsumerOffsetChecker is deprecated and will be dropped in releases following 0.9.0. "
    "Use ConsumerGroupCommand instead."
)


def run(arguments: Arguments) -> None:
    """Run the command. As Kafka's does, it exits with status 0 on any failure and reports it on stdout."""
    print(_DEPRECATED, file=sys.stderr)
    asks_zookeeper = arguments.given("zookeeper") or not arguments.given("bootstrap-server")
    try:
        old = _read_old_group(arguments["zookeeper"], arguments["group"]) if asks_zookeeper else OldGroup()
        with connected(arguments) as cluster:
            _check(cluster, old, arguments)
    except UsageError:
        raise
    except BarnabasError as error:
        raise CommandError(f"Exiting due to: {str(error).rstrip('.')}.", status=0, on_stdout=True) from None


def _check(cluster: ClusterConnections, old: OldGroup, arguments: Arguments) -> None:
    group = arguments["group"]
    groups, leaders = GroupClient(cluster), Leaders(cluster)
    members = groups.described(group).members
    offsets = {**old.offsets, **groups.committed(group)}
    owners = dict(old.owners) | {partition: member.member_id for member in members for partition in member.assignment}
    topics = arguments["topic"] or {partition.topic for partition in (*offsets, *owners)}
    if not topics:
        raise CommandError(
            "org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for "
            f"/consumers/{group}/owners"
        )
    partitions = [partition for topic in topics for partition in _partitions(leaders, topic)]
    log_ends = offsets_of_led(leaders, dict.fromkeys(partitions, LATEST_TIMESTAMP))
    print("\n".join(checked_lines(group, partitions, offsets, log_ends, owners)))
    if arguments["broker-info"]:
        print("BROKER INFO")
        for broker_id, (host, port) in sorted(cluster.brokers().items()):
            print(f"{broker_id} -> {host}:{port}")


def _partitions(leaders: Leaders, topic: str) -> list[TopicPartition]:
    """Return the topic's partitions; none if it is gone."""
    try:
        return leaders.partitions(topic)
    except ApiError:
        return []


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_old_group(connect: str, group: str) -> OldGroup:
    """Read a group of the consumer of Kafka 0.8 below /consumers; empty if there is none. Raises CommandError."""
    if not group.strip(".") or "/" in group or not group.isprintable():
        return OldGroup()  # no name of a znode

    async def read(session: "ZooKeeperSession") -> OldGroup:
        offsets = await _texts_of_partitions(session, f"/consumers/{group}/offsets")
        owners = await _texts_of_partitions(session, f"/consumers/{group}/owners")
        numbers = {partition: int(text) for partition, text in offsets.items() if text.strip().isdecimal()}
        return OldGroup(numbers, owners)

    return ZooKeeperAccess(connect).read(read, f"what group {group} has read")


async def _texts_of_partitions(session: "ZooKeeperSession", path: str) -> dict[TopicPartition, str]:
    """Return the texts of the znodes `path`/TOPIC/PARTITION by partition."""
    from broker.zookeeper.errors import NodeMissing

    texts = {}
    for topic in await session.children_if_present(path):
        for name in await session.children_if_present(f"{path}/{topic}"):
            if name.isdecimal():
                try:
                    znode = await session.get(f"{path}/{topic}/{name}")
                except NodeMissing:
                    continue
                texts[TopicPartition(topic, int(name))] = znode.data.decode(errors="replace")
    return texts


COMMAND = Command(
    name="kafka-consumer-offset-checker",
    summary="Tell how far a consumer group has read, as before Kafka 1.0; today kafka-consumer-groups --describe.",
    run=run,
    options=(
        replace(ZOOKEEPER, default="localhost:2181"),
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("group", "The consumer group.", "GROUP", required=True),
        Option("topic", "Only these topics; all that the group reads without it.", "TOPIC,…", parse=_names),
        Option("broker-info", "Print the brokers' addresses, too."),
        Option("socket.timeout.ms", "", "MS", without_effect="the wait for brokers is default.api.timeout.ms."),
        Option("retry.backoff.ms", "", "MS", without_effect="a moved coordinator is asked again at once."),
    ),
    examples=(
        Example(
            "kafka-consumer-offset-checker --zookeeper localhost:2181 --group test",
            "offsets, lag and owners, also of a group that keeps its offsets below /consumers in ZooKeeper",
        ),
    ),
)
