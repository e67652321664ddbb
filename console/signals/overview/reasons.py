"""Each trouble as a sentence, with what proves it and the next safe action. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from console.signals.overview.access_reasons import denial_reasons, skew_reasons
from console.signals.overview.budget_reasons import budget_reasons
from console.signals.overview.capacity_reasons import filling_reasons, quota_reasons, throttle_reasons
from console.signals.overview.client_reasons import group_reason, group_reasons
from console.signals.overview.completeness_reasons import completeness_reasons, late_reasons
from console.signals.overview.connector_reasons import connector_reasons, silence_reasons
from console.signals.overview.coordinator_reasons import lone_topic_reasons, unloaded_reasons
from console.signals.overview.health import Health, HealthFacts, HealthLevel, HealthReason, TroubledPartition
from console.signals.overview.host_reasons import (
    certificate_reasons,
    crowded_reasons,
    directory_reasons,
    foreign_reasons,
    process_reasons,
    stray_reasons,
)
from console.signals.overview.mirror_reasons import mirror_reasons
from console.signals.overview.next_action import NextAction
from console.signals.overview.outage_reasons import outage_reasons
from console.signals.overview.probe_reasons import probe_reasons
from console.signals.overview.quiet import is_silent, quiet_of
from console.signals.overview.quorum_reasons import quorum_reasons
from console.signals.overview.schema_reasons import refused_schema_reasons, registry_reasons
from console.signals.overview.topic_reasons import kept_reasons, uncompacted_reasons
from console.signals.overview.transaction_reasons import transaction_reasons
from console.signals.overview.unclean_reason import unclean_reason

#: A topic's name may have 249 characters; a reason is one sentence.
NAME_LENGTH_MAX = 40
_OF_PROCESSES = frozenset({"processes", "process"})
#: Partitions named one by one as evidence.
EXAMPLES_MAX = 3


def assess(facts: HealthFacts) -> Health:
    """Return the worst level of all reasons that are not muted; OK without any, of a cluster that is known."""
    quiets = {quiet.key: quiet for quiet in facts.quiets}
    with_places = (reason if facts.manages_processes else _where_it_runs(reason) for reason in _reasons(facts))
    judged = [replace(item, quiet=quiet_of(item, quiets, facts.now_ms)) for item in with_places]
    judged.sort(key=lambda reason: list(HealthLevel).index(reason.level), reverse=True)
    muted = tuple(reason for reason in judged if is_silent(reason))
    reasons = tuple(reason for reason in judged if not is_silent(reason))
    if reasons:
        return Health(reasons[0].level, reasons, muted)
    is_known = facts.is_seen and not facts.outage
    return Health(HealthLevel.OK if is_known else HealthLevel.UNKNOWN, (), muted)


def _reasons(facts: HealthFacts) -> Iterable[HealthReason]:
    """Return the reasons; where the cluster cannot be read, only that one: stored data says nothing of now."""
    yield from _zookeeper_reasons(facts)
    yield from outage_reasons(facts)
    missing = frozenset[int]() if facts.brokers_outage else facts.missing
    if not facts.brokers_outage:
        yield from _broker_reasons(facts)
    if not facts.outage:
        yield from _other_partitions(
            [partition for partition in facts.troubled if not missing.intersection(partition.replicas)]
        )
        yield from transaction_reasons(facts.stuck_transactions, facts.now_ms)
    yield from unclean_reason(facts.unclean)
    yield from foreign_reasons(facts.foreign_brokers)
    yield from certificate_reasons(facts.certificates)
    yield from process_reasons(process for process in facts.processes if process.broker_id not in missing)
    yield from silence_reasons(facts.connectors_error)
    yield from connector_reasons(facts.connectors, facts.connectors_count)
    yield from registry_reasons(facts.registry_error)
    yield from refused_schema_reasons(facts.refused_schemas)
    yield from mirror_reasons(facts.mirrors)
    yield from completeness_reasons(facts.disagreeing, facts.disagreeing_count)
    yield from late_reasons(facts.late, facts.late_count)
    yield from kept_reasons(facts.kept, facts.kept_count)
    yield from uncompacted_reasons(facts.uncompacted)
    silent = facts.probe.silent.keys() if facts.probe and facts.brokers_outage else ()
    yield from probe_reasons(facts.probe, missing.union(silent), facts.managed)
    if not facts.groups_outage:
        yield from group_reasons(facts.groups, facts.groups_count)
        yield from map(group_reason, facts.quiet_groups)


def _broker_reasons(facts: HealthFacts) -> Iterable[HealthReason]:
    """Yield what the brokers' own words say of each of them, and of the controller."""
    if facts.is_seen and facts.controller_id is None:
        yield _no_controller(facts)
    yield from quorum_reasons(facts.quorum)
    for broker_id, times in sorted(facts.flapping.items()):
        yield _flapping(broker_id, times, facts)
    troubled = () if facts.outage else facts.troubled
    for broker_id in sorted(facts.missing):
        yield _missing_broker(
            broker_id, [partition for partition in troubled if broker_id in partition.replicas], facts
        )
    yield from unloaded_reasons(facts.unloaded)
    yield from budget_reasons(facts.crowded_budgets)
    yield from lone_topic_reasons(facts.lone_internal_topics)
    yield from directory_reasons(facts.directories)
    yield from stray_reasons(facts.strays)
    yield from crowded_reasons(facts.crowded)
    yield from filling_reasons(facts.filling)
    yield from quota_reasons(facts.held_quotas, facts.now_ms)
    yield from denial_reasons(facts.denied)
    if not facts.outage:
        yield from throttle_reasons(facts.left_throttle)
        yield from skew_reasons(facts.leader_skew)


