"""What the guard found, in sentences: first what is refused or lost meanwhile, then who takes over. Pure."""

from collections.abc import Callable, Iterator, Sequence

from console.kit.common.figures import duration
from console.processes.guard import GROUPS_TOPIC, TRANSACTIONS_TOPIC, Absence, Hosted, ServerAbsence

#: Partitions and groups named one by one; the rest are counted.
NAMED_MAX = 3
_NAME_LENGTH_MAX = 60

#: Whether a name may be told to who reads the sentence.
MayName = Callable[[str], bool]


def everybody(_name: str) -> bool:
    return True


def harm_warnings(absence: Absence, may_name_topic: MayName = everybody) -> Iterator[str]:
    """Yield what makes the stop harmful; nothing if it is not."""
    if absence.is_doubtful:
        yield doubt_sentence(absence)
    if absence.offline:
        yield (
            f"{_partitions(absence.offline)} {_go(absence.offline)} offline until broker {absence.broker_id} is back, "
            f"for no other replica is in sync: {_named(absence.offline, may_name_topic)}."
        )
    if absence.below:
        yield (
            f"{_partitions(absence.below)} {_fall(absence.below)} below min.insync.replicas, and producers with "
            f"acks=all are refused there: {_named(absence.below, may_name_topic)}."
        )
    if absence.unknown:
        yield (
            f"min.insync.replicas of {_partitions(absence.unknown)} is unknown, so producers with acks=all may "
            f"be refused there: {_named(absence.unknown, may_name_topic)}."
        )


def doubt_sentence(absence: Absence) -> str:
    """Return why the prediction may be wrong."""
    if not absence.seen_at_ms:
        return "The collector has not seen the cluster yet, so it is unknown what goes offline or refuses writes."
    if absence.error:
        return f"The cluster does not answer now, so this may be wrong: {absence.error}"
    age = duration(absence.now_ms - absence.seen_at_ms)
    return f"This was seen {age} ago and may be wrong: the collector has not looked since."


def continuation_sentences(absence: Absence, may_name_group: MayName = everybody) -> Iterator[str]:
    """Yield what goes on elsewhere, and how much closer to trouble it is."""
    parts = [
        f"{_count(absence.moved, 'partition')} will be led by another broker" if absence.moved else "",
        f"{_count(absence.thinner, 'partition')} will have one replica less in sync" if absence.thinner else "",
    ]
    if courses := "; ".join(filter(None, parts)):
        yield f"{courses[0].upper()}{courses[1:]}."
    elif not (absence.offline or absence.below or absence.unknown or absence.is_doubtful):
        yield f"Broker {absence.broker_id} has no replica in sync: no partition changes."
    if absence.away:
        others = ", ".join(map(str, absence.away))
        is_away = "is" if len(absence.away) == 1 else "are"
        yield f"Broker{'' if len(absence.away) == 1 else 's'} {others} {is_away} away already."
    if absence.already:
        yield f"{_count(absence.already, 'partition')} it holds {_is(absence.already)} below the minimum already."
    yield from role_sentences(absence, may_name_group)


def role_sentences(absence: Absence, may_name_group: MayName = everybody) -> Iterator[str]:
    """Yield the roles it has in the cluster: controller, coordinator."""
    if absence.is_controller:
        yield "It is the controller: the others have to elect another one."
    if absence.groups or absence.group_shards:
        yield (
            f"It is the group coordinator of {_count(absence.group_shards, 'partition')} of {GROUPS_TOPIC}"
            f"{_groups(absence.groups, may_name_group)}: members look for the next one before they commit again."
        )
    if absence.transaction_shards:
        yield (
            f"It is the transaction coordinator of {_count(absence.transaction_shards, 'partition')} of "
            f"{TRANSACTIONS_TOPIC}: producers look for the next one before they commit again."
        )


def server_harm_warnings(absence: ServerAbsence) -> Iterator[str]:
    """Yield what makes stopping a ZooKeeper server harmful; nothing if it is not."""
    if absence.is_doubtful:
        age = f"seen {duration(absence.now_ms - absence.seen_at_ms)} ago" if absence.seen_at_ms else "not seen yet"
        yield f"ZooKeeper was {age}, so it is unknown whether the remaining servers are a quorum."
    if absence.costs_quorum:
        left = f"{absence.left} of {_count(absence.voters, 'ZooKeeper member')} {_is(absence.left)} left"
        yield (
            f"Costs the quorum: {left}, and {absence.quorum} {_is(absence.quorum)} needed. Brokers go on serving what "
            "they have, but no broker can join, no leader is elected and no topic is made until it is back."
        )


def server_continuation_sentence(absence: ServerAbsence) -> str:
    """Return what goes on without the server; empty if nothing does."""
    if absence.costs_quorum or not absence.voters:
        return ""
    if not absence.is_member:
        return "It is no voting member of the ensemble: the others do not wait for it."
    if not absence.had_quorum:
        return "The ensemble has no quorum already: nothing changes."
    spare = absence.left - absence.quorum
    more = "none of them may fail then" if spare == 0 else f"{spare} more may fail then"
    election = " They elect a leader first, usually within a second." if absence.is_leader else ""
    return f"It is one of {absence.voters} ZooKeeper members: the others go on, {more}.{election}"


def _groups(groups: Sequence[str], may_name: MayName) -> str:
    if not groups:
        return ""
    named = [_short(group) for group in groups if may_name(group)][:NAMED_MAX]
    return f", with {_count(len(groups), 'group')}" + (f" ({_listed(named, len(groups))})" if named else "")


def _named(partitions: Sequence[Hosted], may_name: MayName) -> str:
    named: list[str] = []
    for partition in partitions:
        if may_name(partition.topic):
            named.append(f"{_short(partition.topic)}-{partition.partition}")
        if len(named) == NAMED_MAX:
            break
    return _listed(named, len(partitions)) if named else "in topics that your rights do not reach"


def _listed(named: Sequence[str], count: int) -> str:
    more = count - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH_MAX else f"{name[:_NAME_LENGTH_MAX]}…"


def _partitions(partitions: Sequence[object]) -> str:
    return _count(len(partitions), "partition")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _go(partitions: Sequence[object]) -> str:
    return "goes" if len(partitions) == 1 else "go"


def _fall(partitions: Sequence[object]) -> str:
    return "falls" if len(partitions) == 1 else "fall"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
