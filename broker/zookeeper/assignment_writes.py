"""The controller changes the replicas of partitions in their topics' znodes."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from broker.common.logs import logger
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition, may_be_same_topic
from broker.zookeeper import znodes
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.errors import MalformedZnode, NodeMissing, OperationRefused, QuotaExceeded, WrongVersion
from broker.zookeeper.quota import require_fitting
from broker.zookeeper.session import SetData, ZooKeeperSession

_log = logger(__name__)

#: How often a write is tried while others add partitions to the topic.
_CONFLICTS_MAX = 10

Assignments = dict[TopicPartition, ReplicaAssignment]


async def write_assignments(
    session: ZooKeeperSession,
    writes: ControllerStore,
    assignments: Mapping[TopicPartition, ReplicaAssignment],
    topic_ids: Mapping[str, UUID],
) -> Assignments:
    """Write each partition's replicas without changing the topic's other partitions; return what was written.

    All partitions of a topic are written at once, and its id with them if the znode has lost it. A topic that is gone,
    or another one by now, is left out, and so is one that ZooKeeper's quota has no room for.
    """
    by_topic: dict[str, dict[int, ReplicaAssignment]] = {}
    for (topic, index), assignment in assignments.items():
        by_topic.setdefault(topic, {})[index] = assignment
    written = await asyncio.gather(
        *(_write_topic(session, writes, topic, changed, topic_ids[topic]) for topic, changed in by_topic.items())
    )
    return {
        TopicPartition(topic, index): assignment
        for topic, is_written in zip(by_topic, written, strict=True)
        if is_written
        for index, assignment in by_topic[topic].items()
    }


async def _write_topic(
    session: ZooKeeperSession,
    writes: ControllerStore,
    topic: str,
    changed: Mapping[int, ReplicaAssignment],
    topic_id: UUID,
) -> bool:
    path = znodes.topic_path(topic)
    for _ in range(_CONFLICTS_MAX):
        try:
            znode = await session.get(path)
            present = znodes.decode_topic(topic, znode.data)
            if not may_be_same_topic(present.topic_id, topic_id):
                return False
            data = znodes.encode_topic(replace(present.having(changed), topic_id=topic_id))
            await require_fitting(session, "/brokers", len(data))
            await writes.fenced([SetData(path, data, znode.version)])
            return True
        except (NodeMissing, MalformedZnode):
            return False
        except QuotaExceeded as error:
            _log.error("partitions are not moved", topic=topic, reason=str(error))
            return False
        except WrongVersion:
            continue
    raise OperationRefused(path, "it keeps changing")
