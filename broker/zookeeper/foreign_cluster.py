"""Whose cluster a chroot of ZooKeeper holds: ours, another Kafka's, or none yet.

A broker of ours that registers beside those of another Kafka is given partitions by their controller, and refuses its
requests, since it is no member of this cluster: what it was given is led by no broker then. So it does not register.

The members' secret says whose the chroot is: the first broker of ours makes it before anything else there. Without it
whatever a Kafka cluster leaves behind counts, whether or not a broker of it is registered just now: a cluster that is
stopped for a night is not given up.
"""

from collections.abc import Collection
from dataclasses import dataclass

from broker.common.errors import StartupError
from broker.zookeeper import znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import MalformedZnode, NodeMissing
from broker.zookeeper.session import ZooKeeperSession

#: Named in a sentence; of more it says how many there are.
_NAMED_MAX = 5
JOIN_KEY = "kafka.cluster.join"


@dataclass(frozen=True, slots=True)
class ChrootFindings:
    """What a chroot holds before a broker of this process has written there."""

    has_secret: bool = False
    #: None without a /cluster/id that can be read.
    cluster_id: str | None = None
    #: Ids of registered brokers of another Kafka, and of this one.
    foreign_brokers: Collection[int] = ()
    own_brokers: Collection[int] = ()
    topic_count: int = 0
    had_controller: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether a cluster is here that no broker of ours has made."""
        is_ours = self.has_secret or self.own_brokers
        is_there = self.cluster_id or self.foreign_brokers or self.topic_count or self.had_controller
        return bool(is_there and not is_ours)

    @property
    def is_empty(self) -> bool:
        """Whether no cluster was ever here: the one that starts now is new."""
        return not (self.has_secret or self.own_brokers or self.is_foreign)


def refusal_of(findings: ChrootFindings, connect: str, *, may_join: bool) -> str | None:
    """Return why a broker must not register there and what to do, in one sentence; None if it may."""
    if not findings.is_foreign or (may_join and not findings.foreign_brokers):
        return None
    facts = [f"cluster id {findings.cluster_id}"] if findings.cluster_id else []
    facts += [
        _brokers(findings.foreign_brokers),
        f"{findings.topic_count} topic{'' if findings.topic_count == 1 else 's'}",
    ]
    holds = f"zookeeper.connect={connect} holds the cluster of another Kafka ({', '.join(facts)})"
    own_chroot = f"give this cluster a chroot of its own, zookeeper.connect={connect.partition('/')[0]}/barnabas"
    if may_join:
        return f"{holds}, and {JOIN_KEY}=true takes over only what is stopped: stop those brokers, or {own_chroot}."
    return (
        f"{holds}: {own_chroot}, or set {JOIN_KEY}=true to take over a cluster whose own brokers are stopped for good."
    )


def _brokers(broker_ids: Collection[int]) -> str:
    if not broker_ids:
        return "no broker registered now"
    named = ", ".join(map(str, sorted(broker_ids)[:_NAMED_MAX]))
    more = f" and {len(broker_ids) - _NAMED_MAX} more" if len(broker_ids) > _NAMED_MAX else ""
    return f"broker{'s' if len(broker_ids) > 1 else ''} {named}{more} registered"


async def refuse_foreign_cluster(session: ZooKeeperSession, connect: str, *, may_join: bool) -> ChrootFindings:
    """Return what the session's chroot holds. Raises StartupError if that is another Kafka's cluster, and the errors
    of ZooKeeper.
    """
    findings = await look_into(session)
    refusal = refusal_of(findings, connect, may_join=may_join)
    if refusal is not None:
        raise StartupError(refusal)
    return findings


async def look_into(session: ZooKeeperSession) -> ChrootFindings:
    """Return what the chroot contains. The secret is read last: a broker of ours that starts at the same time has made
    it before anything else that is found here.
    """
    own, foreign = await _registered(session)
    cluster_id = await _cluster_id(session)
    topics = await session.children_if_present(znodes.TOPICS)
    had_controller = await session.exists(znodes.CONTROLLER_EPOCH) is not None
    has_secret = await session.exists(znodes.SECRET) is not None
    return ChrootFindings(has_secret, cluster_id, foreign, own, len(topics), had_controller)


async def _registered(session: ZooKeeperSession) -> tuple[list[int], list[int]]:
    """Return the ids of the registered brokers of this kind, and of others. One that cannot be read counts as
    another's.
    """
    own: list[int] = []
    foreign: list[int] = []
    ids = [int(name) for name in await session.children_if_present(znodes.BROKER_IDS) if name.isdecimal()]

    async def is_own(broker_id: int) -> bool | None:
        try:
            data = (await session.get(znodes.broker_path(broker_id))).data
            return not znodes.decode_broker(broker_id, data, 0).registration.is_foreign
        except NodeMissing:
            return None
        except MalformedZnode:
            return False

    for broker_id, registered in zip(ids, await ask_each(is_own, ids), strict=True):
        if registered is not None:
            (own if registered else foreign).append(broker_id)
    return own, foreign


async def _cluster_id(session: ZooKeeperSession) -> str | None:
    try:
        return znodes.decode_cluster_id((await session.get(znodes.CLUSTER_ID)).data)
    except (NodeMissing, MalformedZnode):
        return None
