"""Which broker can lead a partition without loss, of a cluster that keeps eligible leader replicas (KIP-966)."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias
from weakref import WeakKeyDictionary

from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.quorum.interface import EligibleLeaders
from console.state.clusters.models import Partition, Topic
from console.state.clusters.queries import cluster_state


@dataclass(frozen=True, slots=True)
class Recovery:
    """A partition with what brings its leader back; `is_lossless` is False where acknowledged records may be lost."""

    leaders: EligibleLeaders
    sentence: str
    is_lossless: bool


@dataclass(frozen=True, slots=True)
class EligiblePanel:
    """`error` says why `recoveries` are unknown; empty: they are known."""

    recoveries: tuple[Recovery, ...] = ()
    error: str = ""


#: A panel is read again after this time; at most so many are kept for a cluster.
_KEPT_S, _KEPT_MAX = 10.0, 200
_Key: TypeAlias = tuple[str, str, int, int]
_panels: WeakKeyDictionary[ClusterGateway, dict[_Key, tuple[float, EligiblePanel]]] = WeakKeyDictionary()


def eligible_panel(topic: Topic) -> EligiblePanel | None:
    """Ask the cluster about a troubled topic; None for a whole one, and for a cluster that keeps no ELR.

    A KRaft cluster is asked in any case: it names the last known leader.

    A broker leaves the ISR for the ELR only while the ISR is below min.insync.replicas, so a whole topic has none.
    All open pages of a topic fetch themselves at once, so a panel is kept for `_KEPT_S` while the topic's state stays.
    """
    state = cluster_state() if topic.leaderless_count or topic.under_min_isr_count else None
    if state is None or not (state.quorum or state.keeps_elr):
        return None
    gateway = cluster_gateway()
    kept, now_s = _panels.setdefault(gateway, {}), monotonic()
    key = (topic.name, topic.topic_id, topic.leaderless_count, topic.under_min_isr_count)
    read_s, panel = kept.get(key, (-_KEPT_S, None))
    if panel is None or now_s - read_s >= _KEPT_S:
        if len(kept) >= _KEPT_MAX:
            kept.clear()
        panel = _read(gateway, topic.name)
        kept[key] = (now_s, panel)
    return panel


def _read(gateway: ClusterGateway, topic: str) -> EligiblePanel:
    try:
        return EligiblePanel(tuple(_recoveries(gateway.quorum.eligible_leaders(topic))))
    except GatewayError as error:
        return EligiblePanel(error=str(error))


@dataclass(frozen=True, slots=True)
class EligibleWords:
    """What the columns of one partition say: brokers, none, or unknown."""

    elr: str
    last_known_elr: str


def with_eligible(partitions: Iterable[Partition], panel: EligiblePanel | None) -> list[Partition]:
    """Return the partitions, each with `eligible`; with no panel the topic is whole, and has no ELR."""
    listed = list(partitions)
    by_partition = {recovery.leaders.partition: recovery.leaders for recovery in panel.recoveries} if panel else {}
    for partition in listed:
        leaders = by_partition.get(partition.partition)
        if panel and panel.error:
            partition.eligible = EligibleWords("unknown", "unknown")
        else:
            elr, last = (leaders.elr, leaders.last_known_elr) if leaders else ((), ())
            partition.eligible = EligibleWords(_ids(elr), _ids(last))
    return listed


def _ids(ids: tuple[int, ...] | None) -> str:
    return "not kept" if ids is None else ", ".join(map(str, ids)) or "none"


def _recoveries(partitions: Iterable[EligibleLeaders]) -> Iterable[Recovery]:
    for leaders in partitions:
        if leaders.leader is None or leaders.elr or leaders.last_known_elr:
            yield recovery_of(leaders)


def recovery_of(leaders: EligibleLeaders) -> Recovery:
    """Judge by the controller's rule: it elects out of the ISR, then the ELR, then the last known leader. Pure."""
    safe = (*leaders.isr, *(leaders.elr or ()))
    if leaders.leader is not None:
        spare = leaders.elr or ()
        sentence = (
            f"{_brokers(spare)} can lead without loss, too." if spare else "No other broker can lead without loss."
        )
        return Recovery(leaders, sentence, True)
    if safe:
        return Recovery(leaders, f"{_brokers(safe)}, when back, can lead without loss.", True)
    if leaders.last_known_elr:
        sentence = (
            f"{_brokers(leaders.last_known_elr)} led last and leads again when back; records that were not on its disk "
            "are lost."
        )
        return Recovery(leaders, sentence, False)
    return Recovery(leaders, "No broker is known to have all records: only an unclean election brings a leader.", False)


def _brokers(ids: Iterable[int]) -> str:
    named = list(map(str, ids))
    return f"Broker {named[0]}" if len(named) == 1 else f"Broker {', '.join(named[:-1])} or {named[-1]}"