def _where_it_runs(reason: HealthReason) -> HealthReason:
    """Return the reason with the note that its processes are run elsewhere, if its action is on the processes page."""
    if reason.action.page not in _OF_PROCESSES:
        return reason
    return replace(reason, action=NextAction(f"{reason.action.text} (its processes are run elsewhere)"))


def _zookeeper_reasons(facts: HealthFacts) -> Iterable[HealthReason]:
    level = HealthLevel.WARNING if facts.has_quorum else HealthLevel.CRITICAL
    meaning = "" if facts.has_quorum else ": no broker can join and no leader can be elected until it is back"
    serving = facts.zookeeper_count - len(facts.zookeeper_errors)
    for address, error in sorted(facts.zookeeper_errors.items()):
        text = f"ZooKeeper {address} {error}{meaning}."
        evidence = f"{serving} of {facts.zookeeper_count} servers serve"
        action = NextAction("Start it, before any broker", "processes")
        yield HealthReason(level, f"ZooKeeper {address}", text, action, evidence, key=f"zookeeper:{address}")


def _no_controller(facts: HealthFacts) -> HealthReason:
    text = "There is no controller: topics cannot be created and no leader can be elected."
    if facts.zookeeper_errors and not facts.has_quorum:
        action = NextAction("Start ZooKeeper first; a controller is elected when it serves", "processes")
    else:
        action = NextAction("Wait a few seconds for the election; if none comes, read the brokers' logs", "processes")
    return HealthReason(
        HealthLevel.CRITICAL, "Controller", text, action, "No broker names one in its metadata", key="controller"
    )


def _flapping(broker_id: int, times: int, facts: HealthFacts) -> HealthReason:
    action = _process_action("Read the end of its log before starting it again", broker_id, facts)
    return HealthReason(
        HealthLevel.WARNING,
        f"Broker {broker_id}",
        f"Broker {broker_id} comes and goes: each time leaders move and replicas have to catch up.",
        action,
        f"Left the cluster {times} times within 10 minutes",
        key=f"flapping:{broker_id}",
        weight=times,
    )


def _missing_broker(broker_id: int, troubled: list[TroubledPartition], facts: HealthFacts) -> HealthReason:
    leaderless = [item for item in troubled if not item.has_leader]
    refusing = [item for item in troubled if item.is_under_min_isr]
    lagging = [partition for partition in troubled if partition.has_leader and broker_id in partition.out_of_sync]
    effects = (leaderless, refusing, lagging)
    text = f"Broker {broker_id} is not registered"
    text += f": {effects_text}." if (effects_text := "; ".join(_effects(*effects))) else "."
    return HealthReason(
        HealthLevel.CRITICAL if leaderless or refusing else HealthLevel.WARNING,
        f"Broker {broker_id}",
        text,
        _process_action(f"Start broker {broker_id}", broker_id, facts),
        _with_process(broker_id, facts, _examples(leaderless or refusing or lagging)),
        facts.missing_since_ms.get(broker_id),
        key=f"missing:{broker_id}",
        parts=_names(effects),
    )


def _effects(
    leaderless: Sequence[TroubledPartition], refusing: Sequence[TroubledPartition], lagging: Sequence[TroubledPartition]
) -> Iterable[str]:
    if leaderless:
        yield f"{_partitions(leaderless)} {_has(leaderless)} no leader"
    if refusing:
        yield f"{_partitions(refusing)} {_is(refusing)} below min.insync.replicas and {_refuse(refusing)}"
    if lagging:
        yield f"{_partitions(lagging)} {_is(lagging)} under-replicated"


def _names(effects: Iterable[Iterable[TroubledPartition]]) -> tuple[str, ...]:
    """Return one key for each partition and its trouble, so that a partition which lagged and now has no leader counts
    as new.
    """
    words = ("no leader", "below min", "under-replicated")
    return tuple(
        sorted(
            f"{partition.name} {word}"
            for word, partitions in zip(words, effects, strict=True)
            for partition in partitions
        )
    )


