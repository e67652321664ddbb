"""What ending a process means to others, gathered from what the collector last saw; the guard and its words decide."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from console.kit.access.reach import EVERYTHING, NOWHERE, Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.common.figures import size
from console.kit.common.list_length import ListLength
from console.processes.dependents import dependents_of, dependents_sentences
from console.processes.guard import (
    GROUPS_TOPIC,
    TRANSACTIONS_TOPIC,
    Ensemble,
    GuardFacts,
    Hosted,
    absence_of,
    absence_of_server,
)
from console.processes.guard_sentences import (
    continuation_sentences,
    harm_warnings,
    role_sentences,
    server_continuation_sentence,
    server_harm_warnings,
)
from console.processes.kinds import kind_named
from console.processes.models import ManagedProcess
from console.processes.states import Observed, Request
from console.state.clusters.models import Broker, ClusterState, Partition
from console.state.clusters.queries import cluster_state
from console.state.consumers.models import ConsumerGroup

_COLUMNS = ("topic__name", "partition", "replicas", "isr", "leader", "topic__min_insync_replicas")
_ENDS = (Request.STOP, Request.RESTART, Request.KILL)


@dataclass(frozen=True, slots=True)
class Consequence:
    """What stopping a process means: `harms` to clients, its `course`, and what the digest covers.

    `is_judged`: the guard has checked the partitions or the quorum, so there are no harms but `harms`.
    """

    course: tuple[str, ...]
    harms: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    is_judged: bool = False
    #: A replication throttle holds the broker, so what it misses may stay out of sync for long.
    is_throttled: bool = False

    @property
    def is_harmful(self) -> bool:
        return bool(self.harms)


def consequence_of(process: ManagedProcess, reach: Reach = EVERYTHING) -> Consequence:
    """Return the consequences of stopping it now, naming only what is in `reach`."""
    if process.kind == ManagedProcess.Kind.BROKER:
        return _of_broker(process, reach)
    if process.kind == ManagedProcess.Kind.ZOOKEEPER and process.ports:
        return _of_zookeeper(process.ports[0])
    dependents = dependents_of(process)
    sentences = dependents_sentences(dependents, reach)
    return Consequence((kind_named(process.kind).STOP_MEANS, *sentences), confirmed=dependents.confirmed)


def _of_broker(process: ManagedProcess, reach: Reach) -> Consequence:
    if process.pid is None and process.waits_for_restart:
        return Consequence(("It does not run now: nothing changes but that it is not started again.",), is_judged=True)
    absence = absence_of(broker_id_of(process), world_now())
    throttle = tuple(throttle_sentences(broker_id_of(process), reach))
    return Consequence(
        (*throttle, *continuation_sentences(absence, may_see(reach, Resource.GROUP))),
        tuple(harm_warnings(absence, may_see(reach, Resource.TOPIC))),
        absence.confirmed,
        is_judged=True,
        is_throttled=bool(throttle),
    )


def throttle_sentences(broker_id: int, reach: Reach = NOWHERE) -> Iterable[str]:
    """Yield what a replication throttle (KIP-73) means for a broker that has to catch up."""
    state = cluster_state()
    rates = [state.throttled_brokers.get(name) for name in (f"broker-{broker_id}", "all brokers")]
    known = [rate for rate in rates if rate is not None]
    if not known or not state.throttled_topics:
        return
    topic = state.throttled_topics[0]
    topics = f" of {topic}" if may_see(reach, Resource.TOPIC)(topic) else ""
    yield (
        f"A replication throttle of {size(known[0])}/s is set: replicas{topics} that fall behind meanwhile catch up "
        "no faster. Remove it first unless a reassignment runs."
    )


def ensemble_now() -> Ensemble:
    """Return the ensemble as last seen by the collector and the reconcile."""
    state = cluster_state()
    return Ensemble(
        now_ms=now_ms(), seen_at_ms=state.zookeeper_at_ms, servers=state.zookeeper, away=_zookeeper_ports_away()
    )


def _of_zookeeper(port: int) -> Consequence:
    absence = absence_of_server(port, ensemble_now())
    sentence = server_continuation_sentence(absence)
    harms = tuple(server_harm_warnings(absence))
    return Consequence(
        (sentence,) if sentence else (), harms, absence.confirmed, is_judged=bool(sentence) and absence.had_quorum
    )


def meaning_of_removal(process: ManagedProcess, reach: Reach = EVERYTHING) -> tuple[str, ...]:
    """Return what ending it for good means: a broker holds no replica by then, and others have its offices."""
    if process.kind != ManagedProcess.Kind.BROKER:
        return tuple(dependents_sentences(dependents_of(process), reach))
    offices = hosted_partitions(Q(topic__name__in=(GROUPS_TOPIC, TRANSACTIONS_TOPIC)))
    absence = absence_of(broker_id_of(process), world_now(partitions=offices))
    return tuple(role_sentences(absence, may_see(reach, Resource.GROUP)))


def world_now(partitions: Iterable[Hosted] | None = None) -> GuardFacts:
    """Return the cluster as last seen by the collector and the reconcile; with `partitions` instead of all."""
    state = cluster_state()
    return GuardFacts(
        now_ms=now_ms(),
        seen_at_ms=min(state.topics_at_ms, state.brokers_at_ms),
        error=_error_of(state),
        partitions=hosted_partitions() if partitions is None else partitions,
        controller_id=state.controller_id,
        away=brokers_away(),
        groups=_coordinated(),
    )


def hosted_partitions(chosen: Q | None = None) -> Iterable[Hosted]:
    """Return all partitions, or those `chosen` by columns, by `replica_count` and `isr_count`, or by
    `replicas_text`.
    """
    counted = Partition.objects.alias(
        replica_count=ListLength("replicas"),
        isr_count=ListLength("isr"),
        replicas_text=Cast("replicas", TextField()),
    )
    rows = counted.filter(chosen or Q()).order_by("topic__is_internal", "topic__name", "partition")
    for topic, partition, replicas, isr, leader, min_isr in rows.values_list(*_COLUMNS).iterator(chunk_size=2_000):
        yield Hosted(topic, partition, tuple(replicas), tuple(isr), leader, min_isr)


def brokers_away() -> frozenset[int]:
    """Return the brokers that are missing, or whose process is stopped, hanging or stopping."""
    processes = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER)
    missing = Broker.objects.filter(is_registered=False).values_list("broker_id", flat=True)
    return frozenset(missing) | {broker_id_of(process) for process in processes.filter(_not_there())}


def _zookeeper_ports_away() -> frozenset[int]:
    processes = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.ZOOKEEPER).filter(_not_there())
    return frozenset(process.ports[0] for process in processes if process.ports)


def _not_there() -> Q:
    return ~Q(observed=Observed.RUNNING) | Q(request__in=_ENDS)


def may_see(reach: Reach, resource: Resource) -> Callable[[str], bool]:
    """Return the predicate whether a name may be shown within `reach`."""
    return lambda name: Right.VIEW in reach.rights_on(resource, name)


def _error_of(state: ClusterState) -> str:
    return state.brokers_error or state.topics_error


def _coordinated() -> dict[int, list[str]]:
    coordinated = defaultdict[int, list[str]](list)
    for name, broker_id in ConsumerGroup.objects.order_by("name").values_list("name", "coordinator"):
        coordinated[broker_id].append(name)
    return coordinated


def broker_id_of(process: ManagedProcess) -> int:
    known = process.spec.get("broker_id")
    return int(process.name.rpartition("-")[2]) if known is None else known
