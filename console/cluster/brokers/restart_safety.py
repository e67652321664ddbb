"""One word for each broker: what its restart would cost now, by the guard that every stop and restart asks."""

from collections.abc import Collection, Iterable

from django.db.models import F, Q

from console.processes.consequences import brokers_away, hosted_partitions, world_now
from console.processes.guard import Absence, absence_of
from console.state.clusters.models import Broker

#: Word, tone and explanation of a broker that is not there.
_NOTHING = ("", "plain", "")


def with_restart_safety(brokers: Iterable[Broker]) -> list[Broker]:
    """Return the brokers, each with `restart_word`, `restart_tone` and `restart_meaning`; empty for one that is away.

    Words count partitions and name none, so they are the same for every person.
    """
    listed, away = list(brokers), brokers_away()
    world = world_now(partitions=list(hosted_partitions(_may_be_refused(away))))
    for broker in listed:
        word = _NOTHING if broker.broker_id in away else restart_word(absence_of(broker.broker_id, world))
        broker.restart_word, broker.restart_tone, broker.restart_meaning = word
    return listed


def restart_word(absence: Absence) -> tuple[str, str, str]:
    """Return word, tone and explanation of the worst that becomes of a partition while the broker restarts."""
    if absence.is_doubtful:
        return "unknown", "plain", "The collector has not read the cluster of late, so the restart cannot be judged."
    if count := len(absence.offline):
        return f"{count} offline", "critical", "Partitions without any replica in sync while the broker restarts"
    if count := len(absence.below):
        verb = "refuses" if count == 1 else "refuse"
        meaning = "Partitions below min.insync.replicas while the broker restarts: acks=all is refused"
        return f"{count} {verb} acks=all", "warning", meaning
    if absence.unknown:
        return "unknown", "plain", "min.insync.replicas of some partitions is not known yet."
    return "safe", "ok", "Every partition keeps a leader and min.insync.replicas while the broker restarts."


def _may_be_refused(away: Collection[int]) -> Q:
    """Choose the partitions that lose something with one broker: all others have a replica in sync to spare."""
    tight = Q(replica_count=1) | Q(topic__min_insync_replicas__gte=F("replica_count"))
    chosen = tight | Q(topic__min_insync_replicas=None) | Q(isr_count__lt=F("replica_count"))
    if away:
        chosen |= Q(replicas_text__regex=rf"(^|[^0-9])({'|'.join(map(str, sorted(away)))})([^0-9]|$)")
    return chosen