def _with_process(broker_id: int, facts: HealthFacts, evidence: str) -> str:
    """Return the evidence with the state of the broker's process in front."""
    sentences = [
        f"{process.name} is {process.state}: {process.sentence}"
        for process in facts.processes
        if process.broker_id == broker_id
    ]
    return " · ".join(filter(None, [*sentences, evidence]))


def _process_action(text: str, broker_id: int, facts: HealthFacts) -> NextAction:
    if broker_id in facts.managed:
        return NextAction(text, "process", f"broker-{broker_id}")
    return NextAction(f"{text} (on its own host: no process of this console)")


def _other_partitions(troubled: list[TroubledPartition]) -> Iterable[HealthReason]:
    leaderless = [item for item in troubled if not item.has_leader]
    refusing = [item for item in troubled if item.is_under_min_isr]
    lagging = [
        partition
        for partition in troubled
        if partition.has_leader and not partition.is_under_min_isr and partition.out_of_sync
    ]
    if leaderless:
        text = f"{_partitions(leaderless)} {_has(leaderless)} no leader, though every replica's broker is registered."
        action = _WAIT_FOR_LOGS if any(item.awaits_logs for item in leaderless) else _WAIT_FOR_ISR
        yield _of_partitions("leaderless", HealthLevel.CRITICAL, leaderless, text, action, _examples(leaderless))
    if refusing:
        text = (
            f"{_partitions(refusing)} {_is(refusing)} below min.insync.replicas and {_refuse(refusing)}, "
            "though every replica's broker is registered."
        )
        yield _of_partitions("below", HealthLevel.CRITICAL, refusing, text, _WAIT_FOR_REPLICAS, _examples(refusing))
    if lagging:
        text = f"{_partitions(lagging)} {_is(lagging)} under-replicated: a replica is out of sync."
        evidence = f"{_out_of_sync(lagging)} · {_examples(lagging)}"
        yield _of_partitions("under-replicated", HealthLevel.WARNING, lagging, text, _WAIT_FOR_REPLICAS, evidence)


def _of_partitions(
    key: str, level: HealthLevel, partitions: Sequence[TroubledPartition], text: str, action: NextAction, evidence: str
) -> HealthReason:
    subject = "Partition" if len(partitions) == 1 else "Partitions"
    parts = tuple(sorted(partition.name for partition in partitions))
    return HealthReason(level, subject, text, action, evidence, key=key, parts=parts)


_WAIT_FOR_ISR = NextAction(
    "Wait for the last broker of the ISR to recover its log; read that broker's log", "processes"
)
_WAIT_FOR_LOGS = NextAction(
    "Its state was removed from ZooKeeper: start all its brokers, so that their logs are compared, or allow an unclean "
    "election",
    "processes",
)
_WAIT_FOR_REPLICAS = NextAction("Let the replicas catch up; stop no other broker meanwhile", "brokers")


def _out_of_sync(partitions: Sequence[TroubledPartition]) -> str:
    """Return `out of sync: broker 3 (12 replicas)`."""
    counts = Counter(broker_id for partition in partitions for broker_id in partition.out_of_sync)
    named = (f"broker {broker_id} ({_count(n, 'replica')})" for broker_id, n in sorted(counts.items()))
    return f"Out of sync: {', '.join(named)}"


def _examples(partitions: Sequence[TroubledPartition]) -> str:
    """Return `orders-0: in sync: [1], replicas: [1, 2, 3]`, the first few: ids of brokers, no counts."""
    if not partitions:
        return ""
    named = [
        f"{_short(partition.topic)}-{partition.partition}: in sync: {list(partition.isr)}, "
        f"replicas: {list(partition.replicas)}"
        for partition in partitions[:EXAMPLES_MAX]
    ]
    more = len(partitions) - len(named)
    return " · ".join(named) + (f" · {more} more" if more else "")


def _partitions(partitions: Sequence[TroubledPartition]) -> str:
    """Return `3 partitions of orders`, or `5 partitions of orders, payments and 2 other topics`."""
    topics = sorted({partition.topic for partition in partitions}, key=lambda name: (name.startswith("__"), name))
    names = [_short(name) for name in topics[:2]]
    count = _count(len(partitions), "partition")
    if len(topics) <= 2:
        return f"{count} of {' and '.join(names)}"
    return f"{count} of {', '.join(names)} and {_count(len(topics) - 2, 'other topic')}"


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH_MAX else f"{name[:NAME_LENGTH_MAX]}…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _has(partitions: Sequence[object]) -> str:
    return "has" if len(partitions) == 1 else "have"


def _is(partitions: Sequence[object]) -> str:
    return "is" if len(partitions) == 1 else "are"


def _refuse(partitions: Sequence[object]) -> str:
    return "refuses acks=all" if len(partitions) == 1 else "refuse acks=all"
