"""Writes ids into the znodes of topics that have none: the controller under its fence, a broker that starts without.

Only a znode without an id, or with another topic's, is written, over the version it was read in; everything else in it
stays.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID, uuid4

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.logs import logger
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.zookeeper import znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.errors import (
    MalformedZnode,
    NodeMissing,
    NotPermitted,
    OperationRefused,
    QuotaExceeded,
    WrongVersion,
    ZooKeeperError,
)
from broker.zookeeper.quota import require_fitting
from broker.zookeeper.session import SetData
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

#: How often a write is tried while others change the znode.
_CONFLICTS_MAX = 10

#: The id for a topic as its znode has it, written by that transaction; None if it stays without.
_Choose = Callable[[TopicAssignment, int], Awaitable[UUID | None]]
_Write = Callable[[SetData], Awaitable[None]]
#: Why a topic as its znode has it, with these states, may not get a new id, by the brokers that have compared their
#: logs with the znode as it is.
_Objections = Callable[[TopicAssignment, Mapping[TopicPartition, LeaderAndIsr], Collection[int]], list[str]]


@dataclass(slots=True)
class IdentifiedTopics:
    """Topics with their ids and partition states, and the names of those that have no id still."""

    assignments: dict[str, TopicAssignment] = field(default_factory=dict)
    states: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)


async def identify_topics(
    store: ClusterStore,
    writes: ControllerStore,
    known_ids: Mapping[str, UUID | None],
    ids_restored_at: Mapping[int, int],
    objections_to_new_id: _Objections,
    names: Mapping[UUID, str],
) -> IdentifiedTopics:
    """Give each topic the id in `known_ids`, or a new one unless there are objections. Raises ControllerMoved.

    An id that `names` gives to another topic counts as none. A known id is not given to a topic without any partition
    znode: it was made anew by hand under the same name.
    """
    identified = IdentifiedTopics()

    async def identify(topic: str) -> None:
        states: dict[TopicPartition, LeaderAndIsr] = {}
        objections: list[str] = []

        async def choose(assignment: TopicAssignment, mzxid: int) -> UUID | None:
            partitions = [TopicPartition(topic, index) for index in assignment.partitions]
            states.update(await store.states(partitions))
            if await store.session.exists(znodes.partitions_path(topic)) is None:  # it was made anew
                return uuid4()
            if known_ids[topic] is not None:
                return known_ids[topic]
            since = {broker_id for broker_id, restored_at in ids_restored_at.items() if restored_at >= mzxid}
            objections[:] = await _unread(store, assignment, states) + objections_to_new_id(assignment, states, since)
            return None if objections else uuid4()

        def is_foreign(topic_id: UUID) -> bool:
            return names.get(topic_id, topic) != topic

        assignment = await _with_id(store, topic, choose, partial(_write_fenced, writes), is_foreign)
        if assignment is None:
            return
        if assignment.has_id and not is_foreign(assignment.topic_id):
            identified.assignments[topic] = assignment
            identified.states |= states
        else:
            identified.unknown.add(topic)
            _report_unknown(topic, objections)

    await ask_each(identify, known_ids)
    return identified


async def _unread(
    store: ClusterStore, assignment: TopicAssignment, states: Mapping[TopicPartition, LeaderAndIsr]
) -> list[str]:
    """Return a clause for each partition that has a state which is not in `states`: their brokers were not heard."""
    path = znodes.partitions_path(assignment.topic)
    known = {str(partition.partition) for partition in states}
    others = sorted(index for index in await store.session.children(path) if index not in known)
    have_states = await ask_each(store.session.exists, [f"{path}/{index}/state" for index in others])
    named = {str(index) for index in assignment.partitions}
    return [
        f"partition {index}: {'its state cannot be read' if index in named else 'the znode of the topic leaves it out'}"
        for index, state in zip(others, have_states, strict=True)
        if state is not None
    ]


def _report_unknown(topic: str, objections: Collection[str]) -> None:
    _log.warning(
        "topic without an id, which no controller knows: it is served when the reasons below are gone, or when the id "
        "that a partition.metadata of it notes is written into the znode",
        topic=topic,
        reasons="; ".join(objections) or "the id could not be written",
    )


async def restore_topic_id(
    store: ClusterStore, topic: str, topic_id: UUID, foreign_ids: Collection[UUID] = ()
) -> TopicAssignment | None:
    """Write `topic_id` into the topic's znode unless it has an id; return the topic afterwards, None if it is gone.

    One of `foreign_ids`, which several topics have, counts as none: it is never returned.
    """

    async def choose(_assignment: TopicAssignment, _mzxid: int) -> UUID:
        return topic_id

    async def write(operation: SetData) -> None:
        await store.session.set(operation.path, operation.data, operation.version)

    return await _with_id(store, topic, choose, write, foreign_ids.__contains__)


async def _with_id(
    store: ClusterStore, topic: str, choose: _Choose, write: _Write, is_foreign: Callable[[UUID], bool]
) -> TopicAssignment | None:
    """Return the topic with the id its znode has, or that was chosen and written; without one if none was, also where
    ZooKeeper refuses it, which is one topic's matter.

    None if the znode is gone or unreadable.
    """
    path = znodes.topic_path(topic)
    refusal: ZooKeeperError = OperationRefused(path, "it keeps changing")
    for _ in range(_CONFLICTS_MAX):
        try:
            znode = await store.session.get(path)
            present = znodes.decode_topic(topic, znode.data)
        except (NodeMissing, MalformedZnode):
            return None
        try:
            topic_id = await choose(present, znode.mzxid)
            has_own_id = present.has_id and not is_foreign(present.topic_id)
            if has_own_id or topic_id in (None, present.topic_id):
                return present
            with_id = replace(present, topic_id=topic_id)
            data = znodes.encode_topic(with_id)
            await require_fitting(store.session, "/brokers", len(data))
            await write(SetData(path, data, znode.version))
        except (NodeMissing, MalformedZnode):
            return None
        except (NotPermitted, OperationRefused, QuotaExceeded) as error:
            refusal = error
            break
        except WrongVersion:
            continue
        reason = "it had another topic's" if present.has_id else "it had none"
        _log.warning("topic id written into a znode", topic=topic, topic_id=str(topic_id), reason=reason)
        return with_id
    _report_refusal(topic, refusal)
    return replace(present, topic_id=NO_TOPIC_ID)


def _report_refusal(topic: str, refusal: ZooKeeperError) -> None:
    _log.error(
        "topic id not written: ZooKeeper's quota for /brokers is reached; delete topics that are not needed"
        if isinstance(refusal, QuotaExceeded)
        else "topic id not written: give brokers the right to write the topic's znode, or stop what keeps changing it",
        topic=topic,
        reason=str(refusal),
    )


async def _write_fenced(writes: ControllerStore, operation: SetData) -> None:
    await writes.fenced([operation])
