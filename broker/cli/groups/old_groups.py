"""Groups of the consumer of Kafka 0.8, as they lie below /consumers in ZooKeeper."""

from typing import TYPE_CHECKING

from broker.cli.frame.zookeeper import ZooKeeperAccess
from broker.cli.groups.offset_checking import OldGroup
from broker.common.types import TopicPartition

if TYPE_CHECKING:
    from broker.zookeeper.session import ZooKeeperSession


def read_old_group(connect: str, group: str) -> OldGroup:
    """Empty if there is none. Raises CommandError."""
    if not group.strip(".") or "/" in group or not group.isprintable():
        return OldGroup()  # no name of a znode

    async def read(session: "ZooKeeperSession") -> OldGroup:
        offsets = await _texts_of_partitions(session, f"/consumers/{group}/offsets")
        owners = await _texts_of_partitions(session, f"/consumers/{group}/owners")
        numbers = {partition: int(text) for partition, text in offsets.items() if text.strip().isdecimal()}
        return OldGroup(numbers, owners)

    return ZooKeeperAccess(connect).read(read, f"what group {group} has read")


async def _texts_of_partitions(session: "ZooKeeperSession", path: str) -> dict[TopicPartition, str]:
    """`path`/TOPIC/PARTITION → what is written there."""
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
